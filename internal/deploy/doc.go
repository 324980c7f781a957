// Package deploy searches the ways to serve a model: how many GPUs of a
// cluster, cut into which instances, with which batch limits, formats and
// drafts, prompts and generation together or apart. It enumerates, rejects by
// reason, ranks by cost under a service-level objective and keeps the Pareto
// front of speed for the user against output of the GPU; every figure comes
// from package infer, so that a search and a single plan never disagree.
package deploy
