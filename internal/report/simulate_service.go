package report

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// simulateLoad is what the service gave and how full it was.
func simulateLoad(p *Page, a *api.SimulateAnswer) {
	r, m := a.Result, a.Result.Mean()
	p.section("Service")
	gpus := float64(a.Layout.GPUs())
	p.Facts(
		[2]string{"requests", requestsText(r)},
		[2]string{"output", fmt.Sprintf("%s tokens/s, %s per GPU; %s answers/s", Grouped(int64(m.OutputRate+0.5)), shortFloat(m.OutputRate/gpus), shortFloat(m.RequestRate))},
		[2]string{"cost", simulatedCost(a)},
		[2]string{"prompts", promptsText(m)},
		[2]string{"busy", busyText(m)},
		[2]string{"batch", levelText(&m.Batch, func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }) + " sequences in a step"},
		[2]string{"kv cache", levelText(&m.KV, unit.FormatPercent) + " of the blocks held"},
		[2]string{"preempted", preemptedText(m)})
}

// simulatedCost is the price of what was generated; "" without a price.
func simulatedCost(a *api.SimulateAnswer) string {
	usd, ok := a.Cost(a.Result.Mean().OutputRate)
	if !ok {
		return ""
	}
	return perMillionText(usd, a.Variant.Cluster.PricePerGPUHour)
}

func requestsText(r *serve.Result) string {
	s := fmt.Sprintf("%s came, %s answered", Grouped(int64(r.Arrived)), Grouped(int64(r.Done)))
	if r.Unfinished > 0 {
		s += fmt.Sprintf(", %s under way", Grouped(int64(r.Unfinished)))
	}
	if r.Dropped > 0 {
		s += fmt.Sprintf(", %s dropped", Grouped(int64(r.Dropped)))
	}
	return s
}

func promptsText(m *serve.Summary) string {
	s := fmt.Sprintf("%s tokens/s read", Grouped(int64(m.PromptRate+0.5)))
	if m.CachedShare > 0 {
		s += fmt.Sprintf(", %s found in the prefix cache", unit.FormatPercent(m.CachedShare))
	}
	return s
}

func busyText(m *serve.Summary) string {
	s := unit.FormatPercent(m.Busy) + " of the time"
	if m.Reading > 0 {
		s = fmt.Sprintf("reading %s of the time, generating %s", unit.FormatPercent(m.Reading), unit.FormatPercent(m.Busy))
	}
	return s + fmt.Sprintf(", steps of %s on average", unit.FormatSeconds(unit.Seconds(m.MeanStep)))
}

func levelText(d *serve.Dist, format func(float64) string) string {
	return fmt.Sprintf("mean %s, p50 %s, p99 %s, max %s", format(d.Mean), format(d.P50), format(d.P99), format(d.Max))
}

func preemptedText(m *serve.Summary) string {
	if m.Preempted == 0 {
		return ""
	}
	return Plural(m.Preempted, "time") + " a sequence lost its KV cache and was read again"
}
