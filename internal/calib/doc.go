// Package calib fits the kernel constants of package hw to measured kernel
// tables, and says how well they fit. Prediction is package cost's alone: a fit
// searches the constants with which cost.Machine comes closest to the rows, so
// there is one formula.
//
// Opinion: errors are taken as |ln(predicted/measured)| so that too fast and too
// slow count alike; a constant is shared by all GPUs of a generation and all
// engines in the tables; rows are thinned, never weeded out by their error.
package calib
