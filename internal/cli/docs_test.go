package cli

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/report"
)

// commandLines are the lines of a text that call ridgeline, without comments.
func commandLines(text string) [][]string {
	var lines [][]string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, " | ")
		line, _, _ = strings.Cut(line, " > ")
		words := strings.Fields(line)
		if len(words) > 1 && (words[0] == "ridgeline" || words[0] == "./bin/ridgeline") {
			lines = append(lines, words[1:])
		}
	}
	return lines
}

// parses tells whether a command line is accepted up to the point of running it.
func parses(args []string) error {
	root := newRoot(&Env{Stdout: io.Discard, Stderr: io.Discard})
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if cmd == root {
		return unknownCommand(root, rest)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		lines := commandLines(cmd.Example)
		if len(lines) == 0 && !strings.Contains(cmd.Example, "ridgeline") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for _, args := range lines {
			if err := parses(args); err != nil {
				t.Errorf("%s, example %q: %v", cmd.CommandPath(), strings.Join(args, " "), err)
			}
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(&Env{Stdout: io.Discard, Stderr: io.Discard}))
}

func TestDocumentedCommandLinesParse(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../README.vi.md", "../../CHANGELOG.md", "../../Makefile") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range commandLines(string(text)) {
			if err := parses(args); err != nil {
				t.Errorf("%s, %q: %v", page, strings.Join(args, " "), err)
			}
		}
	}
}

// What the parsers list in their complaints stands in formats.md.
func TestFormatsListsWhatParsersTake(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, badKey := plan.Parse("nosuchkey=1")
	_, badPolicy := plan.ParsePrecision("nosuchpolicy")
	_, badServing := plan.ParseServing("nosuchkey=1")
	for _, complaint := range []error{badKey, badPolicy, badServing} {
		if complaint == nil {
			t.Fatal("an unknown word was accepted")
		}
		_, list, _ := strings.Cut(strings.Replace(complaint.Error(), "use one of", "use", 1), ": use ")
		words := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
		if len(words) < 5 {
			t.Fatalf("no list in %q", complaint)
		}
		for _, w := range words {
			if !strings.Contains(string(text), "`"+w+"`") {
				t.Errorf("docs/formats.md does not explain %q", w)
			}
		}
	}
}

// Every JSON field of every answer stands in formats.md.
func TestFormatsListsEveryField(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`[a-z0-9_]+`).FindAllString(string(text), -1) {
		words[w] = true
	}
	var check func(kind reflect.Type)
	check = func(kind reflect.Type) {
		switch kind.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			check(kind.Elem())
		case reflect.Struct:
			for i := range kind.NumField() {
				f := kind.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if !f.Anonymous && !words[name] {
					t.Errorf("docs/formats.md lacks field %q of %s", name, kind)
				}
				check(f.Type)
			}
		}
	}
	for _, doc := range []any{report.TrainDoc{}, report.OperationsDoc{}, report.InferDoc{}, report.ServingOperationsDoc{}, report.ScheduleDoc{}, report.ModelDoc{}, report.DeviceDoc{}, report.ClusterDoc{}, report.SimulateDoc{}, report.EmulateDoc{}, report.NetlabDoc{}, report.RunsDoc{}, report.ComparisonDoc{}, report.GapDoc{}} {
		check(reflect.TypeOf(doc))
	}
}

// Links of the documents point at files that exist.
func TestDocumentsLinkToFiles(t *testing.T) {
	for _, dir := range []string{"../..", "../../docs"} {
		pages, err := filepath.Glob(dir + "/*.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split(string(text), "](")[1:] {
				target, _, _ := strings.Cut(part, ")")
				if strings.Contains(target, "://") {
					continue
				}
				if _, err := os.Stat(filepath.Join(dir, target)); err != nil {
					t.Errorf("%s links to %s, which is not there", page, target)
				}
			}
		}
	}
}

// The README says the same in both languages: its commands, pictures and links are
// equal, in the same order.
func TestReadmesAgree(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]*)\)`)
	kept := func(name string) (lines []string) {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			code, block := strings.CutPrefix(line, "    ")
			code, _, _ = strings.Cut(code, "  #")
			switch {
			case block && !strings.HasPrefix(code, "#"):
				lines = append(lines, strings.TrimRight(code, " "))
			case strings.HasPrefix(line, "#"):
				lines = append(lines, strings.Repeat("#", strings.Count(strings.Fields(line)[0], "#")))
			default:
				for _, m := range link.FindAllStringSubmatch(line, -1) {
					lines = append(lines, strings.Replace(m[1], ".vi.md", ".md", 1))
				}
			}
		}
		return lines
	}
	en, vi := kept("README.md"), kept("README.vi.md")
	for i := range max(len(en), len(vi)) {
		if i >= len(en) || i >= len(vi) || en[i] != vi[i] {
			t.Fatalf("entry %d: README.md has %q, README.vi.md %q", i, en[min(i, len(en)-1)], vi[min(i, len(vi)-1)])
		}
	}
	if len(en) < 40 {
		t.Errorf("only %d lines were held together", len(en))
	}
}
