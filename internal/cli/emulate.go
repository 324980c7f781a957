package cli

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/emulate"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// emulateFlags is the server as the user typed it.
type emulateFlags struct {
	deployment                   func() (*ask.Deployment, *api.InferRequest, api.SimulateLimits, error)
	listen, served, record       string
	context, interval, reasoning int64
	speed                        float64
	answer                       workload.Length
	faults                       emulate.Faults
}

func newEmulateCommand(env *Env) *cobra.Command {
	f := &emulateFlags{}
	cmd := &cobra.Command{
		Use:     "emulate",
		GroupID: groupMeasure,
		Short:   "Serve an OpenAI-compatible endpoint whose timing is a simulated deployment's",
		Long: `Answer /v1/chat/completions and /v1/completions as a deployment would that need not be there: the
text is filler, the times are those of the event simulation of ` + "`simulate`" + `, with its queue, KV blocks,
chunked prompts and preemption. /metrics carries vLLM's names; /v1/models and /health are there too.

Prompts are counted without a vocabulary: token ids as they are, text by its words, and four tokens
more per chat message and three per chat. Answers last max_tokens, unless --osl says when they
end by themselves; ignore_eos and min_tokens count then.

--fault makes a share of requests fail: 429, 503 (with Retry-After), 500, slow-headers, stall, reset,
truncate, half-event, garbage, error. --record writes what the server did, request by request, which is
the truth to hold a client against. An interrupt lets answers underway end, for 5 s at most, and
prints what was done. docs/emulate.md says more.`,
		Example: `  ridgeline emulate --listen 127.0.0.1:8000 --model llama-3.1-8b --cluster h100x1 --plan tp=1
  ridgeline emulate --listen :8000 --model deepseek-r1 --cluster h200x8 --plan tp=8 --spec mtp:1:0.85 --stream-interval 10
  ridgeline emulate --model llama-3.1-8b --cluster h100x2 --plan replicas=2 --fault 503=1%:2s,reset=0.5% --record truth.jsonl`,
		Args: positional(0, 0, ""),
	}
	f.register(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, warnings, err := f.config(cmd, env, *asJSON)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			fmt.Fprintf(env.Stderr, "warning: %s\n", w)
		}
		return f.serve(cmd.Context(), env, c, *asJSON)
	}
	return cmd
}

