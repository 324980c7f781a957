// Package storetest spoils stores of kept runs for the tests of those who read them:
// what a store keeps is whole, so no call of its own makes a damaged run. It stands
// beside package store, in no program.
package storetest

import (
	"database/sql"
	"testing"

	_ "github.com/ridgeline/ridgeline/internal/store" // registers the driver
)

// Damage changes the bytes of every run in the store at path.
func Damage(t testing.TB, path string) {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(t.Context(), "UPDATE runs SET document = x'ffffff'"); err != nil {
		t.Fatal(err)
	}
}
