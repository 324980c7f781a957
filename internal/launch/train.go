package launch

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// torchPort is where ranks of a training run meet.
const torchPort = "29500"

// training builds the group of a training plan.
func (b *builder) training() error {
	p := *b.Training
	if b.Train.GlobalBatch < 1 || b.Train.Seq < 1 {
		return fmt.Errorf("a training configuration needs --global-batch and --seq")
	}
	write, ok := map[string]func(*plan.Plan, *args) error{
		argv.MegatronLM: b.megatron, argv.MegatronBridge: b.bridge, argv.TorchTitan: b.titan,
	}[b.Engine]
	if !ok {
		return fmt.Errorf("%s serves and does not train: use megatron-lm, megatron-bridge or torchtitan", b.Engine)
	}
	if err := b.legal(&p); err != nil {
		return err
	}
	if p.Tuning != plan.FullTraining {
		return b.lacks("adapters among the settings that launch writes (tuning="+p.Tuning.String()+")", "")
	}
	g := group{name: b.Name, replicas: 1, training: true, port: 0}
	var err error
	if g.nodes, g.gpus, err = b.spread(p.GPUs()); err != nil {
		return err
	}
	a := &args{}
	a.add("torchrun", "--nproc_per_node", strconv.Itoa(g.gpus), "--nnodes", strconv.Itoa(g.nodes))
	if g.nodes > 1 {
		a.ref("--node_rank", Word{Ref: NodeRank})
		a.ref("--master_addr", Word{Ref: Leader})
		a.add("--master_port", torchPort)
	}
	g.args = len(a.words) + 1
	if b.Engine == argv.TorchTitan {
		a.add("-m", "torchtitan.train")
		g.args++
	} else {
		a.add(b.script())
	}
	if err := write(&p, a); err != nil {
		return err
	}
	b.Training = &p // as it is written: what was changed to the nearest is what the files say of themselves
	g.leader, g.env = a.words, b.connections(&p)
	b.groups = []group{g}
	return nil
}

// connections is the number of queues between host and GPU that Megatron-LM's schedule
// counts on: one orders the kernels of TP and CP before what they overlap with (its
// arguments.py ends the program without it on GPUs before Blackwell), many let expert
// exchange and compute run at once (moe/README.md), and Megatron-FSDP wants the default.
func (b *builder) connections(p *plan.Plan) []envVar {
	n := ""
	switch {
	case b.Engine == argv.TorchTitan || p.ZeRO >= 2:
	case b.paired:
		n = "32"
	case p.TP > 1 || p.CP > 1:
		n = "1"
	}
	if n == "" {
		return nil
	}
	return []envVar{{"CUDA_DEVICE_MAX_CONNECTIONS", Word{Text: n}}}
}

// script is the program that torchrun starts.
func (b *builder) script() string {
	if b.Train.Script != "" {
		return b.Train.Script
	}
	return map[string]string{argv.MegatronLM: "pretrain_gpt.py", argv.MegatronBridge: "pretrain.py"}[b.Engine]
}

// legal asks package plan whether the plan fits model, world and batch.
func (b *builder) legal(p *plan.Plan) error {
	j := plan.NewJob(b.Model, p.GPUs(), b.NodeGPUs, b.Train.GlobalBatch, b.Train.Seq, b.Train.MTP)
	if c := p.Check(j); c != plan.Legal {
		return p.Explain(c, j)
	}
	return nil
}

// pairing tells whether a schedule hides the expert all-to-all behind a second
// micro-batch.
func pairing(k sched.Kind) bool { return k == sched.DualPipe || k == sched.DualPipeV }

// interleave replaces a schedule that Megatron-LM lacks by the nearest that it
// has: 1F1B, interleaved with two parts per rank where the plan pairs
// micro-batches (Megatron-LM moe/README.md; --overlap-moe-expert-parallel-comm
// needs virtual stages under pipeline parallelism).
func (b *builder) interleave(p *plan.Plan) (overlap bool, err error) {
	asked := p.Schedule
	switch {
	case p.PP == 1 || asked == sched.OneFOneB || asked == sched.Interleaved:
		b.paired = p.Overlap.EP && p.EP > 1 && (p.PP == 1 || asked == sched.Interleaved)
		return b.paired, nil
	case pairing(asked):
		if err := b.lacks("schedule "+asked.String(), "interleaved 1F1B (vpp=2) with --overlap-moe-expert-parallel-comm and --delay-wgrad-compute"); err != nil {
			return false, err
		}
		p.Schedule, p.VPP, p.Overlap.EP, b.paired = sched.Interleaved, 2, true, true
		return true, b.nearLegal(p)
	case asked == sched.ZBV:
		err = b.lacks("schedule "+asked.String(), "interleaved 1F1B (vpp=2)")
		p.Schedule, p.VPP = sched.Interleaved, 2
	default:
		err = b.lacks("schedule "+asked.String(), "1f1b")
		p.Schedule = sched.OneFOneB
	}
	if err != nil {
		return false, err
	}
	return false, b.nearLegal(p)
}

// nearLegal is legal for a plan that was changed to the nearest; where the batch
// does not divide it says which would.
func (b *builder) nearLegal(p *plan.Plan) error {
	err := b.legal(p)
	if err == nil {
		return nil
	}
	if group := p.DP * p.MicroBatch * p.PP; p.Schedule == sched.Interleaved && b.Train.GlobalBatch%group != 0 {
		return fmt.Errorf("the nearest schedule of %s runs micro-batches in multiples of pp=%d: use --global-batch %d, or schedule=1f1b",
			b.Engine, p.PP, (b.Train.GlobalBatch+group-1)/group*group)
	}
	return fmt.Errorf("the nearest plan for %s is not legal: %w", b.Engine, err)
}

// layout is Megatron-LM's pipeline layout: E the embedding, t a layer, m an MTP
// layer, L the head, | between stages. Layers are spread as train predicts them;
// "" where they divide evenly and no MTP trains.
func (b *builder) layout(p *plan.Plan) (string, error) {
	m, chunks := b.Model, p.PP*p.VPP
	if p.PP == 1 || len(m.Layers)%chunks == 0 && b.Train.MTP == 0 {
		return "", nil
	}
	counts := plan.Partition(len(m.Layers), chunks, plan.StageLoad(m, int64(b.Train.Seq), b.Train.MTP, chunks))
	return layoutText(counts, b.Train.MTP), nil
}

// layoutText writes stages, runs of the same stage in brackets.
func layoutText(counts []int, mtp int) string {
	stage := func(n int) string {
		switch {
		case n == 0:
			return ""
		case n == 1:
			return "t"
		}
		return "t*" + strconv.Itoa(n)
	}
	end := "L"
	if mtp == 1 {
		end = "mL"
	} else if mtp > 1 {
		end = "m*" + strconv.Itoa(mtp) + "L"
	}
	text := "E" + stage(counts[0])
	for i := 1; i < len(counts); {
		n := 1
		for i+n < len(counts)-1 && counts[i+n] == counts[i] {
			n++
		}
		switch {
		case i == len(counts)-1:
			text += "|" + stage(counts[i])
		case n > 1:
			text += "|(" + stage(counts[i]) + "|)*" + strconv.Itoa(n-1) + stage(counts[i])
		default:
			text += "|" + stage(counts[i])
		}
		i += n
	}
	return text + end
}
