// Package launch turns plans into what engines and clusters take, and back.
//
// Import reads a command line, script, manifest or configuration file of an engine
// and says its degrees of parallelism, as the engine's flags state them and as a
// plan of package plan. Render writes a plan as commands, and commands as shell
// scripts, Slurm jobs, Kubernetes objects, Ray scripts or Compose files, checks
// every flag against the engine's list and refuses what the engine cannot do,
// with the nearest thing that it can.
//
// Words of a command are data until a target prints them: they are quoted there,
// once, so that no model path breaks out. Nothing is started and nothing predicted.
package launch
