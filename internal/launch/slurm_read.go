package launch

import (
	"regexp"
	"strconv"
	"strings"
)

// sbatchOption is an option of sbatch in a script's comments.
var sbatchOption = regexp.MustCompile(`(?m)^#SBATCH[ \t]+(--[a-z-]+|-N|-n)(?:[= \t]*)([^ \t\r\n#]+)`)

// slurmVars are the variables that sbatch makes of a script's own options: nodes, tasks
// and GPUs of a node. What it leaves to the command line is not known.
func slurmVars(text string) map[string]string {
	n := map[string]int{}
	for _, m := range sbatchOption.FindAllStringSubmatch(text, -1) {
		value := m[2][strings.LastIndex(m[2], ":")+1:] // gpu:h100:8
		if v, err := strconv.Atoi(value); err == nil && v > 0 && v <= maxDegree {
			n[m[1]] = v
		}
	}
	first := func(names ...string) int {
		for _, name := range names {
			if n[name] > 0 {
				return n[name]
			}
		}
		return 0
	}
	nodes, tasks, gpus := first("--nodes", "-N"), first("--ntasks-per-node"), first("--gpus-per-node", "--gres")
	all := first("--ntasks", "-n")
	if all == 0 {
		all = nodes * tasks
	}
	vars := map[string]string{}
	for name, v := range map[string]int{"SLURM_NNODES": nodes, "SLURM_JOB_NUM_NODES": nodes, "SLURM_NTASKS_PER_NODE": tasks,
		"SLURM_NTASKS": all, "SLURM_GPUS_PER_NODE": gpus, "SLURM_GPUS_ON_NODE": gpus} {
		if v > 0 {
			vars[name] = strconv.Itoa(v)
		}
	}
	return vars
}
