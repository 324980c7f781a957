package serve

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Of two roles, too, simulation and closed form are two views of one price, from one user
// to a prefill worker that is hardly idle: lengths within 20 % of the nominal ones agree
// within 3 % and 10 % of TTFT (two prompts read at once are a sum of whole steps, and one
// of 77 tokens takes a tile more than one of 64), equal ones, whose users march in step,
// within 2 %. The first round of the former, whose prompts reach the queue at once in the formula, within
// 15 % of those that do so in the simulation, too.
func TestTwoRolesAgreeWithTheClosedForm(t *testing.T) {
	eight := plan.Serving{TP: 8, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	for _, c := range []struct {
		model, cluster string
		isl, osl       int
		users          []int
	}{
		{"deepseek-r1", "h200x16", 2048, 200, []int{1, 2, 4, 16, 24, 48, 64, 96}}, // busy 0.92 of the time
		{"qwen3-32b", "h20x16", 1000, 100, []int{4, 16}},                          // 0.98
		{"qwen3-32b", "h20x16", 1, 64, []int{1, 4}},
		{"qwen3-32b", "h20x16", 64, 64, []int{1, 16}},
	} {
		e := real(t, c.model, c.cluster, eight, "sglang")
		setup := e.Setup()
		link, err := e.KVLink(&eight)
		if err != nil {
			t.Fatal(err)
		}
		s := service(t, e)
		decode := s.Engine
		s.Instances, s.Decode, s.DecodeInstances, s.Transfer = 1, &decode, 1, Over(link, e.KVBytesPerToken())
		d := &infer.Disagg{Prefill: e, Decode: e, PrefillGPUs: 8, DecodeGPUs: 8, ISL: int64(c.isl), OSL: int64(c.osl), PrefillTokens: setup.MaxBatchTokens,
			MaxDecode: 1024, TransferGPUs: link.GPUs, Entry: setup.Profile.Entry(int64(c.isl))}
		_, d.Transfer, _ = link.Transfer(infer.CacheSize(d.ISL, e.KVBytesPerToken()))
		for _, n := range c.users {
			for name, x := range map[string]struct {
				load       *workload.Workload
				most, ttft float64
			}{"varied": {closed(t, c.isl, c.osl, n, 20*max(n, 4)), 0.03, 0.10}, "equal": {alike(t, s, c.isl, c.osl, n, 10*max(n, 4)), 0.02, 0.02}} {
				d.InStep = name == "equal"
				p := d.Point(1, 1, n)
				r := run(t, s, x.load, Options{})
				m := r.Mean()
				if name == "varied" { // all of its users come at once
					round, atOnce := *x.load, *s
					round.Requests, atOnce.Engine.Entry = round.Requests[:n], 0
					burst := s.Engine.Entry.Seconds() + run(t, &atOnce, &round, Options{}).Whole.TTFT.Mean
					if gap := burst/float64(p.Burst) - 1; math.Abs(gap) > 0.15 {
						t.Errorf("%s, %d tokens, %d users: the first round waits %.4g s, closed form %.4g (%+.1f %%)", c.model, c.isl, n, burst, float64(p.Burst), 100*gap)
					}
				}
				for what, v := range map[string][3]float64{"tpot": {m.TPOT.Mean, float64(p.TPOT), x.most}, "output": {m.OutputRate, p.TokensPerSecond, x.most}, "ttft": {m.TTFT.Mean, float64(p.Steady), x.ttft}} {
					if gap := v[0]/v[1] - 1; math.Abs(gap) > v[2] {
						t.Errorf("%s, %d tokens of %s lengths, %d users: %s %.4g, closed form %.4g (%+.1f %%)", c.model, c.isl, name, n, what, v[0], v[1], 100*gap)
					}
				}
			}
		}
	}
}
