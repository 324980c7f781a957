package infer

import "github.com/ridgeline/ridgeline/internal/unit"

// TwoBatch prices steps whose batch is cut into two micro-batches: while one
// computes, the other's tokens travel (arXiv:2412.19437 sections 3.4.1 and 3.4.2).
//
//	step = overhead + max(C1, M2) + max(C2, M1) + min(C1, M1)/layers + W
//
// C and M are the compute of a half and what its communication takes beside the latency between
// nodes, min(C1, M1)/layers the start of the pipeline, where nothing overlaps. W is the waits for that
// latency, once for every exchange of one half: overlap does not hide them (modelling notes,
// section 4), those of the other half lie under them. A half takes more than half the time:
// it reads all weights again, and small products use the device worse. So the gain needs
// a batch that is large enough, and is a loss below it.
type TwoBatch struct {
	Inner  Stepper
	Layers int // of the model
	// Replicas is the attention replicas of the instance. Fewer than two prompts for
	// each are cut inside: the second half of a prompt sees the keys of the first.
	Replicas int
	// SMShare of the device is taken by communication kernels while they run: 20 of
	// an H800's 132 in DeepEP's normal mode, which steps with prompts use; none in its
	// low-latency mode, that of other steps (modelling notes, section 4).
	SMShare float64
	// Always splits even where one batch is faster; otherwise the faster of the two is
	// taken, as an engine does whose switch is set well.
	Always bool

	half [2]Batch // scratch
}

// Step prices the batch in two halves. A batch of one sequence or token is not cut.
func (t *TwoBatch) Step(b *Batch) Step {
	if !t.cut(b) {
		return t.Inner.Step(b)
	}
	two := t.join(t.Inner.Step(&t.half[0]), t.Inner.Step(&t.half[1]), t.share(b))
	if !t.Always {
		if one := t.Inner.Step(b); one.Total <= two.Total {
			return one
		}
	}
	return two
}

// Gain is the throughput in two halves over that in one batch.
func (t *TwoBatch) Gain(b *Batch) float64 {
	if !t.cut(b) {
		return 1
	}
	two := t.join(t.Inner.Step(&t.half[0]), t.Inner.Step(&t.half[1]), t.share(b))
	return float64(t.Inner.Step(b).Total / two.Total)
}

// cut halves the batch's sequences and prompt tokens.
func (t *TwoBatch) cut(b *Batch) bool {
	if b.Decode < 2 && b.Prefill < 2 {
		return false
	}
	h := &t.half[0]
	*h = *b
	h.Decode = (b.Decode + 1) / 2
	h.Prefill, h.Busiest = (b.Prefill+1)/2, (b.Busiest+1)/2
	if b.Prompts >= 2*max(t.Replicas, 1) {
		h.Prompts = (b.Prompts + 1) / 2
	}
	if b.Decode > 0 {
		h.DecodeContext = b.DecodeContext * int64(h.Decode) / int64(b.Decode)
	}
	if b.Prefill > 0 {
		h.PrefillPairs = b.PrefillPairs * float64(h.Prefill) / float64(b.Prefill)
	}
	t.half[1] = Batch{
		Decode: b.Decode - h.Decode, DecodeContext: b.DecodeContext - h.DecodeContext, Draft: b.Draft,
		Prefill: b.Prefill - h.Prefill, PrefillPairs: b.PrefillPairs - h.PrefillPairs,
		Prompts: b.Prompts - h.Prompts, Busiest: h.Busiest,
	}
	if h.Prompts == b.Prompts { // cut inside
		t.half[1].Prompts = b.Prompts
	}
	return true
}

// share of the device that the exchange kernels of a step of b take.
func (t *TwoBatch) share(b *Batch) unit.Seconds {
	if b.Prefill == 0 {
		return 0
	}
	return unit.Seconds(t.SMShare)
}

// join lays two halves over each other, whose exchange takes share of the device. The floor lets every resource run all the
// time; the upper bound lets nothing overlap.
func (t *TwoBatch) join(a, b Step, share unit.Seconds) Step {
	ca, ma := a.apart(share)
	cb, mb := b.apart(share)
	overhead := max(a.Parts[Overhead], b.Parts[Overhead]) // one schedule launches both
	wire := max(a.Wire, b.Wire)
	s := Step{
		Total: overhead + max(ca, mb) + max(cb, ma) + min(ca, ma)/unit.Seconds(max(t.Layers, 1)) + wire,
		Upper: a.Upper + b.Upper, Wire: wire,
		Compute: a.Compute + b.Compute, HBM: a.HBM + b.HBM, NVLink: a.NVLink + b.NVLink, Network: a.Network + b.Network, Pipes: a.Pipes + b.Pipes, Memory: a.Memory + b.Memory,
	}
	s.Total = min(s.Total, a.Total+b.Total)
	s.Upper = max(s.Upper, s.Total)
	s.Floor = min(max(s.Compute, s.HBM, s.NVLink, s.Network, wire), s.Total)
	rest := s.Total - overhead
	for p := range NumParts {
		if p != Communication && p != Overhead {
			s.Parts[p] = a.Parts[p] + b.Parts[p]
			rest -= s.Parts[p]
		}
	}
	s.Parts[Communication], s.Parts[Overhead] = rest, overhead // what is exposed, compute slowed by it included
	return s
}

// apart is a half's compute and its communication beside the waits for the latency between
// nodes. Compute beside communication has share less of the device, and takes longer for it.
func (s *Step) apart(share unit.Seconds) (compute, comm unit.Seconds) {
	comm = max(s.Parts[Communication]-s.Wire, 0)
	compute = s.Total - s.Parts[Communication] - s.Parts[Overhead]
	return compute + min(compute, comm)*share/(1-share), comm
}
