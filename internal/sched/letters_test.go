package sched

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawings are the schedules drawn in the doc comments, f = b = w = 1 s.
var drawings = []struct {
	kind           Kind
	file, function string
	p, m, vpp      int
}{
	{GPipe, "order.go", "gpipe", 4, 6, 1},
	{OneFOneB, "order.go", "oneFOneB", 4, 6, 1},
	{Interleaved, "order.go", "interleaved", 3, 6, 2},
	{ZBH1, "order.go", "handcrafted", 4, 6, 1},
	{ZBH2, "order.go", "handcrafted", 4, 6, 1},
	{ZBV, "zbv.go", "zbv", 3, 6, 1},
	{ZB1P, "auto.go", "automatic", 3, 6, 1},
	{ZB2P, "auto.go", "automatic", 3, 6, 1},
	{DualPipe, "dualpipe.go", "dualpipe", 4, 8, 1},
	{DualPipeV, "dualpipe.go", "dualpipeV", 2, 5, 1},
}

const drawingWidth = 84

// TestDrawings compares every drawn example with what Letters prints.
func TestDrawings(t *testing.T) {
	for _, d := range drawings {
		s := Uniform(d.kind, d.p, d.m, d.vpp, 1, 1, 1, 0, 0)
		l, err := Lay(s)
		if err != nil {
			t.Fatal(err)
		}
		got := Letters(l, drawingWidth)
		doc := functionDoc(t, d.file, d.function)
		if !strings.Contains(doc, got) {
			if os.Getenv("SHOW_DRAWINGS") != "" {
				t.Logf("%s\n\t// %s", d.function, strings.ReplaceAll(got, "\n", "\n//\t"))
			}
			t.Errorf("%s: %s\n%s", d.kind, d.function, cmp.Diff(doc, got))
		}
	}
}

// functionDoc is a function's comment with its drawings flush left.
func functionDoc(t *testing.T, file, function string) string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	o := f.Scope.Lookup(function)
	if o == nil {
		t.Fatalf("no function %s in %s", function, file)
	}
	for _, c := range f.Comments {
		text := c.Text()
		if strings.HasPrefix(text, function+" ") {
			return strings.ReplaceAll(text, "\n\t", "\n")
		}
	}
	t.Fatalf("%s has no comment", function)
	return ""
}

// TestLettersWidth: no row is wider than asked, at any width.
func TestLettersWidth(t *testing.T) {
	for k := range NumKinds {
		vpp := 1
		if k == Interleaved {
			vpp = 2
		}
		l, err := Lay(Uniform(k, 16, 64, vpp, 1, 1, 0.5, 0.1, 0))
		if err != nil {
			t.Fatal(err)
		}
		for width := minColumns; width <= 200; width += 7 {
			lines := strings.Split(Letters(l, width), "\n")
			for i, line := range lines {
				if entry := strings.Contains(line, "  "); len(line) > width && (i <= 16 || entry) {
					t.Fatalf("%s at %d columns: %d wide: %s", k, width, len(line), line)
				}
			}
		}
	}
}
