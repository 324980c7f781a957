package validate

import (
	"os"
	"testing"
)

const measured = "../../../shared/measured/training_runs.csv"

// published reads the published runs; the test is skipped where they are absent.
func published(t *testing.T) []Run {
	t.Helper()
	f, err := os.Open(measured)
	if err != nil {
		t.Skipf("no published runs: %v", err)
	}
	defer f.Close()
	runs, _, err := ReadRuns(f, measured)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}
