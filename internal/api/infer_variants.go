package api

import (
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// maxVariants bounds the product of the lists.
const maxVariants = 256

// maxRTT is a round trip between nodes beyond which it is a mistake.
const maxRTT unit.Seconds = 60

// variants is the product of the request's lists.
func (r *InferRequest) variants() ([]*deploy.Variant, error) {
	if len(r.Experts) > 0 && !r.Model.MoE() {
		return nil, fmt.Errorf("--expert-weights: %s has no routed experts: leave it out", r.Model.Name)
	}
	if len(r.RTT) > 0 && !slices.ContainsFunc(r.Clusters, func(c *hw.Cluster) bool { return c.Nodes() > 1 }) {
		return nil, fmt.Errorf("--net-rtt: %s is one node, nothing crosses a network: leave it out or take more nodes", r.Clusters[0].Name)
	}
	for _, rtt := range r.RTT {
		if rtt > maxRTT {
			return nil, fmt.Errorf("--net-rtt: a round trip of %s between nodes: give at most %s", unit.FormatSeconds(rtt), unit.FormatSeconds(maxRTT))
		}
	}
	list := []deploy.Variant{{Skew: r.Skew, Loads: r.Loads}}
	list = cross(list, r.Clusters, func(v *deploy.Variant, c *hw.Cluster) { v.Cluster = c })
	list = cross(list, r.weights(), func(v *deploy.Variant, w [2]unit.Format) { v.Weights, v.Experts = w[0], w[1] })
	list = cross(list, orDefault(r.KV, unit.BF16), func(v *deploy.Variant, f unit.Format) { v.KV = f })
	list = cross(list, orDefault(r.Speculation, nil), func(v *deploy.Variant, s *infer.Speculation) { v.Speculation = s })
	list = cross(list, orDefault(r.Overlap, false), func(v *deploy.Variant, on bool) { v.TwoBatch = on })
	list = cross(list, r.roundTrips(), func(v *deploy.Variant, rtt *unit.Seconds) { v.RTT = rtt })
	list = r.withoutNetwork(list)
	if len(list) > maxVariants {
		return nil, fmt.Errorf("the lists make more than %d combinations: shorten one", maxVariants)
	}
	out := make([]*deploy.Variant, len(list))
	for i := range list {
		if err := r.drafter(&list[i]); err != nil {
			return nil, err
		}
		out[i] = &list[i]
	}
	return out, nil
}

// cross gives every variant each of values, those of the last list changing
// fastest. It stops growing beyond what is refused anyway.
func cross[T any](list []deploy.Variant, values []T, set func(*deploy.Variant, T)) (out []deploy.Variant) {
	for _, v := range list {
		for _, x := range values {
			if len(out) > maxVariants {
				return out
			}
			set(&v, x)
			out = append(out, v)
		}
	}
	return out
}

func orDefault[T any](list []T, value T) []T {
	if len(list) == 0 {
		return []T{value}
	}
	return list
}

// weights pairs the formats of linears and routed experts.
func (r *InferRequest) weights() (pairs [][2]unit.Format) {
	weights, experts, _ := infer.CheckpointFormats(r.Model)
	switch {
	case len(r.Weights) == 0 && len(r.Experts) == 0:
		return [][2]unit.Format{{weights, experts}}
	case len(r.Experts) == 0:
		for _, w := range r.Weights {
			w = r.scaled(w)
			pairs = append(pairs, [2]unit.Format{w, w})
		}
		return pairs
	}
	for _, w := range orDefault(r.Weights, weights) {
		for _, e := range r.Experts {
			pairs = append(pairs, [2]unit.Format{r.scaled(w), r.scaled(e)})
		}
	}
	return pairs
}

// scaled gives fp8 the block scales of a checkpoint that was trained with them:
// engines load it as it is.
func (r *InferRequest) scaled(f unit.Format) unit.Format {
	if f == unit.FP8 && r.Model.Checkpoint.Weights == unit.FP8Block {
		return unit.FP8Block
	}
	return f
}

func (r *InferRequest) roundTrips() (list []*unit.Seconds) {
	for i := range r.RTT {
		list = append(list, &r.RTT[i])
	}
	return orDefault(list, nil)
}

// withoutNetwork leaves clusters of one node one variant of all round trips, without any.
func (r *InferRequest) withoutNetwork(list []deploy.Variant) (out []deploy.Variant) {
	for _, v := range list {
		if v.RTT != nil && v.Cluster.Nodes() == 1 {
			if v.RTT != &r.RTT[0] {
				continue
			}
			v.RTT = nil
		}
		out = append(out, v)
	}
	return out
}

// vocabPadding is how many rows the vocabularies of a model and its draft may differ by,
// which sizes of one family are padded to: 128 (SPEC_VOCAB_MAX_SIZE_DIFFERENCE of
// ggml-org/llama.cpp:common/speculative.cpp; Qwen2.5 7B has 152,064, 0.5B 151,936). vLLM
// refuses any difference.
const vocabPadding = 128

// drafter checks that the variant's drafts have a model to come from.
func (r *InferRequest) drafter(v *deploy.Variant) error {
	s := v.Speculation
	if s == nil {
		return nil
	}
	switch s.Drafter {
	case infer.MTP:
		if len(r.Model.MTP) == 0 {
			return note.Faultf(note.NoMTPModule, "spec model", "--spec %s: %s has no MTP module: use draft:MODEL:N:ACCEPT or none", s, r.Model.Name)
		}
	case infer.DraftModel:
		if v.Draft = r.DraftModels[s.Model]; v.Draft == nil {
			return fmt.Errorf("--spec %s: the draft model was not found", s)
		}
		if a, b := v.Draft.Vocab, r.Model.Vocab; max(a, b)-min(a, b) > vocabPadding {
			return fmt.Errorf("--spec %s: its vocabulary has %d words, that of %s %d, so its drafts are of other words: name a draft model of the same family", s, a, r.Model.Name, b)
		}
	}
	return nil
}
