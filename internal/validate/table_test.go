package validate

import (
	"slices"
	"strings"
	"testing"
)

// What is no row costs its own line alone, and says which.
func TestTableKeepsTheOtherRows(t *testing.T) {
	long := `{"id": "x", "v": "` + strings.Repeat("y", maxLine) + `"}`
	for name, c := range map[string]struct {
		text, ids string // ids of what is read, joined
		says      []string
	}{
		"a stray quote at a cell's start": {"id,v\na,1\n\"b,2\nc,3\nd,4\n", "acd", []string{"line 3: a quote"}},
		"a stray quote inside":            {"id,v\na,1\nb,\"2\"x\nc,3\n", "ac", []string{"line 3: a quote"}},
		"a stray quote before a good one": {"id,v\n\"a,1\nb,\"2\"\nc,3\n", "bc", []string{"line 2: a quote"}},
		"two stray quotes":                {"id,v\na,1\n\"b,2\nc,3\n\"d,4\ne,5\n", "ace", []string{"line 3: a quote", "line 5: a quote"}},
		"a cell of two lines":             {"id,v\na,\"1\n2\"\nb,3\n", "ab", nil},
		"blank lines":                     {"\n\nid,v\r\n\r\na,1\r\n", "a", nil},
		"a cell too many":                 {"id,v\na,1,2\nb,2\n", "b", []string{"3 cells under 2 columns"}},
		"a key twice":                     {"{\"id\": \"a\", \"v\": 1, \"v\": 2}\n{\"id\": \"b\", \"v\": 1}\n", "b", []string{`line 1: key "v" stands twice`}},
		"a line too long":                 {"\n{\"id\": \"a\", \"v\": 1}\n" + long + "\n{\"id\": \"b\", \"v\": 1}\n", "ab", []string{"line 3: 1 MiB long"}},
		"two objects":                     {"{\"id\": \"a\", \"v\": 1}\n{\"id\": \"b\", \"v\": 1} {}\n", "a", []string{"line 2: more than one value"}},
	} {
		tab, err := openTable(strings.NewReader(c.text), "t", []string{"id", "v"}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var ids string
		var bad []Skipped
		if err := tab.each(func(w *row) string { ids += w.cell("id"); return w.cell("id") }, &bad); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same := slices.EqualFunc(bad, c.says, func(b Skipped, want string) bool { return strings.Contains(b.Reason, want) })
		if ids != c.ids || !same {
			t.Errorf("%s: read %q, want %q; left out %v, want %q", name, ids, c.ids, bad, c.says)
		}
	}
	for text, want := range map[string]string{
		"[{\"id\": 1}]":      "a JSON array: give one JSON object per line",
		"id,v\ra,1\r":        "CR alone",
		"\"id,v\na,1\nb,2\n": "line 1: a quote",
		"\xff\xfei\x00":      "UTF-16",
		"":                   "the table is empty",
	} {
		if _, err := openTable(strings.NewReader(text), "t", []string{"id", "v"}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// A column in another unit is asked after; figures that are only far off are not.
func TestUnitNotes(t *testing.T) {
	for bias, want := range map[float64]string{1019: "tpot_ms are 1020 times off: seconds", 1.0/1100 - 1: "1100 times off: microseconds", 30: "", -0.97: "", 9999: ""} {
		got := strings.Join(unitNotes(map[string]Errors{MetricTPOT: {N: 3, Bias: bias}}), "")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("bias %g: %q, want %q", bias, got, want)
		}
	}
}

// The rows farthest off are kept in order, whichever way they lie.
func TestKeepFarthest(t *testing.T) {
	var list []Scored
	for _, predicted := range []float64{1.1, 5, 0.1, 1, 1.2, 0.9, 1.3, 0.7, 2, 3, 1.05, 0.5} {
		list = keepFarthest(list, Scored{Measured: 1, Predicted: predicted})
	}
	if len(list) != farthestKept || list[0].Predicted != 0.1 || list[1].Predicted != 5 || list[farthestKept-1].Predicted != 1.1 {
		t.Errorf("%v", list)
	}
}
