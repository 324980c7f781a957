package balance

import (
	"strings"
	"testing"
)

func TestReadGiven(t *testing.T) {
	g, err := ReadGiven(strings.NewReader("1, 2\t3\n\n4\r\n"), "x")
	if err != nil || len(g.Each) != 4 || g.Shares()[3] != 0.4 {
		t.Fatalf("%v, %v", g, err)
	}
	for text, says := range map[string]string{"": "no load above 0", "0,0": "no load above 0", "1\n-2": "line 2", "1,a": `line 1: "a"`, "NaN": "line 1", "1e99": "line 1", strings.Repeat("1 ", 2000): "more than 1024"} {
		if _, err := ReadGiven(strings.NewReader(text), "x"); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: %v, want %q", text, err, says)
		}
	}
}

func FuzzReadGiven(f *testing.F) {
	for _, s := range []string{"1,2,3", "0.5\n0.5\n", "1e14 2", ",,,\n", "-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadGiven(strings.NewReader(text), "x")
		if err != nil {
			return
		}
		sum := 0.0
		for _, v := range g.Shares() {
			if !(v >= 0 && v <= 1+1e-9) {
				t.Errorf("%q: share %g", text, v)
			}
			sum += v
		}
		if !(sum > 0.999 && sum < 1.001) {
			t.Errorf("%q: shares make %g", text, sum)
		}
	})
}
