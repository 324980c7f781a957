package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/launch"
)

// settingsText is what an import understood beside degrees, in the engine's words and
// counts.
func settingsText(im *launch.Imported) string {
	var parts []string
	add := func(given bool, format string, args ...any) {
		if given {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	if b := im.Batch; b != nil {
		add(b.Precision != "", "precision %s", b.Precision)
		add(b.Global > 0, "%s per step", Plural(b.Global, "sequence"))
		add(b.Seq > 0, "%s tokens each", Grouped(b.Seq))
		add(b.MTP > 0, "%s trained along", Plural(b.MTP, "MTP module"))
	}
	if s := im.Settings; s != nil {
		add(s.Quantization != "", "quantisation %s", s.Quantization)
		add(s.KV != "", "KV cache %s", s.KV)
		add(s.Speculation != "", "speculation %s", s.Speculation)
		add(s.PrefixCache != nil, "prefix cache %s", onOff(s.PrefixCache))
		add(s.TwoBatch, "two batches overlap")
		add(s.MaxContext > 0, "context %s", Grouped(s.MaxContext))
		add(s.MaxRequests > 0, "at most %s", Plural(s.MaxRequests, "request"))
		add(s.BatchTokens > 0, "at most %s tokens a step", Grouped(s.BatchTokens))
		add(s.StreamInterval > 1, "streams every %s tokens", Grouped(s.StreamInterval))
	}
	return strings.Join(parts, "; ")
}

func onOff(b *bool) string {
	if b != nil && *b {
		return "on"
	}
	return "off"
}

// orWord is text, or a word that stands for what the command does not say.
func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
}

func orN(n int64) string {
	if n == 0 {
		return "N"
	}
	return fmt.Sprint(n)
}

// predictCommand asks what Ridgeline predicts for an imported plan, under the settings
// that were read; without its --plan the same question says what would be better.
func predictCommand(im *launch.Imported) string {
	model, gpus := launch.Quote(orWord(im.Model, "MODEL")), orN(int64(im.GPUs))
	if b := im.Batch; b != nil {
		text := fmt.Sprintf("ridgeline train --model %s --cluster GPUx%s --plan %s --global-batch %s --seq %s", model, gpus, im.PlanText, orN(b.Global), orN(b.Seq))
		if b.Precision != "" {
			text += " --precision " + b.Precision
		}
		if b.MTP > 0 {
			text += fmt.Sprintf(" --mtp %d", b.MTP)
		}
		return text
	}
	plan := im.PlanText
	if len(im.Roles) > 0 {
		plan, gpus = launch.Quote(im.Deployment), "N"
	}
	text := fmt.Sprintf("ridgeline infer --model %s --cluster GPUx%s --plan %s --isl N --osl N --engine %s", model, gpus, plan, im.Engine)
	return strings.Join(append([]string{text}, im.Asked().Flags()...), " ")
}

// inferWords are the formats and the speculation that a prediction took, as infer's flags.
func inferWords(r *api.InferRequest) (words []string) {
	if len(r.Weights) > 0 {
		words = append(words, "--weights", r.Weights[0].String())
	}
	if len(r.KV) > 0 {
		words = append(words, "--kv", r.KV[0].String())
	}
	if len(r.Speculation) > 0 {
		words = append(words, "--spec", r.Speculation[0].String())
	}
	if len(r.Overlap) > 0 && r.Overlap[0] {
		words = append(words, "--overlap", "two-batch")
	}
	return words
}

// launchWords writes a better layout for the engine that runs: what infer takes in other
// words launch takes as the engine's.
func launchWords(im *launch.Imported, r *api.InferRequest, b *deploy.Point) string {
	words := []string{"ridgeline launch --engine", im.Engine, "--target TARGET --model", launch.Quote(r.Model.Name)}
	if im.Model != "" && im.Model != r.Model.Name && im.Model != r.Model.HFID {
		words = append(words, "--model-path", launch.Quote(im.Model))
	}
	words = append(words, "--plan", launch.Quote(b.Layout.String()))
	for _, limit := range []struct {
		flag string
		n    int64
	}{{"--batch-tokens", b.Chunk}, {"--max-sequences", int64(b.Slots)}} {
		if limit.n > 0 {
			words = append(words, limit.flag, fmt.Sprint(limit.n))
		}
	}
	if s := im.Settings; s != nil {
		if s.PrefixCache != nil {
			words = append(words, "--prefix-cache", onOff(s.PrefixCache))
		}
		if s.MaxContext > 0 {
			words = append(words, "--max-context", fmt.Sprint(s.MaxContext))
		}
		if s.StreamInterval > 0 {
			words = append(words, "--stream-interval", fmt.Sprint(s.StreamInterval))
		}
	}
	text := strings.Join(append(words, inferWords(r)...), " ")
	return strings.NewReplacer(" --weights ", " --quantization ", " --overlap two-batch", " --overlap").Replace(text)
}
