package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token that came out blank, is cut or holds what no client sends is refused at
// the start: the API would be open, or closed to its own user.
func TestTokensThatAreRefused(t *testing.T) {
	t.Setenv(tokenVariable, " \t")
	if _, err := (&webFlags{}).token(); err == nil || !strings.Contains(err.Error(), tokenVariable+" holds blanks alone") {
		t.Errorf("blanks in the environment: %v", err)
	}
	for name, c := range map[string]struct{ text, want, refusal string }{
		"blank":                  {text: "  \n", refusal: "is empty"},
		"a line too long":        {text: strings.Repeat("x", maxSecret+1), refusal: "more than 4096 bytes"},
		"UTF-16":                 {text: "\xff\xfes\x00e\x00", refusal: "UTF-8"},
		"a control character":    {text: "se\x00cret", refusal: "no plain text"},
		"as long as may be":      {text: strings.Repeat("x", maxSecret) + "\nmore", want: strings.Repeat("x", maxSecret)},
		"a byte-order mark":      {text: "\ufeffsecret\r\n", want: "secret"},
		"more lines":             {text: "secret\n" + strings.Repeat("x", 2*maxSecret), want: "secret"},
		"a mark and nothing":     {text: "\ufeff\n", refusal: "is empty"},
		"letters beyond English": {text: "mật khẩu", want: "mật khẩu"},
	} {
		file := filepath.Join(t.TempDir(), "token.txt")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := (&webFlags{tokenFile: file}).token()
		if c.refusal == "" && (err != nil || got != c.want) || c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)) {
			t.Errorf("%s: %.20q, %v", name, got, err)
		}
	}
}
