package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/store"
)

// keepFlags say whether and where a command's answer is kept.
type keepFlags struct {
	db, name string
	off      bool
}

// dbFlag names the store.
func dbFlag(cmd *cobra.Command, into *string) {
	ask.Text(cmd.Flags(), into, "db", "`FILE` of kept runs (default $"+store.Variable+", or ridgeline/runs.db in the user's data directory)")
}

// register adds --keep NAME: the answer is kept where it is given. What would keep it
// from being kept is told before anything is computed.
func (k *keepFlags) register(cmd *cobra.Command) {
	dbFlag(cmd, &k.db)
	ask.Text(cmd.Flags(), &k.name, "keep", "keep the answer as `NAME`, for `ridgeline runs`")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return k.check(cmd) }
}

// check refuses a name that could not be asked for, and a store that does not open.
func (k *keepFlags) check(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("keep") {
		return nil
	}
	if err := notEmpty(cmd, "keep", "db"); err != nil {
		return err
	}
	if err := runName("keep", k.name); err != nil {
		return err
	}
	d, err := openStore(cmd.Context(), k.db, true)
	if err != nil {
		return err
	}
	return d.Close()
}

// ready refuses a store that is there and takes no run, before anything is measured: one that
// was named; of the usual one it warns, and the report is printed all the same.
func (k *keepFlags) ready(ctx context.Context, env *Env) error {
	if k.off {
		return nil
	}
	path := k.db
	if path == "" {
		path, _ = store.DefaultPath() // what is wrong with it, opening says
	}
	if _, err := os.Stat(path); path != "" && errors.Is(err, fs.ErrNotExist) {
		return nil // it is made once there is a run
	}
	d, err := openStore(ctx, k.db, true)
	if err == nil {
		err = d.Close()
	}
	if err != nil && k.db == "" {
		fmt.Fprintf(env.Stderr, "warning: the run will not be kept: %v\n", err)
		return nil
	}
	return err
}

// openStore opens the store; with create it is made where it is missing.
func openStore(ctx context.Context, path string, create bool) (*store.DB, error) {
	given := path != ""
	if !given {
		var err error
		if path, err = store.DefaultPath(); err != nil {
			return nil, badInput(err)
		}
	}
	if folder := filepath.Dir(path); create && given {
		if _, err := os.Stat(folder); err != nil {
			return nil, usagef("--db: there is no folder %s: make it first", folder)
		}
	}
	d, err := store.Open(ctx, path, create)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("no run is kept yet in %s: `ridgeline bench` keeps its runs, --keep those of other commands", path)
	case err != nil:
		return nil, badInput(fmt.Errorf("--db: %w", err))
	}
	return d, nil
}

// answer keeps a command's document where --keep was given.
func (k *keepFlags) answer(cmd *cobra.Command, env *Env, doc any) error {
	if !cmd.Flags().Changed("keep") {
		return nil
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	r, err := api.RunOf(raw)
	if err != nil {
		return err
	}
	r.Name, r.At = k.name, time.Now()
	if err = k.add(cmd.Context(), env, r); err != nil {
		return fmt.Errorf("not kept: %w", err)
	}
	return nil
}

// runName refuses a name that could never be asked for.
func runName(flag, name string) error {
	if err := store.CheckName(name); err != nil {
		return usagef("--%s: %w", flag, err)
	}
	return nil
}

// add keeps a run, also of a command that was interrupted.
func (k *keepFlags) add(ctx context.Context, env *Env, r *store.Run) error {
	ctx = context.WithoutCancel(ctx)
	d, err := openStore(ctx, k.db, true)
	if err != nil {
		return err
	}
	id, err := d.Add(ctx, r)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "kept as run %d\n", id)
	return nil
}

// bench keeps an evaluation. A report that could not be kept is still printed: what
// went wrong is a warning.
func (k *keepFlags) bench(ctx context.Context, env *Env, d *bench.Report, s *api.BenchSamples) {
	if k.off {
		return
	}
	raw, err := json.Marshal(d)
	var r *store.Run
	if err == nil {
		r, err = api.RunOf(raw)
	}
	if err == nil {
		r.Name, r.At = k.name, time.Now()
		r.Samples = s.List()
		err = k.add(ctx, env, r)
	}
	if err != nil {
		fmt.Fprintf(env.Stderr, "warning: the run is not kept: %v\n", err)
	}
}
