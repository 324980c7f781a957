package validate

import (
	"errors"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// split predicts a deployment in two roles.
func (p *ServingPredictor) split(r *ServingRun) (*ServingPrediction, error) {
	x := r.Split
	pre, dec := p.build(r, x.Prefill, r.GPUs), p.build(r, x.Decode, r.GPUs)
	if err := errors.Join(pre.err, dec.err); err != nil {
		return nil, err
	}
	if err := r.withinContext(dec.engine.Setup().Model); err != nil {
		return nil, err
	}
	link, err := dec.engine.KVLink(&x.Prefill)
	if err != nil {
		return nil, err
	}
	_, transfer, _ := link.Transfer(infer.CacheSize(int64(r.ISL), pre.engine.KVBytesPerToken()))
	profile := pre.engine.Setup().Profile
	held := dec.engine.Holds(int64(r.ISL), int64(r.OSL))
	d := &infer.Disagg{Prefill: &infer.Role{Inner: pre.stepper}, Decode: &infer.Role{Inner: dec.stepper}, PrefillGPUs: x.Prefill.GPUs(), DecodeGPUs: x.Decode.GPUs(), ISL: int64(r.ISL), OSL: int64(r.OSL),
		PrefillTokens: pre.engine.Setup().MaxBatchTokens * int64(x.Prefill.DP), PrefillRanks: x.Prefill.DP, MaxDecode: int(min(held, int64(r.Concurrency))), Spec: dec.spec, Transfer: transfer, TransferGPUs: link.GPUs,
		Entry: profile.Entry(int64(r.ISL)), InStep: !r.Varied && profile.Separate}
	if err := d.Check(); err != nil {
		return nil, err
	}
	s := d.Point(x.PrefillWorkers, x.DecodeWorkers, r.Concurrency)
	dev := dec.cluster.Device
	return &ServingPrediction{TTFT: s.TTFT, TPOT: s.TPOT, Arch: dev.Arch, Device: dev.Name, MoE: dec.engine.Setup().Model.MoE(), Bound: s.Bound,
		Ranges: dec.engine.Ranges(), Tails: true, decoder: dec.engine, each: mostTokens(dec.spec)}, nil
}
