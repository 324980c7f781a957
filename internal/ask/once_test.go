package ask

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// One value is given once; lists take more, and defaults stand for none.
func TestOnce(t *testing.T) {
	set := func() (*pflag.FlagSet, *string, *[]string) {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		text, list := fs.String("out", "a", "the `FILE`"), fs.StringArray("run", nil, "runs")
		fs.Int("n", 3, "number")
		Once(fs)
		return fs, text, list
	}
	fs, text, list := set()
	if err := fs.Parse([]string{"--out", "b", "--run", "1", "--run", "2", "--n", "4"}); err != nil || *text != "b" || len(*list) != 2 {
		t.Errorf("%v, out %q, runs %q", err, *text, *list)
	}
	for _, args := range [][]string{{"--out=b", "--out=b"}, {"--n=1", "--n=2"}} {
		fs, _, _ := set()
		if err := fs.Parse(args); err == nil || !strings.Contains(err.Error(), "given twice") {
			t.Errorf("%q: error %v", args, err)
		}
	}
}
