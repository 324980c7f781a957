package deploy

import "testing"

// Between loads that double the best under an objective lies at the last that meets it: a
// little more misses, and no listed load gives more.
func TestBetween(t *testing.T) {
	for _, plan := range []string{"", "tp=4,replicas=2", "prefill:tp=4,workers=1;decode:tp=4,workers=1"} {
		q, v := ask(t, "llama-3.1-70b", "h100x8", plan, 1024, 256, 1, 2, 4, 8, 16, 32, 64, 128, 256)
		q.SLO = SLO{TTFT: 1, TPOT: 40e-3}
		listed := search(t, q, v).Best
		q.Between = true
		o := search(t, q, v)
		b := o.Best
		if !b.Refined || !q.SLO.Meets(b) || b.PerGPU() <= listed.PerGPU() || b.Concurrency&(b.Concurrency-1) == 0 {
			t.Errorf("plan %q: %d in flight (%s) give %.0f, %d listed (%s) %.0f", plan, b.Concurrency, b, b.PerGPU(), listed.Concurrency, listed, listed.PerGPU())
		}
		if o.At(b.Concurrency) != b {
			t.Errorf("plan %q: the load %d has no row", plan, b.Concurrency)
		}
		at, err := q.pricer(v, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		more := b.Concurrency + b.Concurrency/8
		if p, err := at(more - more%2); err != nil || q.SLO.Meets(p) && p.PerGPU() > b.PerGPU() {
			t.Errorf("plan %q: %d in flight still meet the objective: %v", plan, more, err)
		}
	}
}

// An objective that any wait meets is not met by a queue that gives no more: what it names waits no
// longer for its first token than a stricter one asks, and gives as much.
func TestNoQueueForNothing(t *testing.T) {
	q, v := ask(t, "llama-3.1-70b", "h100x8", "", 2048, 512, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
	q.Between = true
	q.SLO = SLO{TPOT: 20e-3}
	loose := search(t, q, v).Best
	q.SLO.TTFT = 1
	strict := search(t, q, v).Best
	if loose.Queued || float64(loose.TTFT) > 1 || loose.PerGPU() < strict.PerGPU()*(1-alike) {
		t.Errorf("%s, %d in flight: %.2f s, %.1f tokens/s a GPU; with a stricter objective %s, %d in flight: %.2f s, %.1f", loose, loose.Concurrency, loose.TTFT, loose.PerGPU(), strict, strict.Concurrency, strict.TTFT, strict.PerGPU())
	}
}
