package calib

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// contexts fits the engine's cores over prompts.
func (f *fitter) contexts(e *hw.Engine) error {
	for i := range hw.NumOperands {
		sources, err := f.rows(e.Name, "attention/"+e.Name+"-*context*.parquet", everyContext, operandsAre("attn_dtype", i))
		if err != nil {
			return err
		}
		if err := f.context(e.Name+" context"+operandNames[i], sources, &e.Context[i], false, nil); err != nil {
			return err
		}
		if sources, err = f.rows(e.Name, "mla/"+e.Name+"-*context_mla_perf.parquet", everySmall, operandsAre("mla_dtype", i)); err != nil {
			return err
		}
		if err := f.context(e.Name+" context mla"+operandNames[i], sources, &e.MLA[i], true, nil); err != nil {
			return err
		}
	}
	return nil
}

// context fits one core; one shares a rate among all head dimensions; module, if
// not nil, is the rest of the block that the rows hold besides.
func (f *fitter) context(what string, sources []*source, a *hw.Attention, one bool, module *hw.Module) error {
	if len(sources) == 0 {
		return nil
	}
	*a = hw.Attention{Fill: 100, Tail: 0.5, Share: every(0.6)}
	launch, item, share := 10.0, 0.5, 0.6
	knobs := []knob{{&a.Fill, 0, 2000}, {&a.Tail, 0, 1}, {&a.Stream, 0, 3}, {&launch, 1, 400}, {&item, 0, 20}}
	rest, host := 20.0, 0.0
	if module != nil {
		knobs = append(knobs, knob{&rest, 0.1, 100}, knob{&host, 0, 400})
	}
	if one {
		knobs = append(knobs, knob{&share, 0.02, 1})
	} else {
		for i := range a.Share {
			if holds(sources, i) {
				knobs = append(knobs, knob{&a.Share[i], 0.02, 1})
			}
		}
	}
	return f.solve(&problem{what: what, sources: sources, knobs: knobs, refresh: func() {
		a.Launch, a.Item = us(launch), us(item)
		if module != nil {
			*module = hw.Module{Rest: us(rest), Host: us(host)}
		}
		if one {
			a.Share = every(share)
		}
	}})
}

// holds tells whether rows of the head dimension with this index are among the sources.
func holds(sources []*source, index int) bool {
	for _, s := range sources {
		for i := range s.fit {
			d := s.fit[i].ops[0].HeadDim
			if d <= hw.HeadDims[index] && (index == 0 || d > hw.HeadDims[index-1]) {
				return true
			}
		}
	}
	return false
}

// decodes fits the engine's cores of one query token per sequence.
func (f *fitter) decodes(e *hw.Engine) error {
	for i := range hw.NumCaches {
		sources, err := f.rows(e.Name, "attention/"+e.Name+"-*generation_attention*.parquet", everyDecode, cacheIs("attn_dtype", i))
		if err != nil {
			return err
		}
		if err := f.decode(e.Name+" decode"+cacheNames[i], sources, &e.Decode[i], false, nil); err != nil {
			return err
		}
		if sources, err = f.rows(e.Name, "mla/"+e.Name+"-*generation_mla_perf.parquet", everySmall, cacheIs("mla_dtype", i)); err != nil {
			return err
		}
		if err := f.decode(e.Name+" decode mla"+cacheNames[i], sources, &e.Latent[i], true, nil); err != nil {
			return err
		}
	}
	return nil
}

// starts are where the search of a decode's constants begins: with the cache's
// stream or with the products as the ceiling, and with or without a warm L2. The
// best end is kept, since a pattern search stays in the valley it begins in.
var starts = []struct{ share, pad, memory, near, nearRate, group, groupRate float64 }{
	{0.6, 8, 0.8, 40, 1.8, 0, 1},
	{0.3, 60, 0.9, 40, 1.2, 0, 1},
	{0.6, 8, 0.8, 40, 1.8, 32, 2},
}

// decode fits one core; one shares a rate among all head dimensions; module, if not
// nil, is the rest of the block that the rows hold besides.
func (f *fitter) decode(what string, sources []*source, d *hw.Decode, one bool, module *hw.Module) error {
	if len(sources) == 0 {
		return nil
	}
	var item, join, launch, near, memory, rest, host float64
	p := &problem{what: what, sources: sources, refresh: func() {
		d.Item, d.Join, d.Launch, d.Near = us(item), us(join), us(launch), unit.Bytes(near*1e6)
		if module != nil {
			*module = hw.Module{Rest: us(rest), Host: us(host)}
		}
		if one {
			d.Memory = every(memory)
		}
	}}
	p.knobs = []knob{{&d.Share, 0.01, 1}, {&d.Pad, 0, 128}, {&d.Reach, 0.2, 20}, {&d.Split, 16, 4096}, {&d.Overlap, 0, 1},
		{&item, 0, 20}, {&join, 0, 20}, {&launch, 1, 400}, {&near, 0, 200}, {&d.NearRate, 1, 4}}
	if one {
		p.knobs = append(p.knobs, knob{&memory, 0.02, 1})
	} else {
		for i := range d.Memory {
			if holds(sources, i) {
				p.knobs = append(p.knobs, knob{&d.Memory[i], 0.02, 1})
			}
		}
	}
	if module != nil {
		p.knobs = append(p.knobs, knob{&rest, 0.1, 100}, knob{&host, 0, 400})
	}
	plain := p.knobs
	return f.solveFrom(p, len(starts), func(i int) {
		s := starts[i]
		*d = hw.Decode{Share: s.share, Pad: s.pad, Memory: every(s.memory), Reach: 3, Split: 512, NearRate: s.nearRate, Group: s.group, GroupRate: s.groupRate}
		item, join, launch, near, memory, rest, host = 2, 2, 8, s.near, s.memory, 20, 0
		p.knobs = plain
		if s.group > 0 {
			p.knobs = append(plain[:len(plain):len(plain)], knob{&d.Group, 1, 129}, knob{&d.GroupRate, 0.1, 6})
		}
	})
}