func (f *emulateFlags) register(cmd *cobra.Command) {
	f.deployment = deploymentQuestion(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8000", "`ADDRESS` to serve on; port 0 takes a free one")
	fs.StringVar(&f.served, "served-model-name", "", "`NAME` that clients ask for (default: --model as given)")
	countFlag(cmd, &f.context, "context", "tokens of a usual request, by which memory is shared out (default 8192, or the model's longest)")
	fs.Var(ask.Quantity(&f.answer, workload.ParseLength, "N", ""), "osl", "tokens after which answers end by themselves: 200, 100..300 or 200+-20% (default: at max_tokens)")
	countFlag(cmd, &f.interval, "stream-interval", "tokens per streamed chunk after the first (default 1)")
	countFlag(cmd, &f.reasoning, "reasoning", "tokens of a chat answer that go to the reasoning channel first (default 0)")
	fs.Float64Var(&f.speed, "speed", 1, "simulated time over real time: 10 answers ten times as fast")
	fs.Var(ask.Quantity(&f.faults, emulate.ParseFaults, "LIST", ""), "fault", "shares of requests that fail: KIND=SHARE[:TIME], such as 503=1%:2s,stall=0.01:5s")
	fs.StringVar(&f.record, "record", "", "write what the server did with every request to `FILE`, one JSON object per line")
	var kinds []string
	for _, k := range emulate.FaultKinds() {
		kinds = append(kinds, k+"=1%")
	}
	completions(cmd, map[string]cobra.CompletionFunc{"fault": completeWords(kinds), "listen": completeWords([]string{"127.0.0.1:8000"}),
		"speed": completeWords([]string{"1", "10", "100"})})
}

// config resolves names, and builds the service.
func (f *emulateFlags) config(cmd *cobra.Command, env *Env, asJSON bool) (c emulate.Config, warnings []string, err error) {
	given := cmd.Flags().Changed
	if err := checkAnswers(cmd, "record"); err != nil {
		return c, nil, err
	}
	q, service, limits, err := f.deployment()
	if err != nil {
		return c, nil, err
	}
	if err := notEmpty(cmd, "listen", "served-model-name"); err != nil {
		return c, nil, err
	}
	if err := notZero(cmd, "context", "stream-interval"); err != nil {
		return c, nil, err
	}
	if !(f.speed > 0 && f.speed <= fastest) {
		return c, nil, usagef("--speed %g: give more than 0 and at most %g", f.speed, float64(fastest))
	}
	if f.interval > workload.MaxTokens || f.reasoning > workload.MaxTokens {
		return c, nil, usagef("--stream-interval and --reasoning are at most %d tokens", workload.MaxTokens)
	}
	if m := service.Model.MaxContext; m > 0 && int64(f.answer.High) > m {
		return c, nil, usagef("--osl %s: the model's longest context is %d tokens: shorten the answers", cmd.Flag("osl").Value, m)
	}
	usual := f.context
	if !given("context") {
		usual = infer.DefaultContext
		if m := service.Model.MaxContext; m > 0 {
			usual = min(usual, m)
		}
	}
	if usual < 3 {
		return c, nil, usagef("--context %d: give at least 3 tokens", usual)
	}
	if m := service.Model.MaxContext; m > 0 && usual > m {
		return c, nil, usagef("--context %d: the model's longest context is %d tokens", usual, m)
	}
	d, err := api.Deploy(service, &limits, usual-2, 2, 0)
	if err != nil {
		return c, nil, unfit(env, asJSON, service, "emulate", err)
	}
	c = emulate.Config{Service: d.Service, Model: cmd.Flags().Lookup("model").Value.String(), Seed: q.Seed(), Speed: f.speed, Interval: int(f.interval),
		Answer: f.answer, Reasoning: int(f.reasoning), Faults: f.faults}
	if f.served != "" {
		c.Model = f.served
	}
	warnings = d.Warnings.Texts()
	if most := d.Service.Longest(); most < usual {
		warnings = append(warnings, fmt.Sprintf("the KV cache of a replica holds %d tokens: requests of more, though --context counts on %d, are refused", most, usual))
	}
	return c, warnings, nil
}

// fastest is the highest speed: beyond it a step is shorter than a timer's grain.
const fastest = 1e6

// serve runs the server until an interrupt and says what it did.
func (f *emulateFlags) serve(ctx context.Context, env *Env, c emulate.Config, asJSON bool) error {
	file := &recordFile{name: f.record}
	log := emulate.NewLog(file)
	if f.record != "" {
		c.Observe = func(r *emulate.Record) {
			if err := log.Add(r); err != nil {
				fmt.Fprintf(env.Stderr, "warning: --record %s: %v: this request and those after it are not in the file\n", f.record, err)
			}
		}
	}
	s, err := emulate.New(c)
	if err != nil {
		return badInput(err)
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return badInput(fmt.Errorf("--listen %s: %w: give a free address such as 127.0.0.1:8000", f.listen, err))
	}
	if f.record != "" {
		if err := file.open(); err != nil {
			return errors.Join(usagef("--record: %w: name a file that can be written", err), l.Close())
		}
	}
	fmt.Fprintf(env.Stderr, "emulating %s on http://%s/v1 (interrupt to stop)\n", c.Model, l.Addr())
	err = s.Serve(ctx, l)
	lost := log.Err()
	if lost != nil {
		file.wait.Reset() // the first that failed is counted among those that are missing
	}
	if lost = errors.Join(lost, file.close()); lost != nil {
		lost = fmt.Errorf("--record %s: %w", f.record, lost)
	}
	if err != nil {
		return errors.Join(err, lost)
	}
	sum := s.Summary()
	if asJSON {
		err = report.JSON(env.Stdout, report.NewEmulateDoc(c.Model, &sum))
	} else {
		err = env.print(func(p *report.Page) { report.Emulate(p, c.Model, &sum) })
	}
	return errors.Join(err, lost)
}
