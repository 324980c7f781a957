package bench

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Defects of other tools, as ../../../shared/spec/bench_bugs.csv lists them with
// the right behaviour: a test each, here or in the packages named.
var bugs = []struct {
	ref, wrong string
	test       func(*testing.T) // nil: where
	where      string           // package and test
}{
	{"vllm-project/vllm#42661 (also #28183, #46652)", "a chunk of several tokens counted as one", testSeveralTokensPerChunk, ""},
	{"sgl-project/sglang#1340", "gaps between chunks called inter-token latency", testChunksOfTen, ""},
	{"vllm-project/guidellm#1144", "TPOT with the first token in it", testTPOTLeavesTheFirstTokenOut, ""},
	{"vllm-project/guidellm#1145", "a stall averaged away", testStallShows, ""},
	{"kubernetes-sigs/inference-perf#566 (issue #564)", "chunks tokenised alone", testChunksAreNotTokenised, ""},
	{"ray-project/llmperf#99", "the first token's wait among the gaps", testFirstWaitIsNoGap, ""},
	{"sgl-project/sglang#1005 (from vllm-project/vllm#7242)", "one gap too many", testFirstWaitIsNoGap, ""},
	{"sgl-project/sglang#36272", "no gap reported as 0", testNoGapIsNotZero, ""},
	{"vllm-project/vllm#13736", "a running mean stored as a request's TPOT", testTPOTOfEachRequest, ""},
	{"vllm-project/vllm-omni#6696", "a limit that nothing measured is met", testUnmeasuredObjectiveIsMissed, ""},
	{"vllm-project/vllm#6531", "different weights not told", testWeights, ""},
	{"vllm-project/vllm#3759 (fix #3768)", "the role taken for a token", testRoleIsNoToken, ""},
	{"vllm-project/vllm#15106", "the role ends the prefill", testRoleIsNoToken, ""},
	{"vllm-project/vllm#6064", "an empty answer with a TTFT of 0", testEmptyAnswer, ""},
	{"vllm-project/vllm#55508", "the chunk of usage extends E2E", testUsageChunkIsNoToken, ""},
	{"kubernetes-sigs/inference-perf#559 (PR #694)", "reasoning is no token", testReasoningIsToken, ""},
	{"sgl-project/genai-bench#86 and #164", "reasoning left out of the speed, or counted twice", testReasoningCountsOnce, ""},
	{"vllm-project/aibrix#1573", "TTFT waits for the end of reasoning", testThinkTags, ""},
	{"pegainfer-project/pegainfer#23", "40 ms of a delayed acknowledgement taken for the service's", testDelayedAcknowledgements, ""},
	{"ai-dynamo/aiperf#1424", "the client's metrics called the service's", testClientIsDescribed, ""},
	{"vllm-project/vllm#54101", "the wait for a place left out", testWaitForAPlaceCounts, ""},
	{"akopytov/sysbench#216; scylladb/scylla-bench#47; tsenart/vegeta#520", "coordinated omission", testStallDelaysNoSend, ""},
	{"modelscope/evalscope#1367", "the rate drifts", testRateDoesNotDrift, ""},
	{"vllm-project/vllm#43212", "sessions arrive by the service's speed", testSessionsArriveByThemselves, ""},
	{"vllm-project/vllm#45502", "a cap changes the law of arrivals in silence", testWaitForAPlaceCounts, ""},
	{"kubernetes-sigs/inference-perf#245", "a stage ends before its requests", testStageWaitsForItsRequests, ""},
	{"llm-d/llm-d-benchmark#261", "a busy client's delays taken for the service's", testBusyClientIsNotValid, ""},
	{"triton-inference-server/perf_analyzer#312 and #88", "late on every request", testRateDoesNotDrift, ""},
	{"modelscope/evalscope#1101", "a closed loop in waves", testClosedLoopHasNoWaves, ""},
	{"modelscope/evalscope#1101", "a load that was not put on, not told", testEmptyPlacesAreTold, ""},
	{"vllm-project/guidellm#487", "a hidden limit of connections", testManyAtOnce, ""},
	{"gpustack/gpustack#2324 (issue #1842)", "a hidden limit of connections", testManyAtOnce, ""},
	{"vllm-project/vllm#39963", "the upload counted as the service's time", testUploadIsApart, ""},
	{"vllm-project/vllm#21981", "a new connection for every request", testConnectionsAreReused, ""},
	{"vllm-project/guidellm#588", "a stage bounded by count alone", testStageEndsByTime, ""},
	{"vllm-project/guidellm#88", "one stage's count limits another", testStageEndsByTime, ""},
	{"vllm-project/guidellm#77", "cancelled answers' tokens dropped", testCancelledTokensCount, ""},
	{"vllm-project/guidellm#444", "failures among the latencies", testFailuresAreNoLatency, ""},
	{"vllm-project/guidellm#1085", "goodput of failures, and of what was not measured", testGoodput, ""},
	{"vllm-project/vllm#57519", "an error within the stream is a success", testErrorInStream, ""},
	{"vllm-project/vllm#26478", "failures hidden", testFailuresAreCounted, ""},
	{"gpustack/gpustack#1677", "a refusal retried in silence", testNothingIsRepeated, ""},
	{"modelscope/evalscope#1694", "percentiles of 0", testPercentilesAreOrdered, ""},
	{"NVIDIA/TensorRT-LLM#13638", "one straggler decides the throughput", testStraggler, ""},
	{"sgl-project/sglang#30918", "ramp and drain within the throughput", testStraggler, ""},
	{"vllm-project/vllm#52884, #54227 (fix #53920)", "prompts repeated over stages", testPromptsAreNew, ""},
	{"vllm-project/vllm#10753", "all prompts alike", testPromptsAreNew, ""},
	{"SemiAnalysisAI/InferenceX#1127 (review)", "a warm prefix cache not told", testPrefixCacheIsTold, ""},
	{"vllm-project/vllm#24937 and #17408", "prompts not as long as asked", testPromptLengthIsChecked, ""},
	{"vllm-project/vllm#24591 (and #26834)", "an empty prompt", testImpossibleLengthIsRefused, ""},
	{"sgl-project/genai-bench#171; vllm-project/tpu-inference#3298", "the client's count of prompt tokens", testPromptLengthIsChecked, ""},
	{"kubernetes-sigs/inference-perf#577, #580, #753", "two sources of counts in one distribution", testCountsHaveOneSource, ""},
	{"ai-dynamo/aiperf#644", "short answers unnoticed", testShortAnswersAreTold, ""},
	{"sgl-project/sglang#12601 and #20461", "trace rows without a prompt", testTraceIsExpanded, ""},
	{"sgl-project/sglang#39866", "reasoning sent back as content", testHistoryIsContent, ""},
	{"brave/brave-browser#52830; gramener/gramex#777", "an event split over two reads lost", nil, "openai TestSplitAnywhere"},
	{"ai-forever/gigachat-js#12", "a line cut at every colon", nil, "openai TestFields"},
}

func TestDefectsOfOthers(t *testing.T) {
	for _, b := range bugs {
		if b.test != nil {
			t.Run(b.wrong+" ("+b.ref+")", b.test)
		}
	}
}

// Every row of the list has its test, which is there, and no test is of a row that is not.
func TestEveryDefectHasATest(t *testing.T) {
	f, err := os.Open("../../../shared/spec/bench_bugs.csv")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no ../shared here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, b := range bugs {
		if known[b.ref] = true; b.test != nil {
			continue
		}
		folder, name, _ := strings.Cut(b.where, " ")
		files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			source, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(source), "\nfunc "+name+"(t *testing.T) {")
		}) {
			t.Errorf("%s: no test %s in package %s", b.ref, name, folder)
		}
	}
	for _, r := range rows[1:] {
		if !known[r[0]] {
			t.Errorf("no test of %s: %s", r[0], r[1])
		}
		delete(known, r[0])
	}
	for ref := range known {
		t.Errorf("%s is no row of the list", ref)
	}
}
