// Package probe measures the machine it runs on: memory bandwidth and matrix
// products of the CPU by number of threads, TCP between hosts, and, through
// libraries loaded at run time, GPUs: products, copies, peer-to-peer, collectives,
// clocks and power. It writes records (package record) and knows neither catalogue
// nor models: what a measurement means for predictions is calibration's business.
//
// Opinion: a probe times the CPU time of its own threads where the system tells it,
// so that others on the machine take away less of the truth; the share of wall time
// that was left to it is part of every result. Rates are medians of repeats with the
// best beside them. Interrupted probes keep what was measured.
package probe
