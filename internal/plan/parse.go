package plan

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/sched"
)

// Key is one key of a --plan text.
type Key string

// The keys of interfaces.md and Ridgeline's own.
const (
	KeyTP        Key = "tp"
	KeyPP        Key = "pp"
	KeyVPP       Key = "vpp"
	KeyDP        Key = "dp"
	KeyCP        Key = "cp"
	KeyEP        Key = "ep"
	KeyETP       Key = "etp"
	KeyZeRO      Key = "zero"
	KeyFSDP      Key = "fsdp"
	KeyShard     Key = "shard"
	KeySchedule  Key = "schedule"
	KeyMBS       Key = "mbs"
	KeyRecompute Key = "recompute"
	KeySP        Key = "sp"
	KeyCPComm    Key = "cpcomm"
	KeyOverlap   Key = "overlap"
	KeyOffload   Key = "offload"
	KeyTuning    Key = "tuning"
	KeyRank      Key = "rank"
	KeyAttention Key = "attention"
)

// keyOrder lists the keys as texts and messages print them.
var keyOrder = []Key{KeyTP, KeyPP, KeyVPP, KeyDP, KeyCP, KeyEP, KeyETP, KeyZeRO, KeyFSDP, KeyShard, KeySchedule, KeyMBS,
	KeyRecompute, KeySP, KeyCPComm, KeyOverlap, KeyOffload, KeyTuning, KeyRank, KeyAttention}

// Fixed is a partly given plan: the keys that the user fixed, with their values
// in Plan. Keys that are not given are searched.
type Fixed struct {
	Plan  Plan
	given map[Key]bool
	// Plain marks the word `fsdp` alone: zero=3 and every other degree 1.
	Plain bool
}

// Has tells whether the user gave key k.
func (f *Fixed) Has(k Key) bool { return f.given[k] }

// Any tells whether the user gave any key.
func (f *Fixed) Any() bool { return len(f.given) > 0 }

// Free is f without the keys of the layout: what is trained and with which
// attention kernel stays, everything else is open.
func (f *Fixed) Free() *Fixed {
	return (&Fixed{}).Like(f)
}

// Like is f training the same as g: all weights or adapters, with g's kernels.
func (f *Fixed) Like(g *Fixed) *Fixed {
	h := *f
	h.Plan.Tuning, h.Plan.LoRARank, h.Plan.UnfusedAttn = g.Plan.Tuning, g.Plan.LoRARank, g.Plan.UnfusedAttn
	return &h
}

// With is f with one more key fixed; value must be one that Parse accepts.
func (f *Fixed) With(k Key, value string) (*Fixed, error) {
	g := &Fixed{Plan: f.Plan, Plain: f.Plain, given: maps.Clone(f.given)}
	if g.given == nil {
		g.given = map[Key]bool{}
	}
	if err := g.set(k, value); err != nil {
		return nil, err
	}
	g.given[k] = true
	return g, nil
}

// Parse reads `key=value` pairs separated by commas, and the word `fsdp`.
func Parse(text string) (*Fixed, error) {
	f := &Fixed{given: map[Key]bool{}}
	for _, item := range strings.Split(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		key, value, pair := strings.Cut(item, "=")
		k := Key(strings.ToLower(strings.TrimSpace(key)))
		value = strings.ToLower(strings.TrimSpace(value))
		if f.given[k] {
			return nil, fmt.Errorf("plan key %q is given twice in %q: keep one", k, text)
		}
		if k == KeyFSDP && !pair {
			f.setFSDP()
			continue
		}
		if err := f.set(k, value); err != nil {
			return nil, err
		}
		f.given[k] = true
	}
	if !f.Any() && strings.Contains(text, ",") {
		return nil, fmt.Errorf("plan %q names no key: write for example tp=8,pp=4", text)
	}
	if f.Plain {
		if err := f.fillPlain(); err != nil {
			return nil, err
		}
	}
	if f.Plan.Recompute == ReSelective && f.Plan.UnfusedAttn {
		f.Plan.Recompute |= ReAttention
	}
	return f, nil
}

