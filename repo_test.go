// Package ridgeline holds no code: this test keeps the rules of the house.
package ridgeline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ridgeline/ridgeline/internal/"

type layer struct{ name, imports, why string }

// layers is the import policy: a package may import the packages it lists, all
// of which stand above it, and why. Left of cost everything counts exactly;
// rates and seconds of machines start there.
var layers = []layer{
	{"note", "", "a sentence with its kind and figures, whatever it is about"},
	{"unit", "", "quantities mean the same everywhere"},
	{"input", "", "opening a user's file safely is the same whatever it holds"},
	{"record", "input", "a measurement and how it was made, whoever measured it and whatever becomes of it"},
	{"tools", "input record", "what other tools print is read once, into records"},
	{"probe", "record", "measures this machine; knows no catalogue, no model and no prediction"},
	{"ggufwrite", "", "writes model files of random weights, by which engines are measured; known to no prediction"},
	{"des", "", "time and order of events, whatever they mean"},
	{"pace", "", "waiting exactly is the same whatever is waited for"},
	{"netlab", "des pace", "bytes held back, whatever they mean"},
	{"workload", "unit input", "what is asked and what became of it, whoever serves: simulator and client share it"},
	{"wire", "", "bytes and when they came, with few system calls, whatever they mean"},
	{"openai", "wire", "one request and its stamps; what they mean is decided from records"},
	{"prompt", "input", "texts of an asked length; who is asked is not its business"},
	{"bench", "note unit workload input openai prompt", "load on a service and metrics of its records; predicts nothing and formats nothing"},
	{"sched", "unit", "a schedule is passes and times, whatever the model"},
	{"model", "unit", "shapes and counts, whatever the machine or the plan"},
	{"hw", "note unit", "machines, whatever runs on them"},
	{"modelfile", "unit input model", "readers build models and know no catalogue"},
	{"catalog", "note unit input model hw", "facts with sources: data may not depend on what is computed from it"},
	{"plan", "note unit sched model", "what is legal is decided before anything is counted or priced"},
	{"argv", "", "flags of engines are facts, whatever plan they carry out"},
	{"launch", "unit sched model plan argv", "plans to commands and back; predicts nothing and starts nothing"},
	{"work", "unit sched model plan", "operations and tensors of a rank, exact: no rates, no seconds"},
	{"mem", "unit sched model plan work", "bytes, exact: memory must not depend on how fast a machine is"},
	{"cost", "note unit hw work", "the only place where work becomes seconds; it prices operations, not plans"},
	{"calib", "unit input hw catalog work cost", "fits machine constants; no model and no plan may leak into them"},
	{"balance", "", "loads onto GPUs: what a slot holds or costs is not its business"},
	{"infer", "note unit model hw plan work mem cost balance", "one step of a serving engine; no queue and no clock"},
	{"serve", "unit des workload infer", "who runs when, event by event; what a step costs is asked, not known"},
	{"emulate", "unit workload pace serve", "HTTP and the wall clock around the simulation; what an engine does is not its business"},
	{"deploy", "note unit model hw plan mem cost balance infer", "many deployments; no formula of its own"},
	{"train", "note unit sched model hw plan work mem cost", "one plan's step from its parts"},
	{"search", "note unit sched model hw plan work mem cost train", "many plans; no formula of its own"},
	{"advise", "note unit sched model hw plan work mem cost train search", "asks the evaluator more questions; no second model of the physics"},
	{"benchfile", "note input bench", "other tools' files into one report; judges none"},
	{"compare", "bench", "what two runs say of each other; measures and predicts nothing"},
	{"store", "input", "documents in, documents out, whatever they say"},
	{"storetest", "store", "spoils stores for the tests of their readers; in no program"},
	{"api", "note argv launch unit workload balance sched model hw catalog plan work mem cost train infer serve deploy search advise bench compare store", "one answer for every face; formats nothing"},
	{"ask", "note unit workload balance sched model hw plan train infer serve deploy advise api openai bench", "texts to requests: the same fields and words for every face; resolves no name itself"},
	{"validate", "unit input workload sched model hw modelfile catalog plan work mem cost calib infer serve train", "judges predictions from above; nothing that predicts may read a measurement"},
	{"tune", "unit record model hw catalog plan calib infer train api validate", "a machine of measurements; no formula of its own, and nothing that predicts may read it"},
	{"report", "note tune argv launch unit record workload sched model hw catalog plan work mem cost train infer serve emulate netlab deploy search advise api validate openai bench compare store", "decides how an answer looks, never what it is"},
	{"web", "note unit input balance sched model hw modelfile catalog plan workload bench compare store api ask report", "HTTP around questions and answers; computes nothing and opens no file that a request names"},
	{"cli", "note balance tune ggufwrite web ask argv launch unit record tools probe workload input sched model hw modelfile catalog plan work mem cost calib train infer serve emulate netlab deploy search advise api validate report openai bench benchfile compare store prompt", "arguments in, exit code out"},
}

