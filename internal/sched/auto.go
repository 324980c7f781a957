package sched

// automatic is the order of zb-1p and zb-2p for the times of s.
func automatic(s *Spec) [][]item { return lists(s) }
