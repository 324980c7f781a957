// Package calib fits the kernel constants of package hw to measured kernel
// tables, and says how well they fit. Prediction is package cost's alone: a fit
// searches the constants with which cost.Machine comes closest to the rows, so
// there is one formula.
//
// Opinion: errors are taken as |ln(predicted/measured)| so that too fast and too
// slow count alike; a constant is shared by all GPUs of a generation and all
// engines in the tables; an engine's own kernels, and what it adds around shared ones, are fitted apart;
// rows are thinned, never weeded out by their error, and scored on rows that the
// fit did not see. Nothing is fitted to a training or serving run.
//
// The constants lie in package catalog. To fit them again from a folder of
// tables (<gpu>/<kind>/*.parquet):
//
//	go test ./internal/calib -run TestRefit -write ../catalog/data/kernels
//
// With -experts only the constants of routed experts are fitted.
package calib
