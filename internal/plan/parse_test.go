package plan

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// allOverlap is the default that a search fills in where a text names no overlap.
var allOverlap = Overlap{TP: true, DP: true, PP: true}

// TestParseKeys: every key, alone, sets its field and is given.
func TestParseKeys(t *testing.T) {
	cases := []struct {
		text string
		key  Key
		want Plan
	}{
		{"tp=8", KeyTP, Plan{TP: 8}},
		{"pp=16", KeyPP, Plan{PP: 16}},
		{"vpp=2", KeyVPP, Plan{VPP: 2}},
		{"dp=128", KeyDP, Plan{DP: 128}},
		{"cp=4", KeyCP, Plan{CP: 4}},
		{"ep=64", KeyEP, Plan{EP: 64}},
		{"etp=2", KeyETP, Plan{ETP: 2}},
		{"zero=1", KeyZeRO, Plan{ZeRO: 1}},
		{"fsdp", KeyFSDP, Plan{ZeRO: 3, TP: 1, PP: 1, EP: 1, CP: 1}},
		{"shard=8", KeyShard, Plan{ShardGroup: 8}},
		{"schedule=dualpipe", KeySchedule, Plan{Schedule: sched.DualPipe}},
		{"mbs=2", KeyMBS, Plan{MicroBatch: 2}},
		{"recompute=full", KeyRecompute, Plan{Recompute: ReFull}},
		{"sp=1", KeySP, Plan{SP: true}},
		{"cpcomm=a2a", KeyCPComm, Plan{CPAllToAll: true}},
		{"overlap=tp+dp", KeyOverlap, Plan{Overlap: Overlap{TP: true, DP: true}}},
		{"offload=optimizer", KeyOffload, Plan{OffloadOptim: true}},
		{"tuning=qlora", KeyTuning, Plan{Tuning: QLoRA}},
		{"rank=16", KeyRank, Plan{LoRARank: 16}},
		{"attention=unfused", KeyAttention, Plan{UnfusedAttn: true}},
	}
	seen := map[Key]bool{}
	for _, c := range cases {
		f, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if d := cmp.Diff(c.want, f.Plan); d != "" || !f.Has(c.key) {
			t.Errorf("%s (given: %v, -want +got):\n%s", c.text, f.Has(c.key), d)
		}
		seen[c.key] = true
	}
	for _, k := range keyOrder {
		if !seen[k] {
			t.Errorf("key %s has no row", k)
		}
	}
}

// TestParseTexts: spelling is free in case and blanks; fsdp means what
// interfaces.md says, and degrees beside it win.
func TestParseTexts(t *testing.T) {
	plain := Plan{ZeRO: 3, TP: 1, PP: 1, EP: 1, CP: 1}
	wide := plain
	wide.TP = 8
	for _, c := range []struct {
		text string
		want Plan
	}{
		{"", Plan{}},
		{" TP = 8 , Schedule=ZB-V,", Plan{TP: 8, Schedule: sched.ZBV}},
		{"FSDP", plain},
		{"fsdp=1", plain},
		{"fsdp,zero=3", plain},
		{"tp=8,fsdp", wide},
		{"fsdp,tp=8", wide},
		{"recompute=selective", Plan{Recompute: ReSelective}},
		{"recompute=selective,attention=unfused", Plan{Recompute: ReSelective | ReAttention, UnfusedAttn: true}},
		{"recompute=moe+norm", Plan{Recompute: ReMoE | ReNorm}},
		{"sp=off,offload=none,cpcomm=ring,attention=flash,tuning=full,overlap=none", Plan{}},
		{"overlap=all", Plan{Overlap: allOverlap}},
		{"overlap=all+ep", Plan{Overlap: Overlap{TP: true, DP: true, PP: true, EP: true}}},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if d := cmp.Diff(c.want, f.Plan); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, d)
		}
	}
	if f, _ := Parse("tp=8"); f.Has(KeyPP) || f.Plain {
		t.Error("keys that were not given count as given")
	}
}

