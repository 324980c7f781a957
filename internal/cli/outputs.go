package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// checkOutputs refuses, before any work and before anything is opened for writing, files
// that the named flags ask for: an empty name, one that cannot be written, two flags with one
// file, and a file that is one of the inputs or lies in one of their folders, also by a link.
// A flag that was not given, or an input "", is none; - is stdout.
func checkOutputs(cmd *cobra.Command, flags []string, inputs ...string) error {
	if err := notEmpty(cmd, flags...); err != nil {
		return err
	}
	type output struct {
		flag string
		info fs.FileInfo // nil = not there yet
		path string
	}
	var before []output
	for _, name := range flags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed || f.Value.String() == "-" {
			continue
		}
		o := output{flag: name, path: filepath.Clean(f.Value.String())}
		if o.info, _ = os.Stat(o.path); o.info != nil {
			if o.info.IsDir() {
				return usagef("--%s %s: a folder: name a file", name, o.path)
			}
			if err := notOver(name, o.path, inputs...); err != nil {
				return err
			}
		}
		for _, b := range before {
			if b.path == o.path || b.info != nil && o.info != nil && os.SameFile(b.info, o.info) {
				return usagef("--%s and --%s are one file, %s: name two", b.flag, name, o.path)
			}
		}
		before = append(before, o)
		if err := writable(name, o.path); err != nil {
			return err
		}
	}
	return nil
}

// checkAnswers is checkOutputs for the commands that ask about a model on a machine: their
// inputs are the files that its flags name. A catalogue's name is no file.
func checkAnswers(cmd *cobra.Command, outputs ...string) error {
	var inputs []string
	for _, name := range []string{"model", "cluster", "trace", "expert-loads", "configs", "db"} {
		if f := cmd.Flags().Lookup(name); f != nil && !slices.Contains(outputs, name) {
			inputs = append(inputs, strings.Split(f.Value.String(), ",")...)
		}
	}
	return checkOutputs(cmd, outputs, inputs...)
}

// notOver refuses an output of a flag that would replace one of the inputs or a file below one.
func notOver(flag, name string, inputs ...string) error {
	out, err := os.Stat(name)
	if err != nil {
		return nil // not there yet
	}
	for _, in := range inputs {
		if at := sameBelow(in, out); at != "" {
			return usagef("--%s %s is the input %s, which it would overwrite: name another file", flag, name, at)
		}
	}
	return nil
}

// sameBelow is the path of an input that a file is, the input itself or a file below it; "" of none.
func sameBelow(input string, file fs.FileInfo) (at string) {
	if input == "" || !file.Mode().IsRegular() {
		return ""
	}
	info, err := os.Stat(input)
	switch {
	case err != nil: // whoever reads it says so
		return ""
	case !info.IsDir():
		if os.SameFile(info, file) {
			return input
		}
		return ""
	}
	if real, err := filepath.EvalSymlinks(input); err == nil {
		input = real // WalkDir does not follow its root
	}
	_ = filepath.WalkDir(input, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // what cannot be read is no input either
		}
		if x, err := os.Stat(p); err == nil && os.SameFile(x, file) {
			at = p
			return fs.SkipAll
		}
		return nil
	})
	return at
}
