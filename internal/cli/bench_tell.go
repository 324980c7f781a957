package cli

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/store"
)

// tellEvery is how often a running evaluation writes where it stands.
const tellEvery = time.Second

// teller writes where an evaluation stands into the store of runs, for pages that
// follow it. Writing has a goroutine of its own: the evaluation never waits for a disk.
type teller struct {
	mu     sync.Mutex
	latest *api.BenchSample
	quit   chan struct{}
	exited chan struct{}
}

// tell begins to; nothing is written in the first moment, nor where runs are not kept.
func (k *keepFlags) tell(ctx context.Context, c *bench.Config) *teller {
	t := &teller{quit: make(chan struct{}), exited: make(chan struct{})}
	if k.off {
		close(t.exited)
		return t
	}
	go t.write(context.WithoutCancel(ctx), k.db, store.Live{Model: c.Service.Model, Target: c.Service.URL})
	return t
}

// show takes the latest event.
func (t *teller) show(x bench.Event) {
	if x.Phase == bench.Measuring {
		s := api.SampleOf(&x)
		t.mu.Lock()
		t.latest = &s
		t.mu.Unlock()
	}
}

// end takes away what was told.
func (t *teller) end() { close(t.quit); <-t.exited }

// write goes on until the end. A store that fails is left alone: keeping the run at
// the end fails for the same reason, and says so.
func (t *teller) write(ctx context.Context, path string, l store.Live) {
	defer close(t.exited)
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	var d *store.DB
	for {
		select {
		case <-t.quit:
			if d != nil {
				_ = d.Over(ctx, l.ID) // at worst followers hear of no news
				_ = d.Close()
			}
			return
		case l.At = <-tick.C:
		}
		t.mu.Lock()
		latest := t.latest
		t.latest = nil
		t.mu.Unlock()
		if latest == nil {
			continue
		}
		var err error
		if l.State, err = json.Marshal(latest); err == nil && d == nil {
			d, err = openStore(ctx, path, true)
		}
		if err == nil {
			err = d.Tell(ctx, &l)
		}
		if err != nil {
			<-t.quit
			if d != nil {
				_ = d.Close()
			}
			return
		}
	}
}
