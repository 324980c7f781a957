// Package train answers how long one optimizer step takes under a plan, what
// binds it and what it needs: it prices each layer once, lays the passes on the
// pipeline schedule, adds what data parallelism and the optimizer leave visible
// and compares with the ceilings. Estimates lie between a floor (every resource
// perfectly overlapped at its achieved rate) and an upper bound (nothing
// overlapped, pessimistic kernels).
//
// An Evaluator memoises everything that several plans share, which is what lets
// a search look at tens of thousands of plans per second; it serves one
// goroutine.
package train

import (
	"reflect"
	"slices"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// DefaultMemoryLimit is the share of device memory that a plan may use:
// fragmentation and spikes take the rest (interfaces.md, `fits`).
const DefaultMemoryLimit = 0.94

// Evaluator evaluates plans for one job on one cluster.
type Evaluator struct {
	job     *plan.Job
	cluster *hw.Cluster
	mach    *cost.Machine
	options cost.Options
	limit   unit.Bytes

	perToken unit.FLOPs    // FLOPs per token of the job, counted at first need
	classes  []model.Layer // distinct layers
	prefix   [][]int32     // prefix[c][i] = layers of class c among the first i
	copies   bool          // a matrix is held twice where the model's ends lie apart

	shared     *shapes // priced once for all clones
	shapes     map[shapeKey]*shape
	chunks     chunkSet
	cuts       map[int]*parts
	topologies map[topologyKey]*topology
	scratch    []chunk
	closings   []closing // of the plan in hand, by kind of rank
	maker      *work.Maker
	bare       plan.Plan // scratch of Leanest and Fastest
	times      timeline
}

// NewEvaluator prepares a job. limit is the usable share of device memory, 0
// for the default. The error names a figure that the machine lacks.
func NewEvaluator(j *plan.Job, c *hw.Cluster, limit float64) (*Evaluator, error) {
	return NewEvaluatorWith(j, c, limit, cost.Options{})
}

// NewEvaluatorWith is NewEvaluator at other rates than the default ones.
func NewEvaluatorWith(j *plan.Job, c *hw.Cluster, limit float64, o cost.Options) (*Evaluator, error) {
	mach, err := cost.New(c, o)
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = DefaultMemoryLimit
	}
	e := &Evaluator{job: j, cluster: c, mach: mach, options: o, limit: unit.Bytes(limit * c.Device.Peak.Memory.Value)}
	e.shared = &shapes{of: map[shapeKey]*shape{}}
	e.forget()
	e.classify()
	return e, nil
}

// Clone is an Evaluator of its own for another goroutine; clones share what they price.
func (e *Evaluator) Clone() *Evaluator {
	f := *e
	f.forget()
	return &f
}

// On is an Evaluator of the same job on c, which differs from the cluster in rates
// alone: what does not depend on them is kept. Both serve one goroutine.
func (e *Evaluator) On(c *hw.Cluster) (*Evaluator, error) {
	mach, err := cost.New(c, e.options)
	if err != nil {
		return nil, err
	}
	f := *e
	f.forget()
	f.mach, f.cluster, f.shared = mach, c, &shapes{of: map[shapeKey]*shape{}}
	f.cuts, f.topologies = e.cuts, e.topologies
	return &f, nil
}

// forget starts with empty caches of its own.
func (e *Evaluator) forget() {
	e.shapes, e.chunks = map[shapeKey]*shape{}, chunkSet{}
	e.cuts, e.topologies = map[int]*parts{}, map[topologyKey]*topology{}
	e.scratch, e.closings, e.maker, e.times = nil, nil, new(work.Maker), timeline{}
}

// Machine is what the Evaluator prices with.
func (e *Evaluator) Machine() *cost.Machine { return e.mach }

// Job is what the Evaluator plans for.
func (e *Evaluator) Job() *plan.Job { return e.job }

// Cluster is where the job runs.
func (e *Evaluator) Cluster() *hw.Cluster { return e.cluster }

// MemoryLimit is the usable bytes per device.
func (e *Evaluator) MemoryLimit() unit.Bytes { return e.limit }

// classify finds the distinct layers and counts them by prefix, so that a
// chunk's layers are two subtractions per class.
func (e *Evaluator) classify() {
	e.copies = e.job.Model.Tied || e.job.MTP > 0
	layers := e.job.Model.Layers
	for _, l := range e.job.Distinct() {
		e.classes = append(e.classes, *l)
	}
	classOf := make([]int, len(layers))
	for i := range layers {
		classOf[i] = slices.IndexFunc(e.classes, func(l model.Layer) bool { return reflect.DeepEqual(l, layers[i]) })
	}
	e.prefix = make([][]int32, len(e.classes))
	for c := range e.classes {
		e.prefix[c] = make([]int32, len(layers)+1)
		for i := range layers {
			e.prefix[c][i+1] = e.prefix[c][i]
			if classOf[i] == c {
				e.prefix[c][i+1]++
			}
		}
	}
}
