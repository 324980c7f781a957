package launch

import (
	"fmt"
	"strconv"
)

// The ports that vLLM's nodes use between them.
const (
	vllmMasterPort = "29501"
	vllmRPCPort    = "13345"
	nixlPort       = "5600"
)

// vllm writes `vllm serve`. GPUs = TP x PP x DP, and experts lie on all TP x DP
// ranks of a stage or are cut by TP (vllm/config/parallel.py).
func (b *builder) vllm(r role) (g group, err error) {
	s, a := r.layout, &args{}
	if s.EP != 1 && s.EP != s.Ranks() {
		return g, fmt.Errorf("vllm puts experts on all tp x dp = %d ranks or cuts them by tp, not ep=%d: use ep=%d or ep=1", s.Ranks(), s.EP, s.Ranks())
	}
	if g.nodes, g.gpus, err = b.spread(s.GPUs()); err != nil {
		return g, err
	}
	a.add("vllm", "serve", b.ModelPath, "--host", "0.0.0.0", "--port", strconv.Itoa(b.Serve.Port), "--served-model-name", b.servedName())
	g.args, g.ready = 2, "/health"
	d := Degrees{TP: s.TP, PP: s.PP, DP: s.DP, Experts: s.EP > 1, DCP: s.DCP}
	if d.DCP == 1 {
		d.DCP = 0
	}
	a.add(d.Flags(b.Engine)...)
	if err := b.vllmOptions(a, r); err != nil {
		return g, err
	}
	b.vllmExchange(a, r, g.nodes)
	// The front ends wait ten minutes for the engine by default (vllm/envs.py), and a
	// large model loads longer.
	g.env = append(b.vllmTransfer(a, r), envVar{"VLLM_ENGINE_READY_TIMEOUT_S", Word{Text: startSeconds}})
	if g.nodes == 1 && b.Target != Ray {
		g.leader = a.words
		return g, nil
	}
	return g, b.vllmNodes(&g, a, r)
}

func (b *builder) vllmOptions(a *args, r role) error {
	o := &b.Serve
	if err := b.formats(a); err != nil {
		return err
	}
	if r.layout.Redundant > 0 {
		a.add("--enable-eplb")
		a.json("--eplb-config", "num_redundant_experts", r.layout.Redundant)
	}
	if o.TwoBatch {
		if r.layout.DP == 1 || r.layout.EP == 1 {
			return fmt.Errorf("vllm overlaps two batches only around the exchange of data-parallel ranks: use dp > 1 with ep = tp x dp, or leave the overlap out")
		}
		a.add("--enable-dbo")
	}
	if o.Drafts > 0 {
		a.json("--speculative-config", "method", "mtp", "num_speculative_tokens", o.Drafts)
	}
	if o.PrefixCache != nil {
		a.add(map[bool]string{true: "--enable-prefix-caching", false: "--no-enable-prefix-caching"}[*o.PrefixCache])
	}
	a.count("--max-model-len", o.MaxContext)
	a.count("--max-num-seqs", b.ownSequences(r))
	a.count("--max-num-batched-tokens", b.ownTokens(r))
	a.count("--stream-interval", o.StreamInterval)
	return nil
}

// vllmExchange adds what sends tokens between experts, where the engine's default
// (allgather_reducescatter, which every rank hears whole) is not what is run: over nodes
// by DeepEP, as the project deploys it (docs serving/expert_parallel_deployment), and
// around two batches, which only DeepEP's backends overlap (vllm/config/vllm.py).
func (b *builder) vllmExchange(a *args, r role, nodes int) {
	if s := r.layout; s.EP == 1 || s.DP == 1 || nodes == 1 && !b.Serve.TwoBatch {
		return
	}
	if r.name == prefill {
		a.add("--all2all-backend", "deepep_high_throughput")
	} else {
		a.add("--all2all-backend", "deepep_low_latency")
	}
	if nodes > 1 {
		b.note("DeepEP exchanges tokens between nodes over RDMA (IBGDA); allgather_reducescatter is the --all2all-backend for nodes without it")
	}
}

// vllmTransfer adds what moves KV caches between roles.
func (b *builder) vllmTransfer(a *args, r role) []envVar {
	kvRole, ok := map[string]string{prefill: "kv_producer", decode: "kv_consumer"}[r.name]
	if !ok {
		return nil
	}
	a.json("--kv-transfer-config", "kv_connector", "NixlConnector", "kv_role", kvRole, "kv_load_failure_policy", "fail")
	return []envVar{{"VLLM_NIXL_SIDE_CHANNEL_HOST", Word{Ref: OwnAddress}}, {"VLLM_NIXL_SIDE_CHANNEL_PORT", Word{Text: nixlPort}}}
}

// vllmNodes adds the flags of an instance over several nodes: data-parallel ranks
// that each fit a node are spread over headless followers; one replica over nodes
// needs vLLM's own multi-node executor, or Ray.
func (b *builder) vllmNodes(g *group, a *args, r role) error {
	s := r.layout
	switch rank := s.TP * s.PP; {
	case b.Target == Ray:
		a.add("--distributed-executor-backend", "ray")
		if s.DP > 1 {
			a.add("--data-parallel-backend", "ray")
			if g.nodes > 1 {
				a.ref("--data-parallel-address", Word{Ref: Leader})
			}
			a.size("--data-parallel-size-local", max(1, g.gpus/rank), 0)
		}
		g.leader = a.words
	case s.DP > 1 && g.gpus%rank != 0:
		return fmt.Errorf("vllm spreads data-parallel ranks of tp x pp = %d GPUs over nodes of %d only whole: use a tp that divides a node, or --target ray", rank, g.gpus)
	case s.DP > 1:
		local := g.gpus / rank
		a.size("--data-parallel-size-local", local, 0)
		a.ref("--data-parallel-address", Word{Ref: Leader})
		a.add("--data-parallel-rpc-port", vllmRPCPort)
		g.leader = a.words
		f := &args{words: append([]Word(nil), a.words...)}
		f.add("--headless")
		f.ref("--data-parallel-start-rank", Word{Ref: NodeRank, Times: local})
		g.follower = f.words
	default:
		a.size("--nnodes", g.nodes, 1)
		a.ref("--node-rank", Word{Ref: NodeRank})
		a.ref("--master-addr", Word{Ref: Leader})
		a.add("--master-port", vllmMasterPort)
		g.leader = a.words
		f := &args{words: append([]Word(nil), a.words...)}
		f.add("--headless")
		g.follower = f.words
	}
	return nil
}
