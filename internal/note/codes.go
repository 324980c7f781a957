package note

// What was assumed of a machine that nobody measured.
const (
	RateAssumed       Code = "rate_assumed"
	GEMMAssumed       Code = "gemm_assumed"
	NICAssumed        Code = "nic_assumed"
	NICLatencyAssumed Code = "nic_latency_assumed"
	LinksOfPCIe       Code = "links_of_pcie"
	LinksOfHopper     Code = "links_of_hopper"
	NoKernels         Code = "no_kernels"
	MeanKernels       Code = "mean_kernels"
	KernelsOf         Code = "kernels_of"
	AttentionAssumed  Code = "attention_assumed"
	BackwardAssumed   Code = "backward_assumed"
	NoProducts        Code = "no_products"
	ExpertsAssumed    Code = "experts_assumed"
	EngineAssumed     Code = "engine_assumed"
)

// What a reader should know of a training plan.
const (
	NarrowMemory    Code = "narrow_memory"
	ZeROPipeline    Code = "zero_pipeline"
	StatesOnHost    Code = "states_on_host"
	BatchPadded     Code = "batch_padded"
	FailuresLeftOut Code = "failures_left_out"
)

// What a reader should know of a deployment.
const (
	LatentCopies    Code = "latent_copies"
	HeadCopies      Code = "head_copies"
	RTTIdle         Code = "rtt_idle"
	PlanRTTIdle     Code = "plan_rtt_idle"
	QueueLimit      Code = "queue_limit"
	QueueRoom       Code = "queue_room"
	EdgeOfLoads     Code = "edge_of_loads"
	SlowerCache     Code = "slower_cache"
	NamedFormat     Code = "named_format"
	RolesKept       Code = "roles_kept"
	KVLinkAssumed   Code = "kv_link_assumed"
	KVLinkInside    Code = "kv_link_inside"
	PriorityAssumed Code = "priority_assumed"
	RequestsDropped Code = "requests_dropped"
)

// What a reader should know of a measurement.
const (
	HighestMet      Code = "highest_met"
	SearchClient    Code = "search_client"
	NoPromptCount   Code = "no_prompt_count"
	OtherTokenizer  Code = "other_tokenizer"
	OddPromptCount  Code = "odd_prompt_count"
	AnswerLengths   Code = "answer_lengths"
	EOSNotIgnored   Code = "eos_not_ignored"
	PromptLengths   Code = "prompt_lengths"
	CountedByChunks Code = "counted_by_chunks"
	TokensPerChunk  Code = "tokens_per_chunk"
	DelayedACK      Code = "delayed_ack"
	WaitedForPlace  Code = "waited_for_place"
	LeftLate        Code = "left_late"
	NeverSent       Code = "never_sent"
	ShortSteady     Code = "short_steady"
	FewInFlight     Code = "few_in_flight"
	RecordsCut      Code = "records_cut"
	PrefixHits      Code = "prefix_hits"
	TTFTApart       Code = "ttft_apart"
	ChunksTogether  Code = "chunks_together"
	OtherTool       Code = "other_tool"
)
