package sched

import "sync"

// lists gives the order of every rank of a kind that does not depend on times.
func lists(s *Spec) [][]item {
	to := make([][]item, s.Stages)
	for r := range to {
		to[r] = s.Kind.order(make([]item, 0, 3*s.MicroBatches*s.Kind.LocalChunks(s.VPP)), s.Stages, s.MicroBatches, s.VPP, r)
	}
	return to
}

// shape is all that the program of a fixed kind depends on.
type shape struct {
	kind    Kind
	p, m, v int
}

// programs keeps compiled schedules: a search prices the same few hundred
// shapes with millions of times. Dropped whole beyond maxKept ops (8 bytes each).
var programs = struct {
	sync.RWMutex
	byShape map[shape]*program
	kept    int
}{byShape: map[shape]*program{}}

const maxKept = 1 << 23

// fixed compiles the schedule of s, or finds it compiled.
func fixed(s *Spec) (*program, error) {
	key := shape{s.Kind, s.Stages, s.MicroBatches, s.Kind.LocalChunks(s.VPP)}
	programs.RLock()
	p := programs.byShape[key]
	programs.RUnlock()
	if p != nil {
		return p, nil
	}
	p, err := compile(s, lists(s))
	if err != nil {
		return nil, err
	}
	programs.Lock()
	defer programs.Unlock()
	if programs.kept+len(p.ops) > maxKept {
		programs.byShape, programs.kept = map[shape]*program{}, 0
	}
	if programs.byShape[key] == nil && len(p.ops) <= maxKept/4 {
		programs.byShape[key] = p
		programs.kept += len(p.ops)
	}
	return p, nil
}
