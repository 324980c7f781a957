package launch

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// TestDeepScripts: scripts that nest without end are refused, where their parser would end
// the program; scripts as people write them are read.
func TestDeepScripts(t *testing.T) {
	for _, part := range []string{"(", "$(", "if ", "{ ", "`", "time ", "coproc ", "while a; do ", "f()", "a&&", "${a:-", "case a in "} {
		_, err := ImportFile(argv.VLLM, "deep.sh", []byte("vllm serve m -tp 2\n"+strings.Repeat(part, 1<<18)), nil)
		if err == nil || !strings.Contains(err.Error(), "give the commands alone") {
			t.Errorf("%q without end: %v", part, err)
		}
	}
	deep := strings.Repeat("if a; then ", 300) + "vllm serve m -tp 2;" + strings.Repeat(" fi;", 300)
	for _, text := range []string{deep, strings.Repeat("# if (this for a time {\n", 200) + "vllm serve m -tp 2", "for i in 1 2; do ( { vllm serve m -tp 2; } ); done"} {
		if im, err := ImportFile(argv.VLLM, "fine.sh", []byte(text), nil); err != nil || im.Degrees.TP != 2 {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	// Words of a manifest or command line are resolved by the same parser.
	word := "vllm serve m -tp 2 " + strings.Repeat("${a:-", 1<<18)
	if im, err := ImportWords(argv.VLLM, Command{Words: strings.Fields(word), Env: map[string]string{"b": "c"}}, nil); err != nil || im.Degrees.TP != 2 {
		t.Errorf("a deep word: %v", err)
	}
}
