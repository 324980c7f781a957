package launch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command: text, and a value between Text and After that is
// known only where the command runs.
type Word struct {
	Text  string
	Ref   Ref
	Times int    // Ref is multiplied by it; 0 and 1 leave it
	Var   string // name of the variable, where Ref is Named
	After string
}

// Ref is a value that a target supplies.
type Ref uint8

// What a target supplies: the number of this node in its instance, the address of
// node 0, the folder of the configuration files, this node's own address, and the
// addresses of the other nodes.
const (
	NoRef Ref = iota
	NodeRank
	Leader
	ConfigDir
	OwnAddress
	Workers
	Named // a variable of its own
)

// lit makes words of texts.
func lit(texts ...string) []Word {
	out := make([]Word, len(texts))
	for i, t := range texts {
		out[i] = Word{Text: t}
	}
	return out
}

// texts replaces every reference by a stand-in, so that flag lists can judge the
// words.
func texts(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text + w.After
		switch w.Ref {
		case NodeRank:
			out[i] = w.Text + strconv.Itoa(max(w.Times, 1)) + w.After
		case Leader, OwnAddress, Workers, Named:
			out[i] = w.Text + "host" + w.After
		case ConfigDir:
			out[i] = w.Text + "." + w.After
		}
	}
	return out
}

// plainLetters mean themselves in an argument.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"

// Quote writes text as one word of bash, whatever it holds. NUL cannot be an
// argument of a process, and is refused where requests are checked.
func Quote(text string) string {
	if text != "" && strings.Trim(text, plainLetters) == "" {
		return text
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c >= 0x80 }) {
		return quoteBytes(text)
	}
	q, err := syntax.Quote(text, syntax.LangBash)
	if err != nil {
		return "'" + strings.ReplaceAll(strings.ReplaceAll(text, "\x00", ""), "'", `'\''`) + "'"
	}
	return q
}

// quoteBytes quotes text beyond ASCII byte by byte: \u escapes would depend on the locale
// in which the script runs.
func quoteBytes(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(text) {
		switch c := text[i]; {
		case c == 0: // cannot be an argument
		case c == '\\' || c == '\'':
			b.WriteString("\\" + string(c))
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\x%02x", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// variable is the name of the variable that a word refers to.
func (w Word) variable(names map[Ref]string) string {
	if w.Ref == Named {
		return w.Var
	}
	return names[w.Ref]
}

// shell writes a word for bash; names gives the variables of references.
func (w Word) shell(names map[Ref]string) string {
	var b strings.Builder
	if w.Text != "" || w.Ref == NoRef {
		b.WriteString(Quote(w.Text))
	}
	switch name := w.variable(names); {
	case w.Ref != NoRef && w.Times > 1:
		fmt.Fprintf(&b, `"$((%s * %d))"`, name, w.Times)
	case w.Ref != NoRef:
		fmt.Fprintf(&b, `"${%s}"`, name)
	}
	if w.After != "" {
		b.WriteString(Quote(w.After))
	}
	return b.String()
}

// shellLines writes a command over several lines, a flag with its values on each.
func shellLines(words []Word, names map[Ref]string, indent string) string {
	var b strings.Builder
	for i, w := range words {
		text := w.shell(names)
		switch {
		case i == 0:
		case w.Text == "trtllm-llmapi-launch": // a program under another
			b.WriteString(" \\\n" + indent)
		case w.Text == "-m":
			b.WriteByte(' ')
		case strings.HasPrefix(w.Text, "-") && len(w.Text) > 1 && !isNumber(w.Text), isSetting(w.Text):
			b.WriteString(" \\\n" + indent)
		default:
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}

// isSetting tells whether a word is a dotted key with its value, as Megatron-Bridge
// takes them.
func isSetting(s string) bool {
	key, _, ok := strings.Cut(s, "=")
	return ok && key != "" && strings.Trim(key, plainLetters) == ""
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// kube writes a word for a container's args, where $(NAME) is replaced before the
// start and $$ is a dollar.
func (w Word) kube(names map[Ref]string) string {
	escape := func(s string) string { return strings.ReplaceAll(s, "$", "$$") }
	out := escape(w.Text)
	if w.Ref != NoRef {
		out += "$(" + w.variable(names) + ")"
	}
	return out + escape(w.After)
}

// counts tells whether a word needs arithmetic, which only a shell does.
func counts(words []Word) bool {
	for _, w := range words {
		if w.Times > 1 {
			return true
		}
	}
	return false
}
