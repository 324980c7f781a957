package plan

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/model"
)

// TestMoot: a key without effect is an error that names the mend; what only
// might be without effect is not.
func TestMoot(t *testing.T) {
	dense := &model.Model{Name: "dense", Layers: make([]model.Layer, 2)}
	latentMoE := &model.Model{Name: "moe", Layers: []model.Layer{{}, {Attention: model.Attention{Kind: model.MLA}, FFN: model.FFN{Experts: 8}}}}
	for _, c := range []struct {
		m    *model.Model
		text string
		mend string // empty: fine
	}{
		{dense, "recompute=moe", "leave moe out"},
		{dense, "recompute=norm+moe", "leave moe out"},
		{dense, "recompute=mla-up", "leave mla-up out"},
		{dense, "recompute=norm+mla-up", "leave mla-up out"},
		{dense, "recompute=selective", ""},
		{dense, "recompute=selective,attention=unfused", ""},
		{dense, "recompute=full", ""},
		{latentMoE, "recompute=moe+mla-up", ""},
		{dense, "cp=1,cpcomm=a2a", "cp of 2 or more"},
		{dense, "fsdp,cpcomm=a2a", "cp of 2 or more"},
		{dense, "cp=2,cpcomm=a2a", ""},
		{dense, "cpcomm=a2a", ""},
		{dense, "cp=1,cpcomm=ring", ""},
		{dense, "zero=0,shard=8", "give zero=1 to 3"},
		{dense, "zero=1,shard=8", ""},
		{dense, "shard=8", ""},
		{dense, "", ""},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		switch err := f.Moot(c.m); {
		case c.mend != "":
			checkError(t, c.text, err, c.mend)
		case err != nil:
			t.Errorf("%q of %s: %v", c.text, c.m.Name, err)
		}
	}
}