// TestParseBad: bad values are one line that names the key and what to write.
func TestParseBad(t *testing.T) {
	for _, c := range []struct{ text, names, mend string }{
		{"tp=0", "tp", "from 1"}, {"tp=-8", "tp", "tp=8"}, {"pp=1.5", "pp", "whole number"}, {"vpp=x", "vpp", "whole number"},
		{"dp=", "dp", "whole number"}, {"cp", "cp", "whole number"}, {"ep=1e3", "ep", "whole number"}, {"etp=16777217", "etp", "16777216"},
		{"mbs=99999999999999999999", "mbs", "whole number"}, {"shard=-1", "shard", "from 1"}, {"rank=0", "rank", "from 1"},
		{"zero=4", "zero", "0, 1, 2 or 3"}, {"zero=-1", "zero", "0, 1, 2 or 3"}, {"fsdp=0", "fsdp", "fsdp alone"},
		{"fsdp,zero=1", "zero", "leave one"}, {"schedule=2f2b", "schedule", "1f1b"}, {"recompute=some", "recompute", "selective"},
		{"recompute=norm+full", "recompute", "none, selective, full"}, {"sp=2", "sp", "0 or 1"}, {"cpcomm=tree", "cpcomm", "ring or a2a"},
		{"overlap=xx", "overlap", "tp dp pp ep"}, {"offload=weights", "offload", "optimizer or none"}, {"tuning=dora", "tuning", "qlora"},
		{"attention=sdpa", "attention", "flash"}, {"gpus=8", "gpus", "tp pp vpp"}, {"tp=8,tp=4", "tp", "keep one"},
		{"fsdp,fsdp", "fsdp", "keep one"}, {"fsdp=1,fsdp", "fsdp", "keep one"}, {",,,", "names no key", "tp=8"}, {" , ", "names no key", "tp=8"},
		{"=8", `""`, "tp pp vpp"}, {"tp=8\npp=2", "tp", "whole number"}, {"a\nb=1", "a", "tp pp vpp"},
	} {
		_, err := Parse(c.text)
		checkError(t, c.text, err, c.names, c.mend)
	}
}

// checkError wants one line that starts lower-case and holds every part.
func checkError(t *testing.T, input string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%q passed", input)
		return
	}
	text := err.Error()
	if strings.ContainsAny(text, "\n\r") || strings.ToLower(text[:1]) != text[:1] {
		t.Errorf("%q: not one lower-case line: %q", input, text)
	}
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q: %q does not say %q", input, text, p)
		}
	}
}

// TestRoundTrip: what a plan prints reads back as the same plan, its defaults
// filled in as a search fills them.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		want := randomPlan(rng)
		text := want.String()
		f, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := f.Plan
		for _, d := range []*int{&got.TP, &got.PP, &got.VPP, &got.DP, &got.CP, &got.EP, &got.ETP} {
			*d = max(*d, 1)
		}
		if !f.Has(KeyOverlap) {
			got.Overlap = allOverlap
		}
		if got != want {
			t.Fatalf("%s reads back as\n%+v, printed from\n%+v", text, got, want)
		}
		if again := got.String(); again != text {
			t.Fatalf("%s prints again as %s", text, again)
		}
	}
}

// randomPlan is any plan that Parse can give, legal or not.
func randomPlan(rng *rand.Rand) Plan {
	n := func() int { return 1 + rng.IntN(3)*rng.IntN(64) }
	b := func() bool { return rng.IntN(2) == 0 }
	p := Plan{TP: n(), CP: n(), PP: n(), DP: n(), VPP: n(), EP: n(), ETP: n(), ZeRO: rng.IntN(4), SP: b(), CPAllToAll: b(),
		MicroBatch: n(), Recompute: Recompute(rng.IntN(int(ReFull))), Overlap: Overlap{b(), b(), b(), b()}, OffloadOptim: b(), UnfusedAttn: b()}
	if b() {
		p.ShardGroup = n()
	}
	if p.PP > 1 {
		p.Schedule = sched.Kind(rng.IntN(int(sched.NumKinds)))
	}
	if rng.IntN(8) == 0 {
		p.Recompute = ReFull
	}
	if p.Recompute == ReSelective && p.UnfusedAttn {
		p.Recompute |= ReAttention // the word selective means this with unfused attention
	}
	if b() {
		p.Tuning, p.LoRARank = LoRA+Tuning(rng.IntN(2)), n()
	}
	return p
}

