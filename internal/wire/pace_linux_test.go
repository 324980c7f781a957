package wire

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Streams of 50 ms between pieces.
func slow(pieces int) *reader {
	return &reader{pieces: pieces, told: true, between: gaps{usual: 50 * time.Millisecond}}
}

// One stream is read at once; many are napped for until nothing more is gathered.
func TestPace(t *testing.T) {
	var p pace
	for i := range row {
		if p.nap(slow(1)) > 0 {
			t.Fatalf("it naps after %d turns", i)
		}
		p.turn(false, longest, slow(1))
	}
	if d := p.nap(slow(1)); d != longest {
		t.Errorf("it naps for %v where turns follow each other closely", d)
	}
	if p.turn(true, longest, slow(2)); p.nap(slow(2)) == 0 {
		t.Error("it does not nap on where that gathers pieces")
	}
	for name, turn := range map[string]func(*pace){
		"a nap gathered little":     func(p *pace) { p.turn(true, longest, slow(1)) },
		"turns apart":               func(p *pace) { p.turn(false, longest+1, slow(1)) },
		"a turn without a piece":    func(p *pace) { p.turn(false, 0, slow(0)) },
		"the system stamps nothing": func(p *pace) { p.turn(false, 0, &reader{pieces: 3}) },
	} {
		p := pace{close: row}
		if turn(&p); p.nap(slow(1)) > 0 {
			t.Errorf("it naps on after this: %s", name)
		}
	}
}

// A nap is a 16th of the time between pieces of one connection, and none where they are fast.
func TestNapsBesideGaps(t *testing.T) {
	p := pace{close: row}
	for gap, want := range map[time.Duration]time.Duration{
		time.Second: longest, 50 * time.Millisecond: longest, 24 * time.Millisecond: 1500 * time.Microsecond, 3 * time.Millisecond: 0,
	} {
		if d := p.nap(&reader{between: gaps{usual: gap}}); d != want {
			t.Errorf("pieces every %v: naps of %v, want %v", gap, d, want)
		}
	}
}

// The mark comes to rest where a tenth of the gaps is shorter, whatever the longest of them are, and falls
// at once where streams send faster.
func TestUsualGap(t *testing.T) {
	g, r := gaps{usual: longest}, rand.New(rand.NewPCG(1, 2))
	rest := func(n int) time.Duration { // the mean of the last half
		var sum time.Duration
		for i := range n {
			gap := time.Duration(40+20*r.Float64()) * time.Millisecond // 42 is the tenth
			if r.IntN(20) == 0 {
				gap = time.Hour // an idle connection
			}
			if g.add(gap); i >= n/2 {
				sum += g.usual
			}
		}
		return sum / time.Duration(n-n/2)
	}
	if d := rest(20_000); d < 38*time.Millisecond || d > 46*time.Millisecond {
		t.Errorf("a tenth of the gaps is shorter than 42 ms: %v", d)
	}
	for range 100 {
		g.add(100 * time.Microsecond)
	}
	if g.usual > shortest {
		t.Errorf("after a hundred short gaps: %v", g.usual)
	}
}
