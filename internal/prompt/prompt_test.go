package prompt

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A byte-level vocabulary of all bytes and a few merges, in the form of Llama 3's.
const tiny = `{"model": {"type": "BPE", "vocab": {VOCAB "lo": 300, "low": 301, "Ġl": 302, "Ġlow": 303, "er": 304, "lower": 305},
 "merges": ["l o", "lo w", "Ġ l", ["Ġl", "ow"], ["Ġ", "low"], "e r"], "ignore_merges": false},
 "normalizer": {"type": "NFC"},
 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
  {"type": "Split", "pattern": {"Regex": "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated", "invert": false},
  {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
 "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}}`

func tinyTokenizer(t testing.TB) *Tokenizer {
	t.Helper()
	var v strings.Builder
	for i, l := range byteLetters {
		if l == `"` || l == `\` {
			l = `\` + l
		}
		v.WriteString(`"` + l + `": ` + itoa(i) + ", ")
	}
	k, err := ReadTokenizer(strings.NewReader(strings.Replace(tiny, "VOCAB", v.String(), 1)), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func itoa(i int) string {
	s := ""
	for ; i > 9; i /= 10 {
		s = string(rune('0'+i%10)) + s
	}
	return string(rune('0'+i)) + s
}

func TestMerges(t *testing.T) {
	k := tinyTokenizer(t)
	for text, want := range map[string][]int{
		"low":     {301},
		" low":    {303}, // by l o, lo w, then Ġ low
		"lower":   {301, 304},
		"e\u0301": {0xc3, 0xa9}, // composed first
		"1234":    {'1', '2', '3', '4'},
	} {
		got := k.Encode(text)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if k.Added() != 1 {
		t.Errorf("special tokens %d, want 1", k.Added())
	}
}

// The tokens of real vocabularies, as npm's @lenml/tokenizers 3.7.2 encodes them.
// RIDGELINE_TOKENIZERS names a folder of NAME/tokenizer.json files.
func TestRealTokenizers(t *testing.T) {
	dir := os.Getenv("RIDGELINE_TOKENIZERS")
	if dir == "" {
		t.Skip("RIDGELINE_TOKENIZERS is not set: no tokenizer.json here")
	}
	for name := range realTokens {
		k, err := OpenTokenizer(dir + "/" + name + "/tokenizer.json")
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range realTexts {
			if got := k.Encode(text); !slices.Equal(got, realTokens[name][i]) {
				t.Errorf("%s, %q: %v, want %v", name, text, got, realTokens[name][i])
			}
		}
		c, err := NewCounted("n", k, k.Added())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{5, 64, 8192} {
			text, err := c.Text(n, 7)
			if err != nil || k.Count(text)+k.Added() != n {
				t.Errorf("%s: %d tokens asked, %d made, %v", name, n, k.Count(text)+k.Added(), err)
			}
		}
	}
}

// Every prompt has the tokens asked for, and no two are alike.
func TestCountedPrompts(t *testing.T) {
	c, err := NewCounted("run", tinyTokenizer(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for number := range uint64(50) {
		for _, n := range []int{40, 100, 777} {
			text, err := c.Text(n, number)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.tokenizer.Count(text) + 3; got != n {
				t.Errorf("%d tokens asked, %d made", n, got)
			}
			if seen[text] {
				t.Errorf("prompt %d of %d tokens came twice", number, n)
			}
			seen[text] = true
		}
	}
	if _, err := c.Text(3, 1); err == nil {
		t.Error("a prompt shorter than the template was made")
	}
}

func TestScale(t *testing.T) {
	s, ok := Fit(32, 42, 256, 266) // a template of 10 tokens, one per word
	if !ok || s != (Scale{1, 10}) || s.count(1024) != 1014 || s.Least() != 11 {
		t.Errorf("%+v %v", s, ok)
	}
	for _, bad := range [][4]int{{32, 40, 32, 40}, {32, 40, 256, 40}, {32, 10, 256, 256 * 100}} {
		if s, ok := Fit(bad[0], bad[1], bad[2], bad[3]); ok {
			t.Errorf("%v: %+v was taken", bad, s)
		}
	}
}

func TestNoncesSetRunsApart(t *testing.T) {
	a, again, b := &Words{"a", OneToken}, &Words{"a", OneToken}, &Words{"b", OneToken}
	if a.Text(50, 1) == b.Text(50, 1) || a.Text(50, 1) == a.Text(50, 2) || a.Text(50, 1) != again.Text(50, 1) {
		t.Error("prompts do not follow from nonce and number")
	}
	if n := len(strings.Fields(a.Text(50, 1))); n != 50 {
		t.Errorf("%d words, want 50", n)
	}
	x, y := a.Blocks(1500, 512, []uint64{1, 2, 3}), a.Blocks(1400, 512, []uint64{1, 2, 4})
	xs, ys := strings.Fields(x), strings.Fields(y)
	if len(xs) != 1500 || len(ys) != 1400 || !slices.Equal(xs[:1024], ys[:1024]) || slices.Equal(xs[1024:1400], ys[1024:]) {
		t.Error("blocks of equal ids do not share their words")
	}
}

func FuzzReadTokenizer(f *testing.F) {
	f.Add(tiny, "low lower")
	f.Fuzz(func(t *testing.T, text, piece string) {
		if k, err := ReadTokenizer(strings.NewReader(text), "x"); err == nil && len(piece) < 1000 {
			k.Encode(piece)
		}
	})
}
