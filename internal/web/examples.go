package web

import "maps"

// example is a body that its operation answers quickly: the description shows it,
// and tests send it.
type example map[string]any

// with is the example with other members too.
func (e example) with(more example) example {
	all := maps.Clone(e)
	maps.Copy(all, more)
	return all
}

var (
	trainExample    = example{"model": "llama-3.1-8b", "cluster": "h100x16", "global_batch": 128, "seq": 8192}
	planExample     = trainExample.with(example{"plan": "tp=2,pp=1,zero=1"})
	whyNotExample   = trainExample.with(example{"plan": "tp=8,pp=2,zero=1", "against": "fsdp"})
	sweepExample    = trainExample.with(example{"sweep": "network", "plans": []string{"fsdp", "tp=2,pp=1,zero=1"}})
	priceExample    = trainExample.with(example{"plans": []any{"fsdp", example{"tp": 2, "pp": 1, "zero": 1}, "tp=64"}})
	inferExample    = example{"model": "llama-3.1-8b", "cluster": "h100x2", "isl": 1024, "osl": 256, "concurrency": "1..64", "price": 2.5}
	ratioExample    = example{"model": "llama-3.1-8b", "cluster": "h100x8", "isl": 2048, "osl": 256, "concurrency": "1..256", "plan": "prefill:tp=1;decode:tp=1"}
	simulateExample = example{"model": "llama-3.1-8b", "cluster": "h100x1", "plan": "tp=1", "rate": 4, "isl": "512+-20%", "osl": 64, "requests": 200}
	benchExample    = example{"url": "http://127.0.0.1:8000/v1", "model": "llama-3.1-8b", "isl": 512, "osl": 64, "concurrency": "1,8"}
	scheduleExample = example{"name": "1f1b", "stages": 4, "microbatches": 8, "f": "10ms"}
)
