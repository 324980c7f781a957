package calib

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The stored ranges are those of half of the tables' rows, and hold four in five of the others.
func TestRanges(t *testing.T) {
	needTables(t)
	if testing.Short() && *write == "" {
		t.Skip("three million rows")
	}
	paths, err := filepath.Glob(filepath.Join(operators, "*", "*", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := fitRanges(paths)
	if err != nil {
		t.Fatal(err)
	}
	if *write != "" {
		data, err := json.MarshalIndent(list, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("ranges.json", append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, r := range list {
		if s, ok := ranges()[r.key()]; !ok || math.Abs(s.Low-r.Low) > 0.02 || math.Abs(s.High-r.High) > 0.03 {
			t.Errorf("%+v is stored, the tables give %+v: run this test with -write .", s, r)
		}
	}
	in, n := map[string]int{}, map[string]int{}
	for _, p := range paths {
		_, kind, err := Score(p, func(s *Scored) {
			if !ranged(s.Row) && s.Reason == "" {
				n[p]++
				if s.Measured >= s.Low && s.Measured <= s.High {
					in[p]++
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if p != kind {
			n[kind], in[kind] = n[kind]+n[p], in[kind]+in[p]
		}
	}
	for kind, all := range n {
		if filepath.Ext(kind) != "" {
			continue
		}
		share := float64(in[kind]) / float64(all)
		t.Logf("%-20s %7d other rows, %.3f in the range", kind, all, share)
		if share < 0.75 || share > 0.85 {
			t.Errorf("%s: %.3f of the other rows lie in the range, want 0.75 to 0.85", kind, share)
		}
	}
}