// files maps each directory under internal and cmd to its parsed files.
func files(t *testing.T, fset *token.FileSet) map[string]map[string]*ast.File {
	t.Helper()
	dirs := map[string]map[string]*ast.File{}
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
				return err
			}
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			dir := path.Dir(filepath.ToSlash(name))
			if dirs[dir] == nil {
				dirs[dir] = map[string]*ast.File{}
			}
			dirs[dir][name] = f
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

func TestLayersPointUp(t *testing.T) {
	var above []string
	for _, l := range layers {
		for _, i := range strings.Fields(l.imports) {
			if !slices.Contains(above, i) {
				t.Errorf("layer table: %s may import %s, which does not stand above it", l.name, i)
			}
		}
		above = append(above, l.name)
	}
}

func TestImportsKeepToTheLayers(t *testing.T) {
	for dir, fs := range files(t, token.NewFileSet()) {
		pkg, internal := strings.CutPrefix(dir, "internal/")
		allowed, why := "cli", "main is a call"
		if internal {
			i := slices.IndexFunc(layers, func(l layer) bool { return l.name == pkg })
			if i < 0 {
				t.Errorf("%s is not in the layer table: add it with its reason", dir)
				continue
			}
			allowed, why = layers[i].imports, layers[i].why
		}
		for name, f := range fs {
			for _, spec := range f.Imports {
				target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
				if target == "C" {
					t.Errorf("%s uses cgo: the binary must build without it", name)
				}
				if ours && !isTest(name) && !slices.Contains(strings.Fields(allowed), target) {
					t.Errorf("%s imports %s, but: %s", name, target, why)
				}
			}
		}
	}
}

// A package comment that says less than this does not say job and place.
const minDoc = 80

func TestEveryPackageSaysItsJob(t *testing.T) {
	for dir, fs := range files(t, token.NewFileSet()) {
		doc := ""
		for name, f := range fs {
			if !isTest(name) && f.Doc != nil {
				if doc != "" {
					t.Errorf("%s has a second package comment in %s", dir, name)
				}
				doc = f.Doc.Text()
			}
		}
		want := "Package " + path.Base(dir) + " "
		if strings.HasPrefix(dir, "cmd/") {
			want = "Command " + path.Base(dir) + " "
		}
		if !strings.HasPrefix(doc, want) || len(doc) < minDoc {
			t.Errorf("%s: the package comment %q does not say its job", dir, doc)
		}
	}
}

// Budgets of size: at the hard limit the test fails, at the soft one it tells.
const (
	maxFileLines = 500
	maxFuncLines = 100
	wishFunc     = 70
)

func TestSizes(t *testing.T) {
	fset := token.NewFileSet()
	for _, fs := range files(t, fset) {
		for name, f := range fs {
			if n := fset.File(f.Pos()).LineCount(); n > maxFileLines && !isTest(name) {
				t.Errorf("%s has %d lines: split it by concept", name, n)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || isTest(name) {
					continue
				}
				switch n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; {
				case n > maxFuncLines:
					t.Errorf("%s: %s has %d lines: split it", name, fn.Name.Name, n)
				case n > wishFunc:
					t.Logf("%s: %s has %d lines", name, fn.Name.Name, n)
				}
			}
		}
	}
}

func TestMakefileStaysShort(t *testing.T) {
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n > 40 {
		t.Errorf("Makefile has %d lines: 40 at most", n)
	}
}
