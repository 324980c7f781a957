package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/note"
)

// Merge joins the records of several workers: stages by their number, whose levels
// add up, on one time line that begins with the first worker. Every metric is
// derived anew from all records, and what they tell of the load and its answers is warned of
// as their runs did. What follows a file's cut end is missing from its last stage on.
func Merge(files []*Recorded, slo *SLO) (*Report, error) {
	var all []*Record
	for _, f := range files {
		all = append(all, f.Records...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no records to join")
	}
	first := all[0].Origin
	for _, r := range all {
		if r.Origin.Started < first.Started {
			first = r.Origin
		}
	}
	d := &Report{URL: first.URL, Model: first.Model, Endpoint: first.Endpoint, SLO: slo, Stages: []Stage{}, Warnings: []string{}, Labels: map[string]string{}}
	full, frac := int64(first.Started), first.Started-float64(int64(first.Started))
	d.Started = time.Unix(full, int64(frac*1e9)).UTC().Format(time.RFC3339)
	stages := map[int][]*Record{}
	workers := map[string]bool{}
	seen := map[string]bool{}
	for _, r := range all {
		o := r.Origin
		key := o.Run + " " + o.Worker + " " + r.ID
		if seen[key] {
			return nil, fmt.Errorf("request %s of run %s is there twice: give each file once", r.ID, o.Run)
		}
		seen[key] = true
		if o.Model != first.Model || o.Endpoint != first.Endpoint {
			return nil, fmt.Errorf("records of %s and of %s: join those of one evaluation", first.Model, o.Model)
		}
		workers[o.Run+" "+o.Worker] = true
		stages[r.Stage] = append(stages[r.Stage], r.after(seconds(o.Started-first.Started)))
		d.Stream = d.Stream || r.Stream
	}
	if err := together(stages); err != nil {
		return nil, err
	}
	for _, r := range all {
		if o := r.Origin; o.URL != first.URL {
			d.Warnings = append(d.Warnings, fmt.Sprintf("the workers asked %s and %s: the sums are of one service only where both lead to it", first.URL, o.URL))
			break
		}
	}
	d.Load = fmt.Sprintf("records of %d workers", len(workers))
	d.Worker = names(all)
	whole := d.cut(files)
	for i := range maxStages {
		list, ok := stages[i]
		if !ok {
			continue
		}
		s, err := mergeStage(list, slo)
		if err != nil {
			return nil, fmt.Errorf("stage %d: %w", i, err)
		}
		s.Partial = i >= whole
		d.Stages = append(d.Stages, s)
		d.Seconds = max(d.Seconds, s.To)
	}
	return d, nil
}

// together refuses workers that did not run at the same time: the sum of their levels was never in flight.
// The records are on one time line.
func together(stages map[int][]*Record) error {
	type span struct {
		worker   string
		from, to Timestamp
	}
	spans := map[string]*span{}
	for _, list := range stages {
		for _, r := range list {
			name := r.Origin.Run + " " + r.Origin.Worker
			s := spans[name]
			if s == nil {
				s = &span{strings.TrimSpace(name), r.Scheduled, r.End}
				spans[name] = s
			}
			s.from, s.to = min(s.from, r.Scheduled), max(s.to, r.End)
		}
	}
	list := slices.SortedFunc(maps.Values(spans), func(a, b *span) int { return cmp.Compare(a.from, b.from) })
	latest := list[0]
	for _, s := range list[1:] {
		if s.from > latest.to {
			return fmt.Errorf("run %s began %.3g s after the end of run %s: join workers that ran at the same time; for others compare kept runs (ridgeline runs compare)",
				s.worker, time.Duration(s.from-latest.to).Seconds(), latest.worker)
		}
		if s.to > latest.to {
			latest = s
		}
	}
	return nil
}

// after is the record on a clock that started earlier.
func (r *Record) after(d time.Duration) *Record {
	x := *r
	for _, t := range []*Timestamp{&x.Scheduled, &x.Dispatched, &x.Sent, &x.Headers, &x.FirstEvent, &x.End} {
		if *t > 0 || t == &x.Scheduled {
			*t += d
		}
	}
	x.Chunks = slices.Clone(r.Chunks)
	for i := range x.Chunks {
		x.Chunks[i].At += d
	}
	return &x
}

func mergeStage(list []*Record, slo *SLO) (Stage, error) {
	level := map[string]float64{}
	o := *list[0].Origin
	for _, r := range list {
		if r.Origin.Mode != o.Mode || r.Origin.NetDelay != o.NetDelay {
			return Stage{}, fmt.Errorf("one file holds load of the kind %s, another %s: join the workers of one evaluation", o.Mode, r.Origin.Mode)
		}
		level[r.Origin.Run+" "+r.Origin.Worker] = r.Origin.Level
	}
	o.Level = 0
	for _, l := range level {
		o.Level += l
	}
	for _, r := range list {
		r.Origin = &o
	}
	s := NewStage(list, slo)
	s.Notes = warnings(loadOf(list), &s, list)
	s.Warnings = s.Notes.Texts()
	s.Client = UnknownClient("records do not tell how their workers ran: see their own reports")
	return s, nil
}

// cut marks the report partial where a file ends within a line, and gives the first stage that
// may lack requests for it.
func (d *Report) cut(files []*Recorded) (stage int) {
	stage = maxStages + 1
	for _, f := range files {
		if !f.Cut {
			continue
		}
		last := 0
		for _, r := range f.Records {
			last = max(last, r.Stage)
		}
		stage, d.Partial = min(stage, last), true
		n := note.New(note.RecordsCut, "file stage", "%s ends within a line: its run was killed or the file was cut; what came after is missing, from stage %d on", f.Name, last+1)
		d.Notes, d.Warnings = append(d.Notes, n), append(d.Warnings, n.Text)
	}
	return stage
}

// loadOf is what records tell of the settings of their run; how long users thought is not
// told, and may have emptied the places of those with several turns.
func loadOf(list []*Record) *Config {
	c := &Config{Turns: 1}
	for _, r := range list {
		c.Stream, c.Turns = c.Stream || r.Stream, max(c.Turns, r.Turn+1)
	}
	if c.Turns > 1 {
		c.Think = 1
	}
	return c
}

// names are the workers', in order.
func names(all []*Record) string {
	seen := map[string]bool{}
	var list []string
	for _, r := range all {
		if w := r.Origin.Worker; w != "" && !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
