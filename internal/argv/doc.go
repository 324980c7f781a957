// Package argv knows the flags of serving and training engines: which exist in a
// pinned version, what values they take, and how an engine reads a command line.
//
// A list is data with its source (data/*.json, one version each, strictly
// decoded). Parse reads words by the engine's own grammar and reports what the
// list does not know; Check judges words that Ridgeline writes, where an unknown
// flag is an error. Degrees of parallelism and plans are package launch's.
package argv
