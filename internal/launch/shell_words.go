package launch

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// literal is a word as one text; what cannot be known stays as it is written.
func (s *scriptReader) literal(w *syntax.Word) string {
	if text, ok := hereText(w); ok && len(text) <= maxWord {
		return text
	}
	out, err := expanded(func() (string, error) { return expand.Literal(s.vars.config(), w) })
	if err != nil || len(out) > maxWord {
		return source(w)
	}
	return out
}

// hereText is the text of $(cat <<'END' ... END), which holds no expansion.
func hereText(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	c, ok := w.Parts[0].(*syntax.CmdSubst)
	if !ok || len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) != 1 {
		return "", false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	r := c.Stmts[0].Redirs[0]
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || r.Hdoc == nil || r.Word.Lit() != "" {
		return "", false
	}
	return strings.TrimRight(r.Hdoc.Lit(), "\n"), true
}

// fields is the words that one word of a script becomes.
func (s *scriptReader) fields(w *syntax.Word) []string {
	if strings.Contains(source(w), "..") {
		return []string{s.literal(w)} // a sequence of braces could be long
	}
	out, err := expanded(func() ([]string, error) { return expand.Fields(s.vars.config(), w) })
	if err != nil {
		return []string{source(w)}
	}
	for i := range out {
		out[i] = out[i][:min(len(out[i]), maxWord)]
	}
	return out
}

// source is a word as the script writes it, without quotes around the whole.
func source(w *syntax.Word) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, w); err != nil {
		return ""
	}
	text := b.String()
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		text = text[1 : len(text)-1]
	}
	return text
}
