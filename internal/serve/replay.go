package serve

import (
	"context"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Replay simulates a measured run: the arrivals and lengths of the load on one
// instance of the engine, from the moment the engine had each request. What lies
// before that, Engine.Entry and Engine.Admission, is left out: an engine's own time
// stamps begin there.
func Replay(ctx context.Context, e Engine, load *workload.Workload) (*Result, error) {
	e.Entry, e.EntryToken, e.Admission = 0, 0, 0
	return Run(ctx, &Service{Engine: e}, load, Options{})
}
