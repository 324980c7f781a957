package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ridgeline": main})
}

// TestScripts runs the command line as a user does. Beside testscript's own
// commands scripts have:
//
//	code N ARGV...   run, and require exit code N
//	badinput ARGV... run, and require exit code 2, no stdout, and one line on stderr
//	columns N        require that no line of the last stdout is wider than N columns
//	hugejson FILE    write the start of a JSON object in a file of 200 MB
//	lyinggguf FILE   write a GGUF header that promises 2^40 tensors and holds none
func TestScripts(t *testing.T) {
	shared, err := filepath.Abs("../../../shared")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "../../testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SHARED", shared)
			env.Setenv("RIDGELINE_DB", filepath.Join(env.WorkDir, "runs.db"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "shared" {
				return false, errors.New("unknown condition " + name)
			}
			_, err := os.Stat(shared)
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":     codeCommand,
			"badinput": badInputCommand,
			"columns":  columnsCommand,
			"hugejson": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(`{"hidden_size": 8, "note": "`), 0o666))
				ts.Check(os.Truncate(ts.MkAbs(args[0]), 200e6))
			},
			"lyinggguf": func(ts *testscript.TestScript, _ bool, args []string) {
				header := []byte("GGUF\x03\x00\x00\x00")                 // version 3
				header = binary.LittleEndian.AppendUint64(header, 1<<40) // tensors
				header = binary.LittleEndian.AppendUint64(header, 0)     // keys
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), header, 0o666))
			},
		},
	})
}

// run executes argv and returns its exit code.
func run(ts *testscript.TestScript, argv []string) int {
	err := ts.Exec(argv[0], argv[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("%v", err)
	return -1
}

func codeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N ARGV...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := run(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func badInputCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: badinput ARGV...")
	}
	code := run(ts, args)
	out, errs := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "ridgeline: ") {
		ts.Fatalf("exit code %d, stdout %q, stderr %q: want 2, nothing, and one line", code, out, errs)
	}
}

func columnsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: columns N")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, line := range strings.Split(ts.ReadFile("stdout"), "\n") {
		if n := utf8.RuneCountInString(line); n > most {
			ts.Fatalf("a line has %d columns, at most %d: %s", n, most, line)
		}
	}
}