func (f *Fixed) setFSDP() {
	f.given[KeyFSDP] = true
	f.Plain = true
}

// fillPlain gives the word fsdp its meaning where the text says nothing else:
// zero=3 and every degree 1. Degrees may be given beside it (fsdp,tp=8); another
// zero contradicts it.
func (f *Fixed) fillPlain() error {
	one := func(k Key, field *int, value int) {
		if !f.given[k] {
			*field, f.given[k] = value, true
		}
	}
	p := &f.Plan
	one(KeyZeRO, &p.ZeRO, 3)
	if p.ZeRO != 3 {
		return fmt.Errorf("plan key \"zero\"=%d contradicts fsdp, which is zero=3: leave one of them out", p.ZeRO)
	}
	one(KeyTP, &p.TP, 1)
	one(KeyPP, &p.PP, 1)
	one(KeyEP, &p.EP, 1)
	one(KeyCP, &p.CP, 1)
	return nil
}

func (f *Fixed) set(k Key, value string) error {
	if field, ok := f.Plan.numbers()[k]; ok {
		n, err := strconv.Atoi(value)
		if err == nil && n == 0 && k == KeyShard { // over all ranks, as answers state it
			*field = n
			return nil
		}
		if err != nil || n < 1 || n > 1<<24 {
			return fmt.Errorf("plan key %s=%q is not a whole number from 1 to %d: write for example %s=8", k, value, 1<<24, k)
		}
		*field = n
		return nil
	}
	return f.setWord(k, value)
}

// setWord reads the keys whose values are words.
func (f *Fixed) setWord(k Key, value string) error {
	p := &f.Plan
	var ok bool
	var want string
	switch k {
	case KeyZeRO:
		n, err := strconv.Atoi(value)
		p.ZeRO, ok, want = n, err == nil && n >= 0 && n <= 3, "0, 1, 2 or 3"
	case KeyFSDP:
		if ok, want = oneOf(value, "1", "true", "on"), "fsdp alone, or zero=3"; ok {
			f.setFSDP()
		}
	case KeySchedule:
		p.Schedule, ok = sched.ParseKind(value)
		want = strings.Join(scheduleNames(), ", ")
	case KeyRecompute:
		p.Recompute, ok = ParseRecompute(value)
		want = "none, selective, full, or modules joined by +: norm act mla-up attention moe"
	case KeySP:
		p.SP, ok = oneOf(value, "1", "true", "on"), oneOf(value, "0", "1", "true", "false", "on", "off")
		want = "0 or 1"
	case KeyCPComm:
		p.CPAllToAll, ok, want = value == "a2a", oneOf(value, "a2a", "ring"), "ring or a2a"
	case KeyOverlap:
		p.Overlap, ok = parseOverlap(value)
		want = "none, all, or names joined by +: tp dp pp ep"
	case KeyOffload:
		p.OffloadOptim, ok, want = value == "optimizer", oneOf(value, "optimizer", "none"), "optimizer or none"
	case KeyTuning:
		p.Tuning, ok = parseTuning(value)
		want = "full, lora or qlora"
	case KeyAttention:
		p.UnfusedAttn, ok, want = value == "unfused", oneOf(value, "unfused", "flash"), "flash or unfused"
	default:
		return fmt.Errorf("plan key %q is unknown: use %s", k, keyList())
	}
	if !ok {
		return fmt.Errorf("plan key %s=%q is not understood: use %s", k, value, want)
	}
	return nil
}

func oneOf(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

func keyList() string {
	names := make([]string, len(keyOrder))
	for i, k := range keyOrder {
		names[i] = string(k)
	}
	return strings.Join(names, " ")
}

func scheduleNames() []string {
	names := make([]string, sched.NumKinds)
	for k := range sched.NumKinds {
		names[k] = k.String()
	}
	return names
}
