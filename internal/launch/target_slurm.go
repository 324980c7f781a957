package launch

import (
	"path"
	"slices"
	"strings"
)

// heredoc ends a script inside a script. No line of a command can be this word:
// quoted words hold no raw newline.
const heredoc = "RIDGELINE_COMMAND"

// slurmFiles is one sbatch script per group; several instances are a job array.
func (b *builder) slurmFiles() (files []File) {
	for i := range b.groups {
		g := &b.groups[i]
		tasks := 1
		if g.mpi {
			tasks = g.gpus
		}
		s := &lines{}
		s.line("#!/usr/bin/env bash")
		s.line("#SBATCH --job-name=%s", g.name)
		s.line("#SBATCH --nodes=%d", g.nodes)
		s.line("#SBATCH --ntasks-per-node=%d", tasks)
		if g.gpus > 0 {
			s.line("#SBATCH --gpus-per-node=%d", g.gpus)
			s.line("#SBATCH --exclusive")
			s.line("#SBATCH --mem=0") // all of the node's
		}
		if g.replicas > 1 {
			s.line("#SBATCH --array=0-%d", g.replicas-1)
		}
		s.line("#SBATCH --output=%s-%%j.log", g.name)
		s.b.WriteString(comment("#", b.header(b.list)))
		s.line("set -euo pipefail")
		// sed reads to the end: under pipefail a reader that leaves early ends the script.
		s.line("LEADER_ADDRESS=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n 1p)")
		s.line("CONFIG_DIR=${CONFIG_DIR:-$SLURM_SUBMIT_DIR}")
		s.line("export LEADER_ADDRESS CONFIG_DIR")
		if slices.ContainsFunc(g.leader, func(w Word) bool { return w.Ref == Workers }) {
			s.line("RPC_WORKERS=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | tail -n +2 | sed 's/$/:%d/' | paste -sd , -)", llamaRPCPort)
			s.line("export RPC_WORKERS")
		}
		if b.imageOf(g) != "" && !path.IsAbs(b.ModelPath) {
			s.line("MODEL_CACHE=${HF_HOME:-$HOME/.cache/huggingface}")
			s.line("mkdir -p \"$MODEL_CACHE\"")
		}
		s.line("COMMAND=$(cat <<'%s'", heredoc)
		s.line("set -euo pipefail")
		s.line("NODE_RANK=$SLURM_NODEID")
		inner := &lines{}
		b.variables(inner, g)
		for _, l := range strings.SplitAfter(inner.text(), "\n") {
			if !strings.HasPrefix(l, "CONFIG_DIR=") { // a spooled script has no folder
				s.b.WriteString(l)
			}
		}
		b.command(s, g)
		s.line("%s", heredoc)
		s.line(")")
		mpi := ""
		if g.mpi {
			mpi = "--mpi=pmix "
		}
		s.line("srun %s--nodes=%d --ntasks-per-node=%d --cpu-bind=none --kill-on-bad-exit=1%s bash -c \"$COMMAND\"", mpi, g.nodes, tasks, b.srunContainer(g))
		files = append(files, File{Name: g.name + ".sbatch", Content: s.text(), Run: true})
	}
	b.note("partition, account and time limit are the site's: give them to sbatch")
	if b.Tools.Workers > 0 {
		files = append(files, b.loadArray())
	}
	if b.Tools.Probes > 0 {
		files = append(files, b.probeArray())
	}
	return append(files, b.configFiles()...)
}

// srunContainer runs the tasks in the image that was named, by the options of Slurm's
// container plugin (NVIDIA/pyxis), with the configuration files and the model's folder,
// or the hub's cache, at the same place.
func (b *builder) srunContainer(g *group) string {
	image := b.imageOf(g)
	if image == "" {
		return ""
	}
	mounts := `"$CONFIG_DIR:$CONFIG_DIR`
	switch dir := path.Dir(b.ModelPath); {
	case !path.IsAbs(b.ModelPath):
		mounts += `,$MODEL_CACHE:/root/.cache/huggingface"`
	case strings.ContainsAny(dir, ",:"): // which separate mounts and their parts
		mounts += `"`
		b.note("the model's folder %q has a comma or a colon, so no mount could be written: bring it into the containers of %s", dir, g.name)
	default:
		mounts += `",` + Quote(dir) + ":" + Quote(dir)
	}
	return " --container-image=" + Quote(image) + " \\\n  --container-mounts=" + mounts
}
