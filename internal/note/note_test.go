package note

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

type name string

func (n name) String() string { return "<" + string(n) + ">" }

func TestNotesKeepWhatTheyWereMadeOf(t *testing.T) {
	n := New(NarrowMemory, "device _ ranks", "%v has %s on %d ranks of %d", name("h100"), "1 GB", 8, 16).With("bytes", 1e9)
	want := Note{NarrowMemory, "<h100> has 1 GB on 8 ranks of 16", map[string]any{"device": "<h100>", "ranks": 8, "bytes": 1e9}}
	if !reflect.DeepEqual(n, want) {
		t.Errorf("%+v, want %+v", n, want)
	}
	first := List{n}
	both := first.And(New(LeftLate, "", "late"))
	if len(first) != 1 || len(both) != 2 || !both.Has("late") || first.Has("late") || both.Texts()[1] != "late" || List(nil).Texts() == nil {
		t.Errorf("%+v, %+v", first, both)
	}
	with := n.With("more", 1)
	if _, shared := n.Values["more"]; shared || with.Values["bytes"] != 1e9 {
		t.Error("a note changed with its copy")
	}
}

// Every code is listed once, in the form that readers rely on, and some package makes
// notes of it: a wording of a code that nobody makes would never be seen.
func TestEveryCodeIsMadeSomewhere(t *testing.T) {
	codes, texts := map[string]bool{}, map[string]bool{}
	listed := func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			text := v.Values[0].(*ast.BasicLit).Value
			if texts[text] || !regexp.MustCompile(`^"[a-z_]+"$`).MatchString(text) {
				t.Errorf("%s: %s is listed twice or no code", v.Names[0], text)
			}
			codes[v.Names[0].Name], texts[text] = false, true
		}
		return true
	}
	for _, name := range []string{"codes.go", "faults.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, listed)
	}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "note" {
					if _, listed := codes[s.Sel.Name]; listed {
						codes[s.Sel.Name] = true
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for c, made := range codes {
		if !made {
			t.Errorf("no package makes notes of %s", c)
		}
	}
	if len(codes) < 40 {
		t.Errorf("%d codes were read", len(codes))
	}
}
