package deploy

// What may bind a deployment beside the resources of package cost (compute, hbm,
// nvlink, network, and latency between nodes): the engine's own time, reading
// prompts where that takes more than generating, the transfer of caches, or the
// queue where more requests are in flight than the engines take in.
const (
	BoundOverhead = "overhead" // scheduler, launches, sampling
	BoundPrefill  = "prefill"
	BoundTransfer = "kv transfer"
	BoundQueue    = "queue"
)
