package ask

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConcurrencies(t *testing.T) {
	for text, want := range map[string][]int{"1": {1}, "1,8,32": {1, 8, 32}, "1..128": {1, 2, 4, 8, 16, 32, 64, 128}, "3..20": {3, 6, 12, 20},
		"1..4, 100": {1, 2, 4, 100}, "8,4": {4, 8}, "5..5": {5}, "1Ki": {1024}} {
		got, err := Concurrencies(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	for text, want := range map[string]string{"": "not a number", "0": "give 1 to", "1,1": "twice", "1..4,2": "twice", "8..2": "backwards", "1..": "not a number", "x": "number",
		"2000000": "give 1 to"} {
		if _, err := Concurrencies(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzConcurrencies(f *testing.F) {
	for _, s := range []string{"1", "1..128", "1,2,3", "..", "1..1048576", ",", "4Ki..8Ki"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Concurrencies(text)
		if err != nil {
			return
		}
		if len(list) == 0 || len(list) > maxList || list[0] < 1 || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%q reads as %v", text, list)
		}
	})
}

func TestListsNameWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fail(Format("fp7")), "use one of"}, {fail(Format("tf32")), "no storage format"}, {fail(parseOverlap("all")), "none or two-batch"},
		{fail(parseSkew("high")), "for example"}, {fail(parseNames("a,,b")), "empty entry"}, {fail(List(parseSkew)(strings.Repeat("1,", 70) + "1")), "at most"},
		{fail(findEngine("vlm")), "vllm"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}

func fail[T any](_ T, err error) error { return err }
