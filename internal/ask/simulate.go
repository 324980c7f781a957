package ask

import (
	"fmt"
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Simulate is a question to the simulator: the deployment and the load as they
// were typed.
type Simulate struct {
	*Deployment
	Most int // requests that it may send, 0 = workload.MaxRequests

	trace                 string
	rate                  float64
	concurrency, requests int64
	duration, ramp        unit.Seconds
	isl, osl              workload.Length
	arrival               workload.Arrival
	slo                   deploy.SLO
	at                    serve.Statistic
	measured              []infer.Measured
	price                 float64
}

// NewSimulate is a question with nothing given.
func NewSimulate() *Simulate {
	f := &Simulate{Deployment: NewDeployment("simulate")}
	fs := f.Flags
	Text(fs, &f.trace, "trace", "replay the trace in `FILE`: Azure CSV, Mooncake or engine JSON lines, records; also .gz")
	fs.Var(Quantity(&f.rate, parseRate, "R", ""), "rate", "requests per second that arrive")
	Count(fs, &f.concurrency, "concurrency", "users of a closed loop; with --trace they send its requests one by one")
	fs.Var(Quantity(&f.arrival, workload.ParseProcess, "LAW", ""), "arrival", "of --rate: poisson, constant or gamma:CV (default poisson)")
	fs.Var(Quantity(&f.isl, workload.ParseLength, "N", ""), "isl", "input tokens per request: 1024, 820..1024 or 1024+-20%")
	fs.Var(Quantity(&f.osl, workload.ParseLength, "N", ""), "osl", "output tokens per request, likewise")
	Count(fs, &f.requests, "requests", "requests to send (default 1000, in a closed loop 10 per user and at least 200, the whole trace)")
	Duration(fs, &f.duration, "duration", "of the arrivals, in place of --requests")
	Duration(fs, &f.ramp, "ramp", "over which the users of a closed loop come (default: one answer, so that no burst is among what is measured; 0 s where equal requests march in step; 0s: all at once)")
	fs.Var(Quantity(&f.slo, deploy.ParseSLO, "SLO", ""), "slo", "objective such as ttft=2s,tpot=50ms; exit 4 where it is missed")
	fs.Var(Quantity(&f.at, serve.ParseStatistic, "STAT", ""), "slo-at", "what the objective holds for: mean, p50, p90, p95 or p99 (default mean)")
	fs.Var(Quantity(&f.measured, infer.ParseMeasured, "LIST", ""), "calibrate", "measured points with the users of --concurrency in flight, that the times are scaled to: tpot=52.8ms@rtt=0.193ms[,...]")
	fs.Var(Quantity(&f.price, parsePrice, "USD", ""), "price", "USD per GPU-hour (default: the cluster file's)")
	return f
}

// parseRate reads requests per second.
func parseRate(text string) (float64, error) {
	n, err := unit.ParseNumber(text, "a rate of requests per second")
	if err != nil {
		return 0, err
	}
	return n, workload.Arrival{Rate: n}.Check()
}

// Request resolves the question.
func (f *Simulate) Request(find Finder) (*api.SimulateRequest, error) {
	service, limits, err := f.Deployment.Request(find)
	if err != nil {
		return nil, err
	}
	if f.Flags.Changed("calibrate") && !f.Flags.Changed("concurrency") {
		return nil, fmt.Errorf("--calibrate needs --concurrency: a time per token is measured with so many requests in flight, of which a rate or a trace says nothing")
	}
	service.Measured = f.measured
	if f.Flags.Changed("price") {
		setPrice(service.Clusters[0], f.price)
	}
	r := &api.SimulateRequest{Service: service, Limits: limits, Seed: f.Seed(), At: f.at}
	for _, x := range []struct {
		from unit.Seconds
		into *time.Duration
	}{{f.slo.TTFT, &r.SLO.TTFT}, {f.slo.TPOT, &r.SLO.TPOT}} {
		if *x.into, err = serve.Nanoseconds(x.from); err != nil {
			return nil, fmt.Errorf("--slo: %w", err)
		}
	}
	if r.Load, err = f.load(find); err != nil {
		return nil, err
	}
	if limits.Priority && !slices.ContainsFunc(r.Load.Requests, func(q workload.Request) bool { return q.Priority != 0 }) {
		return nil, fmt.Errorf("--priority: no request of this load has one, give a --trace of records with the key priority")
	}
	if f.Flags.Changed("ramp") {
		d, err := serve.Nanoseconds(f.ramp)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--ramp: %w", err)
		case r.Load.Concurrency == 0:
			return nil, fmt.Errorf("--ramp needs --concurrency: a rate and a trace say when requests come")
		}
		r.Ramp = &d
	}
	return r, nil
}
