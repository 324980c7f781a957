package launch

import (
	"fmt"
	"strconv"
)

// The ports that SGLang's nodes and roles use between them.
const (
	sglangDistPort      = ":5000"
	sglangBootstrapPort = "8998"
)

// sglang writes `sglang.launch_server`. A plan's attention replicas split --tp-size
// (--enable-dp-attention), so that --tp-size is TP x DP and GPUs = --tp-size x PP;
// backends that send tokens between experts need --ep-size = --tp-size.
func (b *builder) sglang(r role) (g group, err error) {
	s, a := r.layout, &args{}
	if g.nodes, g.gpus, err = b.spread(s.GPUs()); err != nil {
		return g, err
	}
	d := Degrees{TP: s.TP * s.DP, PP: s.PP, DP: s.DP, EP: s.EP, DPAttention: s.DP > 1}
	if s.DCP > 1 {
		d.DCP = s.DCP
	}
	if b.ranksOfDense(r) == 1 && d.TP > 1 {
		d.DenseTP = 1
	}
	if s.EP > 1 && s.EP == d.TP && s.DP > 1 {
		d.A2A = "deepep"
	}
	a.add("python3", "-m", "sglang.launch_server", "--model-path", b.ModelPath, "--host", "0.0.0.0",
		"--port", strconv.Itoa(b.Serve.Port), "--served-model-name", b.servedName())
	g.args, g.ready = 3, "/health"
	a.add(d.Flags(b.Engine)...)
	if d.A2A != "" {
		g.env = b.dispatchTokens(r)
		a.add("--deepep-mode", map[string]string{prefill: "normal", decode: "low_latency", "": "auto"}[r.name])
	}
	if err := b.sglangOptions(a, r, d.A2A != ""); err != nil {
		return g, err
	}
	if r.name != "" {
		a.add("--disaggregation-mode", r.name, "--disaggregation-transfer-backend", "nixl")
		if r.name == prefill {
			a.add("--disaggregation-bootstrap-port", sglangBootstrapPort)
		}
	}
	if g.nodes > 1 {
		a.size("--nnodes", g.nodes, 1)
		a.ref("--node-rank", Word{Ref: NodeRank})
		a.ref("--dist-init-addr", Word{Ref: Leader, After: sglangDistPort})
	}
	g.leader = a.words
	return g, nil
}

// defaultDispatch is how many tokens of a rank the buffers of DeepEP's low-latency mode
// take in a step (sglang/srt/environ.py).
const defaultDispatch = 128

// dispatchTokens widens them where a step may have more: SGLang ends then.
func (b *builder) dispatchTokens(r role) []envVar {
	dp := int64(r.layout.DP)
	tokens := (b.Serve.MaxSequences + dp - 1) / dp * int64(1+b.Serve.Drafts)
	if r.name == prefill || tokens <= defaultDispatch {
		return nil
	}
	return []envVar{{"SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK", Word{Text: strconv.FormatInt(tokens, 10)}}}
}

func (b *builder) sglangOptions(a *args, r role, exchange bool) error {
	o := &b.Serve
	if err := b.formats(a); err != nil {
		return err
	}
	if n := r.layout.Redundant; n > 0 {
		if !exchange {
			return fmt.Errorf("sglang balances experts between ranks that exchange tokens: use dp > 1 with ep = tp x dp, or leave redundant=%d out", n)
		}
		a.add("--enable-eplb", "--ep-num-redundant-experts", strconv.Itoa(n))
	}
	if o.TwoBatch {
		if !exchange {
			return fmt.Errorf("sglang overlaps two batches only around an exchange of tokens: use dp > 1 with ep = tp x dp, or leave the overlap out")
		}
		a.add("--enable-two-batch-overlap")
	}
	if o.Drafts > 0 { // topk = 1 verifies steps + 1 tokens
		a.add("--speculative-algorithm", "EAGLE", "--speculative-num-steps", strconv.Itoa(o.Drafts),
			"--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", strconv.Itoa(o.Drafts+1))
	}
	if o.PrefixCache != nil && !*o.PrefixCache {
		a.add("--disable-radix-cache")
	}
	a.count("--context-length", o.MaxContext)
	a.count("--max-running-requests", b.ownSequences(r))
	a.count("--chunked-prefill-size", b.ownTokens(r))
	a.count("--stream-interval", o.StreamInterval)
	if b.denseInner() > 0 && r.layout.DP > 1 && b.ranksOfDense(r) > 1 {
		b.note("under attention DP sglang cuts dense FFN layers over all %d ranks%s; where that is slow, add --moe-dense-tp-size 1 to the command by hand, which keeps them whole on each", r.layout.Ranks(), r.of())
	}
	return nil
}
