package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// The first examples of validate-your-runs.md are what a reader gets: each indented line
// of an answer is a line of the command's own.
func TestValidateExamplesAnswerAsWritten(t *testing.T) {
	text, err := os.ReadFile("../../docs/validate-your-runs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"serving", "training"} {
		name := "testdata/measured/" + map[string]string{"serving": "inference", "training": "training"}[kind] + "_runs.csv"
		_, after, ok := strings.Cut(string(text), "ridgeline validate "+kind+" --runs "+name+"\n")
		_, answer, ok2 := strings.Cut(after, "answers\n\n")
		if !ok || !ok2 {
			t.Fatalf("no example of %s", name)
		}
		answer, _, _ = strings.Cut(answer, "\n\n")
		var out, errs bytes.Buffer
		if code := Run([]string{"validate", kind, "--runs", "../../" + name}, nil, &out, &errs); code != 0 {
			t.Fatal(code, errs.String())
		}
		for _, line := range strings.Split(answer, "\n") {
			if !slices.Contains(strings.Split(out.String(), "\n"), strings.TrimSpace(line)) {
				t.Errorf("%s: %q is documented, the answer is\n%s", kind, line, out.String())
			}
		}
	}
}
