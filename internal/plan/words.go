package plan

import "strings"

// modules are the names of single recompute modules.
var modules = []struct {
	name string
	bit  Recompute
}{{"norm", ReNorm}, {"act", ReAct}, {"mla-up", ReMLAUp}, {"attention", ReAttention}, {"moe", ReMoE}}

// String is none, selective, full or the modules joined by +.
func (r Recompute) String() string {
	switch {
	case r == ReNone:
		return "none"
	case r&ReFull != 0:
		return "full"
	case r == ReSelective:
		return "selective"
	}
	var names []string
	for _, m := range modules {
		if r&m.bit != 0 {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, "+")
}

// ParseRecompute is the inverse of String.
func ParseRecompute(s string) (Recompute, bool) {
	switch s {
	case "none":
		return ReNone, true
	case "selective":
		return ReSelective, true
	case "full":
		return ReFull, true
	}
	var r Recompute
	for _, word := range strings.Split(s, "+") {
		found := false
		for _, m := range modules {
			if m.name == word {
				r, found = r|m.bit, true
			}
		}
		if !found {
			return 0, false
		}
	}
	return r, true
}

// String is none, or names joined by +; all stands for tp, dp and pp, what engines
// overlap by themselves.
func (o Overlap) String() string {
	var names []string
	if o.TP && o.DP && o.PP {
		names, o.TP, o.DP, o.PP = append(names, "all"), false, false, false
	}
	for _, f := range o.fields() {
		if *f.on {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "+")
}

type overlapField struct {
	name string
	on   *bool
}

func (o *Overlap) fields() []overlapField {
	return []overlapField{{"tp", &o.TP}, {"dp", &o.DP}, {"pp", &o.PP}, {"ep", &o.EP}}
}

func parseOverlap(s string) (Overlap, bool) {
	var o Overlap
	if s == "none" {
		return o, true
	}
	for _, word := range strings.Split(s, "+") {
		found := word == "all"
		if found {
			o.TP, o.DP, o.PP = true, true, true
		}
		for _, f := range o.fields() {
			if f.name == word {
				*f.on, found = true, true
			}
		}
		if !found {
			return o, false
		}
	}
	return o, true
}

var tuningNames = [...]string{"full", "lora", "qlora"}

// String is full, lora or qlora.
func (t Tuning) String() string { return tuningNames[t] }

func parseTuning(s string) (Tuning, bool) {
	for i, n := range tuningNames {
		if n == s {
			return Tuning(i), true
		}
	}
	return 0, false
}
