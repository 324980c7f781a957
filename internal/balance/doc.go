// Package balance spreads routed experts over GPUs. Tokens choose experts
// unevenly, and a layer waits for the GPU that got most of them: the package
// replicates heavy experts into redundant slots, packs replicas onto GPUs, and
// says how far from even the result is, before and after.
//
// It counts loads and slots and knows no model, no bytes and no seconds: package
// infer asks it by how much the fullest GPU exceeds the mean and prices that.
// Everything is deterministic: the same loads give the same placement.
package balance
