package calib

import (
	"os"
	"testing"
)

const operators = "../../../shared/measured/operators"

func TestRefit(t *testing.T) {
	if _, err := os.Stat(operators); err != nil {
		t.Skip("no measured kernel tables: ", err)
	}
	r, err := Fit(operators)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Tables {
		t.Logf("%-5s %-42s %-22s n=%-5d median %.3f mean %.3f", e.GPU, e.Table, e.What, e.Rows, e.Median, e.Mean)
	}
	if err := r.Write(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if d := os.Getenv("WRITE"); d != "" {
		if err := r.Write(d); err != nil {
			t.Fatal(err)
		}
	}
}
