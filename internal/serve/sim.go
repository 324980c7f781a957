package serve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ridgeline/ridgeline/internal/des"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Options of a run.
type Options struct {
	Seed     uint64 // of speculative acceptance; workloads have their own
	Tokens   bool   // keep the time of every token
	SLO      SLO
	Progress func(done, all int) // called now and then
}

// event is what happens at a time.
type event struct {
	kind eventKind
	in   *instance
	seq  *sequence
}

type eventKind uint8

const (
	arrives eventKind = iota // the next request of the workload
	comes                    // seq was submitted
	ends                     // the current step of in
	enters                   // seq has reached the queue of its rank
	moves                    // the KV cache of seq has reached the decode side
)

// Priorities of events at the same nanosecond: who arrives then is seen by the
// step that starts then.
const (
	first = iota
	second
)

// simulation is a run under way.
type simulation struct {
	service  *Service
	load     *workload.Workload
	options  Options
	clock    des.Queue[event]
	readers  []*instance // all of them where the service is not disaggregated
	decoders []*instance
	readTurn router
	nextTurn router
	records  []workload.Record
	issued   int                             // requests whose arrival was put
	gave     func(r *workload.Record, n int) // told of tokens as they come, or nil
	flow     flow
	ways     *rand.Rand // times of requests on their way to the queue
	inStep   bool       // that time is the same for all
	turns    int        // requests that have reached a queue
	watch    watch
}

// Run simulates the whole workload on the service. When ctx is cancelled it
// stops where it is and gives what it has, with Result.Partial set; records of
// requests under way are Unfinished. Errors are bad input, or a price of a step
// that is no time.
func Run(ctx context.Context, service *Service, load *workload.Workload, options Options) (*Result, error) {
	if err := some(load); err != nil {
		return nil, err
	}
	s, err := newSimulation(service, load, options)
	if err != nil {
		return nil, err
	}
	const often = 256 // events between looks at ctx
	for n := 0; ; n++ {
		if n%often == 0 {
			if ctx.Err() != nil {
				return s.result(true)
			}
			if options.Progress != nil {
				options.Progress(s.flow.Done+s.flow.Dropped, len(load.Requests))
			}
		}
		e, ok := s.clock.Take()
		if !ok {
			break
		}
		if err := s.handle(e); err != nil {
			return nil, err
		}
	}
	if left := s.flow.underway(); left > 0 {
		return nil, fmt.Errorf("the simulation stopped with %d requests under way: a defect", left)
	}
	return s.result(false)
}

// some complains about a load without requests.
func some(load *workload.Workload) error {
	if len(load.Requests) == 0 {
		return fmt.Errorf("the workload has no request")
	}
	return nil
}

// newSimulation sets everything up and puts the first arrivals.
func newSimulation(service *Service, load *workload.Workload, options Options) (*simulation, error) {
	own := *service
	if err := own.check(load.BlockTokens); err != nil {
		return nil, err
	}
	s := &simulation{service: &own, load: load, options: options, records: make([]workload.Record, len(load.Requests))}
	s.watch = newWatch(&own, len(load.Requests))
	s.ways, s.inStep = workload.Stream(options.Seed, workload.Entries), own.inStep(load)
	for i := range own.Instances {
		s.readers = append(s.readers, s.instance(i, &own.Engine, own.Decode != nil))
	}
	if own.Decode != nil {
		for i := range own.DecodeInstances {
			s.decoders = append(s.decoders, s.instance(own.Instances+i, own.Decode, false))
		}
	}
	s.readTurn, s.nextTurn = newRouter(own.Routing, s.readers), newRouter(own.Routing, s.decoders)
	starts := workload.Stream(options.Seed, workload.Starts)
	for range max(load.Concurrency, 1) {
		if err := s.issue(time.Duration(starts.Float64() * float64(load.Ramp))); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// issue puts the arrival of the next request, if there is one: at its time in an
// open workload, after a time in a closed loop.
func (s *simulation) issue(after time.Duration) error {
	if s.issued == len(s.records) {
		return nil
	}
	at := s.clock.Now() + after
	if s.load.Concurrency == 0 {
		at = s.load.Requests[s.issued].At
	}
	s.issued++
	return s.clock.Put(at, first, event{kind: arrives})
}

func (s *simulation) instance(number int, e *Engine, prefill bool) *instance {
	in := &instance{number: number, engine: e, prefill: prefill, current: newStep(e.Ranks), ahead: newStep(e.Ranks)}
	for i := range e.Ranks {
		in.ranks = append(in.ranks, &rank{in: in, engine: e, pool: newPool(e, s.load.BlockTokens), counts: &s.flow,
			draw: workload.Stream(s.options.Seed^uint64(number*e.Ranks+i)<<32, workload.Acceptance)})
	}
	return in
}

func newStep(ranks int) *step { return &step{items: make([][]item, ranks), batch: infer.Batch{}} }

// waiting is the requests in queues.
func (s *simulation) waiting() (n int) {
	for _, in := range s.readers {
		n += in.waiting()
	}
	for _, in := range s.decoders {
		n += in.waiting()
	}
	return n
}