// TestWords: recompute and overlap words are inverse to their parsers.
func TestWords(t *testing.T) {
	for r := range ReFull {
		if got, ok := ParseRecompute(r.String()); !ok || got != r {
			t.Errorf("recompute %s reads back as %s, %v", r, got, ok)
		}
	}
	for i := range 16 {
		o := Overlap{i&1 > 0, i&2 > 0, i&4 > 0, i&8 > 0}
		if got, ok := parseOverlap(o.String()); !ok || got != o {
			t.Errorf("overlap %s reads back as %s, %v", o, got, ok)
		}
	}
	for _, m := range modules {
		if !ReFull.Has(m.bit) || !m.bit.Has(m.bit) || ReNone.Has(m.bit) {
			t.Errorf("%s: full recomputes it, none does not", m.name)
		}
	}
}

func TestParsePrecision(t *testing.T) {
	if len(precisionOrder) != len(Precisions) {
		t.Errorf("%d names listed of %d policies", len(precisionOrder), len(Precisions))
	}
	for _, name := range precisionOrder {
		if p, err := ParsePrecision(name); err != nil || p != Precisions[name] || p.Name != name {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	want := Precisions["fp8"]
	want.Name, want.Moment, want.GradReduce = "fp8,moment=fp32,reduce=fp32", unit.FP32, unit.FP32
	if p, err := ParsePrecision("FP8,moment=fp32,reduce=fp32"); err != nil || p != want {
		t.Errorf("%+v, %v", p, err)
	}
	for _, c := range []struct{ text, names, mend string }{
		{"int7", "int7", "bf16, fp16"}, {"", `""`, "bf16"}, {"fp8,colour=red", "colour", "moment"},
		{"fp8,moment=fp99", "fp99", "fp32"}, {"fp8,moment", "moment", "fp32"}, {"fp8,moment=fp32,moment=bf16", "moment", "keep one"},
		{"bf16,", `""`, "moment"}, {"bf16,,moment=fp32", `""`, "moment"}, {"bf16,moment=fp32,", `""`, "moment"}, {",", `""`, "bf16"},
		{"fp8,moment=fp8", "moment", "fp32, bf16 or fp16"}, {"fp8,master=nvfp4", "master", "fp32, bf16 or fp16"},
		{"bf16,gradients=int8", "gradients", "fp32, bf16 or fp16"}, {"bf16,master=tf32", "master", "fp32, bf16 or fp16"},
		{"fp8,head=nvfp4", "head", "8 bit or more"}, {"fp8,attention=int4", "attention", "8 bit or more"},
	} {
		_, err := ParsePrecision(c.text)
		checkError(t, c.text, err, c.names, c.mend)
	}
}

// FuzzParse: any text is a plan that prints and reads back, or one line of error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"tp=8,pp=16,ep=64,zero=1,schedule=dualpipe,mbs=1", "fsdp", "fsdp,tp=2", "recompute=norm+act,sp=1",
		"overlap=none", "tp==1", ",,,", "tp=8\n", "zero=3,fsdp=1", "tuning=lora,rank=8", "recompute=selective,attention=unfused"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: more than a line: %q", s, err)
			}
			return
		}
		for _, d := range []*int{&p.Plan.TP, &p.Plan.PP, &p.Plan.VPP, &p.Plan.DP, &p.Plan.CP, &p.Plan.EP, &p.Plan.ETP, &p.Plan.MicroBatch} {
			*d = max(*d, 1)
		}
		text := p.Plan.String()
		if strings.Contains(text, "tuning") && p.Plan.LoRARank == 0 {
			return // tuning without a rank is for Check to refuse
		}
		if _, err := Parse(text); err != nil {
			t.Errorf("%q prints as %q: %v", s, text, err)
		}
	})
}
