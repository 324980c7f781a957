// Package catalog holds the embedded facts about models, machines and kernels,
// one file per entry under data/, and the readers of a user's own files of the
// same form. Files say which source states each figure and how far it can be
// trusted; unknown keys are rejected and an unknown figure is an absent key,
// never zero.
//
// The package opines on nothing: it converts the units spelled in the keys to
// SI once and hands out package model's and package hw's types. Every call
// returns a fresh copy that the caller may change.
package catalog
