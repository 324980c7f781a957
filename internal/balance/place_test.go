package balance

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The worked example in deepseek-ai/EPLB:README.md: two layers of 12 experts in
// 4 groups, 16 slots on 2 nodes of 4 GPUs.
func TestEPLBExample(t *testing.T) {
	l := Layout{Experts: 12, Redundant: 4, GPUs: 8, Nodes: 2, Groups: 4}
	for _, c := range []struct {
		loads []float64
		want  []int
	}{
		{[]float64{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86}, []int{5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1}},
		{[]float64{20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27}, []int{7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1}},
	} {
		p, err := eplb(c.loads, l)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, slices.Concat(p.GPUs...)); diff != "" {
			t.Error(diff)
		}
	}
}

// eplb is the placement of deepseek-ai/EPLB itself, every slot filled.
func eplb(loads []float64, l Layout) (*Placement, error) {
	if err := l.check(loads); err != nil {
		return nil, err
	}
	return l.place(loads, l.nodesOf(loads), l.Redundant, l.PerGPU()), nil
}

// checkInvariants holds for every placement: each expert lies somewhere, as
// often as its copies say, no GPU has more than its slots, nothing of the load is
// lost, and groups stay on one node in a hierarchical placement.
func checkInvariants(t *testing.T, p *Placement, loads []float64) {
	t.Helper()
	l := p.Layout
	seen, carried, total := make([]int, l.Experts), 0.0, 0.0
	nodeOf := make([]int, l.Experts)
	if len(p.GPUs) != l.GPUs {
		t.Fatalf("%d GPUs of %d", len(p.GPUs), l.GPUs)
	}
	for g, slots := range p.GPUs {
		if len(slots) > l.PerGPU() {
			t.Errorf("GPU %d holds %d experts in %d slots", g, len(slots), l.PerGPU())
		}
		for _, e := range slots {
			seen[e]++
			if l.Hierarchical() {
				node := g/(l.GPUs/l.Nodes) + 1
				if group := e / (l.Experts / l.Groups); nodeOf[group] != 0 && nodeOf[group] != node {
					t.Errorf("group %d lies on two nodes", group)
				} else {
					nodeOf[group] = node
				}
			}
		}
		carried += p.Loads[g]
	}
	copies := 0
	for e, n := range seen {
		if n < 1 || n != p.Copies[e] {
			t.Errorf("expert %d lies in %d slots and counts %d copies", e, n, p.Copies[e])
		}
		copies += n
		total += loads[e]
	}
	if copies > l.Experts+l.Redundant {
		t.Errorf("%d copies in %d slots", copies, l.Experts+l.Redundant)
	}
	if d := carried - total; d > 1e-9*total || d < -1e-9*total {
		t.Errorf("GPUs carry %g of %g", carried, total)
	}
	if b := p.Balancedness(); !(b > 0 && b <= 1+1e-12) {
		t.Errorf("balancedness %g", b)
	}
}

func TestPlacements(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		l := Layout{GPUs: 1 + rng.IntN(16), Nodes: rng.IntN(5), Groups: 1 << rng.IntN(4)}
		l.Experts = l.Groups * (1 + rng.IntN(20))
		l.Redundant = (l.GPUs-l.Experts%l.GPUs)%l.GPUs + l.GPUs*rng.IntN(3)
		if l.Check() != nil {
			continue
		}
		loads := make([]float64, l.Experts)
		for i := range loads {
			loads[i] = float64(rng.IntN(100))
		}
		before := 0.0
		for range 4 {
			placed, err := Place(loads, l)
			if err != nil {
				t.Fatal(err)
			}
			checkInvariants(t, placed, loads)
			if b := placed.Balancedness(); b < before {
				t.Errorf("%+v: balancedness falls from %g to %g with more redundancy", l, before, b)
			} else {
				before = b
			}
			own, _ := eplb(loads, l)
			checkInvariants(t, own, loads)
			if len(slices.Concat(own.GPUs...)) != l.Experts+l.Redundant {
				t.Errorf("%+v: EPLB leaves slots empty", l)
			}
			if own.Balancedness() > placed.Balancedness() {
				t.Errorf("%+v: EPLB's own placement is better than the chosen one", l)
			}
			order, _ := InOrder(loads, l)
			checkInvariants(t, order.unhierarchical(), loads)
			again, _ := Place(loads, l)
			if diff := cmp.Diff(placed, again); diff != "" {
				t.Errorf("same loads, other placement: %s", diff)
			}
			l.Redundant += l.GPUs
		}
	}
}

// unhierarchical drops the nodes: experts in order may split a group.
func (p *Placement) unhierarchical() *Placement {
	q := *p
	q.Layout.Nodes = 0
	return &q
}

// A copy of the hot expert on every GPU makes one hot expert even.
func TestOneHotExpert(t *testing.T) {
	loads := []float64{8, 0, 0, 0}
	p, err := Place(loads, Layout{Experts: 4, Redundant: 12, GPUs: 4})
	if err != nil || p.Balancedness() != 1 {
		t.Errorf("%v, balancedness %g", err, p.Balancedness())
	}
	p, _ = InOrder(loads, Layout{Experts: 4, GPUs: 4})
	if p.Balancedness() != 0.25 {
		t.Errorf("all on one of four GPUs: %g", p.Balancedness())
	}
	moved, err := p.Under([]float64{1, 1, 1, 1})
	if err != nil || moved.Balancedness() != 1 {
		t.Errorf("%v, even loads on the same placement: %g", err, moved.Balancedness())
	}
	if idle, _ := p.Under(make([]float64, 4)); idle.Balancedness() != 1 {
		t.Error("no load is even")
	}
}

func TestBadLayouts(t *testing.T) {
	good := Layout{Experts: 8, GPUs: 4}
	for says, change := range map[string]func(*Layout){
		"0 experts":                   func(l *Layout) { l.Experts = 0 },
		"9999 experts":                func(l *Layout) { l.Experts = 9999 },
		"0 GPUs":                      func(l *Layout) { l.GPUs = 0 },
		"-1 redundant":                func(l *Layout) { l.Redundant = -1 },
		"use 4 redundant":             func(l *Layout) { l.Redundant = 1 },
		"-1 nodes":                    func(l *Layout) { l.Nodes = -1 },
		"use a multiple of 3":         func(l *Layout) { l.Nodes = 3 },
		"do not form 3 equal groups":  func(l *Layout) { l.Groups = 3 },
		"give 1 to 1536":              func(l *Layout) { l.GPUs = 5000 },
		"2000 redundant experts: giv": func(l *Layout) { l.Redundant = 2000 },
	} {
		l := good
		change(&l)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, says)
		}
		if _, err := Place(make([]float64, 8), l); err == nil {
			t.Errorf("%+v was placed", l)
		}
	}
	for _, loads := range [][]float64{nil, {1, 2, 3, 4, 5, 6, 7, -1}, {1, 2, 3, 4, 5, 6, 7, nan}} {
		if _, err := eplb(loads, good); err == nil {
			t.Errorf("loads %v passed", loads)
		}
	}
}
