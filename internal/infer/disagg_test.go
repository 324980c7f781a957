package infer

import (
	"math"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func network(device string, nic float64) *hw.Cluster {
	return &hw.Cluster{Name: "c", Device: &hw.Device{Name: device}, GPUs: 64,
		Node: hw.NodeSpec{GPUs: 8, NIC: hw.Figure{Value: nic, Grade: hw.Datasheet, Source: "test"}}}
}

// KV transfers between two nodes: H800 over 8 x RoCE 0.54 ms + size/144 GB/s, H20
// over 4 x 400 Gb/s 1.7 ms + size/168 GB/s (modelling notes, section 4).
func TestKVLinkPublished(t *testing.T) {
	for _, c := range []struct {
		cluster *hw.Cluster
		want    unit.Seconds // for 1 GB
	}{
		{network("h800-sxm", 50e9), 0.54e-3 + 1.0/144},
		{network("h20-96gb", 25e9), 1.7e-3 + 1.0/168},
	} {
		l, err := NewKVLink(c.cluster, 0, tp(8), tp(16))
		if err != nil {
			t.Fatal(err)
		}
		floor, got, upper := l.Transfer(1e9)
		if math.Abs(float64(got/c.want)-1) > 1e-9 || floor > got || got > upper || l.Assumed {
			t.Errorf("%s: 1 GB takes %g to %g, %g s, published %g", c.cluster.Device.Name, floor, upper, got, c.want)
		}
	}
}

func tp(n int) *plan.Serving { return &plan.Serving{TP: n, PP: 1, DP: 1, EP: 1, DCP: 1} }

// A request's cache lies on the GPUs of one attention replica: whatever the worker's
// size, only their NICs carry it, and no faster than all they have.
func TestKVLinkOfOneReplica(t *testing.T) {
	link := func(from, to plan.Serving) *KVLink {
		l, err := NewKVLink(network("h100-sxm", 50e9), 0, &from, &to)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	one, eight := *tp(1), *tp(8)
	replicas, staged := one, one
	replicas.DP, staged.PP = 8, 4
	for what, c := range map[string]struct {
		l    *KVLink
		gpus int
	}{"replicas to replicas": {link(replicas, replicas), 1}, "one replica to TP8": {link(replicas, eight), 1},
		"four stages to TP8": {link(staged, eight), 4}, "TP8 to TP8": {link(eight, eight), 8}} {
		if c.l.GPUs != c.gpus || c.l.Fastest != unit.ByteRate(50e9*c.gpus) || c.l.Rate > c.l.Fastest || c.l.Inside {
			t.Errorf("%s: %+v, want the NICs of %d", what, c.l, c.gpus)
		}
	}
}

// Roles inside one node send caches over its link, NIC or none.
func TestKVLinkInsideANode(t *testing.T) {
	c := network("h100-sxm", 0)
	c.GPUs, c.Node.NIC, c.Device.Peak.ScaleUp = 8, hw.Figure{}, hw.Figure{Value: 450e9, Grade: hw.Datasheet}
	l, err := NewKVLink(c, 365e9, tp(2), tp(4))
	if err != nil || !l.Inside || l.GPUs != 2 || l.Rate != 730e9 || l.Fastest != 900e9 || !(l.Slowest < l.Rate) {
		t.Errorf("%+v, %v", l, err)
	}
}

// Transfers of different replicas travel side by side: eight of one GPU each keep a
// worker's links as busy as eight in turn that take all of them an eighth as long.
func TestTransfersSideBySide(t *testing.T) {
	one, all := roles(), roles()
	one.PrefillGPUs, one.DecodeGPUs, one.TransferGPUs, one.Transfer = 8, 8, 1, 16e-3
	all.PrefillGPUs, all.DecodeGPUs, all.TransferGPUs, all.Transfer = 8, 8, 8, 2e-3
	a, _ := newRates(one).at(2, 1, 64, 64)
	b, _ := newRates(all).at(2, 1, 64, 64)
	if a.LinkBusy <= 0 || math.Abs(a.LinkBusy/b.LinkBusy-1) > 1e-12 {
		t.Errorf("busy %g and %g of the time", a.LinkBusy, b.LinkBusy)
	}
	one.TransferGPUs = 9
	if err := one.Check(); err == nil || !strings.Contains(err.Error(), "KV transfer by 9 GPUs") {
		t.Errorf("%v", err)
	}
}

// Other hardware takes the median share of the published transfers and says so.
func TestKVLinkElsewhere(t *testing.T) {
	l, err := NewKVLink(network("b200-sxm", 50e9), 0, tp(4), tp(8))
	if err != nil || !l.Assumed || l.GPUs != 4 || l.Fastest != 200e9 || !(l.Slowest < l.Rate && l.Rate < l.Fastest) {
		t.Errorf("%+v, %v", l, err)
	}
	f1, e1, u1 := l.Transfer(1e6)
	f2, e2, u2 := l.Transfer(2e6)
	if !(f1 < e1 && e1 < u1 && f1 < f2 && e1 < e2 && u1 < u2) {
		t.Error("a larger cache takes no longer, or the bounds cross")
	}
	none := network("x", 0)
	none.Node.NIC = hw.Figure{}
	if _, err := NewKVLink(none, 0, tp(1), tp(1)); err == nil || !strings.Contains(err.Error(), "no NIC rate is known") {
		t.Errorf("%v", err)
	}
	if _, err := NewKVLink(network("x", 1e9), 0, tp(0), tp(1)); err == nil {
		t.Error("a transfer from no GPU passed")
	}
}

func roles() *Disagg {
	return &Disagg{
		Prefill: &fake{weights: 5e-3, token: 10e-6, pair: 1e-11, start: 1e-3}, Decode: decoder(),
		PrefillGPUs: 4, DecodeGPUs: 8, ISL: 4000, OSL: 500, PrefillTokens: 8192, MaxDecode: 512, Transfer: 2e-3, TransferGPUs: 4,
	}
}

// tokens/s/GPU = out / (prefill GPUs x ratio + decode GPUs), by hand.
func TestMatch(t *testing.T) {
	d := roles()
	m := d.Match(64)
	full := 8192.0 / 4000
	read := full / float64(d.Prefill.Step(&Batch{Prefill: 8192, Prompts: 3, PrefillPairs: full * pairs(4000)}).Total)
	done := 64 / (499 * float64(d.TPOT(64)))
	if want := done * 500 / (4*done/read + 8); math.Abs(m.TokensPerGPU/want-1) > 1e-12 || math.Abs(m.Ratio-done/read) > 1e-12 {
		t.Errorf("%+v, want %g tokens/s/GPU", m, want)
	}
	if d.Prompts() != 2 || math.Abs(m.PrefillPerGPU-read*4000/4) > 1e-6 {
		t.Errorf("%d prompts per step, %g prompt tokens/s/GPU", d.Prompts(), m.PrefillPerGPU)
	}
}

// Chunks of a long prompt see the earlier ones: no pair is lost or counted twice.
func TestChunksKeepPairs(t *testing.T) {
	d := roles()
	d.Prefill = &fake{pair: 1e-9, token: 1e-6}
	whole := d.ReadTime(1)
	d.PrefillTokens = 1000
	if got := d.ReadTime(1); math.Abs(float64(got/whole)-1) > 1e-9 {
		t.Errorf("%g s in four chunks, %g in one", got, whole)
	}
}

// Little's law holds at every load, throughput and waiting never fall with it, and
// no deployment beats the rate-matched ratio.
func TestDisaggProperties(t *testing.T) {
	d := roles()
	best := 0.0
	for n := 1; n <= d.MaxDecode; n++ {
		best = max(best, d.Match(n).TokensPerGPU)
	}
	for _, w := range [][2]int{{1, 1}, {1, 4}, {4, 1}, {2, 3}, {9, 1}} {
		before := DisaggPoint{}
		for c := 1; c < 20000; c = c*5/4 + 1 {
			p := d.Point(w[0], w[1], c)
			in := p.Requests * float64(p.Steady+unit.Seconds(d.OSL-1)*p.TPOT)
			if math.Abs(in/float64(c)-1) > 1e-6 {
				t.Errorf("%v, %d in flight: rate x time = %g: %+v", w, c, in, p)
			}
			if p.Requests < 0.98*before.Requests || p.TPOT < before.TPOT {
				t.Errorf("%v, %d in flight: %+v after %+v", w, c, p, before)
			}
			if p.TTFT < p.Steady || p.Burst < p.Steady || p.Steady < p.Transfer || p.PrefillBusy > 1+1e-9 || p.LinkBusy > 1+1e-9 || p.TokensPerGPU > best*1.0001 || p.Sequences > d.MaxDecode || p.Bound == "" {
				t.Errorf("%v, %d in flight, ideal %g: %+v", w, c, best, p)
			}
			before = p
		}
	}
	if p := d.Point(1, 8, 2000); p.Bound != "prefill" {
		t.Errorf("one prefill worker for eight decode workers: %+v", p)
	}
	if p := d.Point(9, 1, 2000); p.Bound != "kv capacity" || p.Sequences != d.MaxDecode {
		t.Errorf("nine prefill workers for one decode worker: %+v", p)
	}
	slow := roles()
	slow.Transfer = 1
	if p := slow.Point(4, 1, 500); p.Bound != "kv transfer" {
		t.Errorf("a second per transfer: %+v", p)
	}
}

func TestBadDisagg(t *testing.T) {
	for says, change := range map[string]func(*Disagg){
		"give a plan of each role":    func(d *Disagg) { d.Decode = nil },
		"give at least 1 and 2":       func(d *Disagg) { d.OSL = 1 },
		"tokens per prefill step":     func(d *Disagg) { d.PrefillTokens = 0 },
		"holds no sequence of 4500":   func(d *Disagg) { d.MaxDecode = 0 },
		"KV transfer of -1":           func(d *Disagg) { d.Transfer = -1 },
		"acceptance 2 of draft 1":     func(d *Disagg) { d.Spec = &Speculation{Drafter: MTP, Drafts: 1, Accept: []float64{2}} },
		"0 prefill and 8 decode GPUs": func(d *Disagg) { d.PrefillGPUs = 0 },
	} {
		d := roles()
		change(d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, says)
		}
	}
}

// A lone user waits for nobody: its first token comes after its own way in, its own
// reading and its own transfer, however many prompts a full step would hold, and a second
// worker of each role changes nothing.
func TestLoneUserOfTwoRolesWaitsForNobody(t *testing.T) {
	d := roles()
	d.Entry = 7e-3
	for _, isl := range []int64{1, 2, 64, 2048, 8192, 30000} {
		d.ISL = isl
		want := d.Entry + d.ReadTime(1) + d.Transfer
		for _, w := range []int{1, 2} {
			p := d.Point(w, w, 1)
			if math.Abs(float64(p.TTFT/want-1)) > 1e-9 || p.Queue > want*1e-9 || p.TPOT != d.TPOT(1) {
				t.Errorf("%d tokens, %d workers: first token after %g s, want %g; %+v", isl, w, float64(p.TTFT), float64(want), p)
			}
		}
	}
}

// With one prompt in a step and users without end the wait is that of Pollaczek and
// Khinchine, and a rising load never waits less. Of fewer users, who do not send while they
// wait, fewer wait, and more than there are never do.
func TestReadingWait(t *testing.T) {
	d := roles()
	d.PrefillTokens = d.ISL
	r := newRates(d)
	one := d.ReadTime(1)
	before := unit.Seconds(0)
	for rho := 0.01; rho < 1; rho += 0.01 {
		rate := rho / float64(one)
		const many = 1e12
		wait, read := r.reading(1, rate, rho, many, unit.Seconds(many/rate))
		if want := one * waiting(rho); math.Abs(float64(wait/want-1)) > 1e-6 || math.Abs(float64(read/one-1)) > 1e-9 || wait < before {
			t.Errorf("load %g: waits %g s and is read in %g, want %g and %g", rho, float64(wait), float64(read), float64(want), float64(one))
		}
		before = wait
		fewer := wait
		for _, users := range []float64{1000, 100, 10} {
			some, _ := r.reading(1, rate, rho, users, unit.Seconds(users/rate))
			if some > fewer*(1+1e-3) || float64(some)*rate > users {
				t.Errorf("load %g: %g users wait %g s, more %g s", rho, users, float64(some), float64(fewer))
			}
			fewer = some
		}
	}
}

// A longer prompt never has its first token earlier, nor more answers, whatever it leaves of a step of
// its replica, alike or not.
func TestLongerPromptsOfTwoRolesWaitLonger(t *testing.T) {
	for _, ranks := range []int{1, 4} {
		for _, spread := range []float64{0, 0.2 / math.Sqrt(3)} {
			for _, users := range []int{1, 8, 64} {
				before := DisaggPoint{}
				for _, isl := range []int64{500, 1023, 1024, 1025, 1365, 1366, 2047, 2048, 2049, 2730, 2731, 3500, 4095, 4096, 4097, 5000, 6826, 7000, 8191, 8192, 8193, 9000, 9999, 12000, 16383, 16384, 16385, 20000} {
					d := roles()
					d.PrefillTokens, d.PrefillRanks, d.PrefillGPUs, d.Spread, d.ISL = 8192*int64(ranks), ranks, 4*ranks, spread, isl
					p := d.Point(1, 1, users)
					if p.Steady < before.Steady*(1-2e-3) || p.Requests > before.Requests*(1+2e-3) && before.Requests > 0 {
						t.Errorf("%d replicas, spread %.2g, %d users, %d tokens: %g s and %g/s after %g s and %g/s", ranks, spread, users, isl, p.Steady, p.Requests, before.Steady, before.Requests)
					}
					before = p
				}
			}
		}
	}
}
