package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Models prints the catalogue of models, one line each.
func Models(p *Page, entries []catalog.ModelEntry) {
	rows := make([][]string, len(entries))
	for i := range entries {
		m := entries[i].Model
		rows[i] = []string{m.Name, unit.FormatCount(m.Params()), unit.FormatCount(m.ActiveParams()), strconv.Itoa(len(m.Layers)),
			expertsShort(m), unit.FormatBytes(unit.Bytes(m.KVBytesPerToken(unit.BF16, 0))), m.AttentionSummary()}
	}
	p.Table([]Column{Left("name"), Right("parameters"), Right("active"), Right("layers"), Right("experts"), Right("KV/token"), Left("attention")}, rows)
	p.Line("")
	p.Line("%d entries, counted from the shapes; KV cache at 16 bit. `ridgeline models NAME` shows one.", len(entries))
}

// expertsShort is "8 of 256", or "" for a dense model.
func expertsShort(m *model.Model) string {
	if f := m.FirstMoE(); f != nil {
		return fmt.Sprintf("%d of %d", f.TopK, f.Experts)
	}
	return ""
}

// Model prints one model; entry is its catalogue entry, nil for a file's model,
// and seq the sequence length of the FLOPs per token.
func Model(p *Page, m *model.Model, entry *catalog.ModelEntry, seq int64) {
	p.Heading("%s", m.Name)
	var total, active, source string
	if entry != nil {
		total, active, source = published(entry.PublishedTotal), published(entry.PublishedActive), entry.PublishedSource
	}
	p.Facts(
		[2]string{"architecture", m.Architecture},
		[2]string{"Hugging Face id", m.HFID},
		[2]string{"parameters", fmt.Sprintf("%s (%s)%s", unit.FormatCount(m.Params()), Grouped(m.Params()), total)},
		[2]string{"active per token", unit.FormatCount(m.ActiveParams()) + active},
		[2]string{"MTP", mtpText(m)},
		[2]string{"layers", layersText(m)},
		[2]string{"width, vocabulary", fmt.Sprintf("%d, %s%s", m.Hidden, Grouped(m.Vocab), tiedText(m))},
		[2]string{"attention", m.AttentionSummary()},
		[2]string{"experts", expertsText(m)},
		[2]string{"KV cache", unit.FormatBytes(unit.Bytes(m.KVBytesPerToken(unit.BF16, 0))) + " per token at 16 bit"},
		[2]string{"context", given(float64(m.MaxContext), "tokens")},
		[2]string{"training FLOPs", flopsText(m, seq)},
		[2]string{"checkpoint", checkpointText(&m.Checkpoint)},
		[2]string{"left out", strings.Join(m.Unsupported, "; ")},
		[2]string{"published in", source},
		[2]string{"shapes from", m.Source},
	)
	p.Line("")
	p.Heading("Parameters by part")
	p.Bars(float64(m.Params()+m.MTPParams()), parts(m))
	if entry == nil {
		return
	}
	notes := entry.Notes
	if entry.Gap != "" {
		notes = append([]string{"counted and published differ: " + entry.Gap}, notes...)
	}
	for _, n := range notes {
		p.Line("")
		p.Text(6, "Note: %s", n)
	}
}

// parts lists the roles that the model has.
func parts(m *model.Model) []Quantity {
	var qs []Quantity
	for role, n := range m.RoleParams() {
		if n > 0 {
			qs = append(qs, Quantity{model.Role(role).String(), unit.FormatCount(n), float64(n)})
		}
	}
	return qs
}

// published prints a publisher's figure to the digits that it states.
func published(f catalog.Published) string {
	if f.Value == 0 {
		return ""
	}
	digits := 0
	for step := 1e9; step > 2*f.HalfDigit*1.5; step /= 10 {
		digits++
	}
	return ", published " + strconv.FormatFloat(f.Value/1e9, 'f', digits, 64) + " B"
}

func mtpText(m *model.Model) string {
	if len(m.MTP) == 0 {
		return ""
	}
	s := fmt.Sprintf("%s, %s", Plural(int64(len(m.MTP)), "module"), unit.FormatCount(m.MTPParams()))
	if n := m.CheckpointParams(); m.MTPOwnHead {
		s += fmt.Sprintf("; %s in the checkpoint with its copies of embedding and head", unit.FormatCount(n))
	}
	return s
}

func layersText(m *model.Model) string {
	moe := 0
	for i := range m.Layers {
		if m.Layers[i].FFN.MoE() {
			moe++
		}
	}
	if moe == 0 || moe == len(m.Layers) {
		return strconv.Itoa(len(m.Layers))
	}
	return fmt.Sprintf("%d: %d dense, %d with experts", len(m.Layers), len(m.Layers)-moe, moe)
}

func tiedText(m *model.Model) string {
	if m.Tied {
		return ", embedding and head tied"
	}
	return ""
}

func expertsText(m *model.Model) string {
	f := m.FirstMoE()
	if f == nil {
		return ""
	}
	s := fmt.Sprintf("%d of %d per token, width %d", f.TopK, f.Experts, f.ExpertInner)
	if f.Groups > 0 {
		s += fmt.Sprintf(", in %d of %d groups", f.TopGroups, f.Groups)
	}
	if f.SharedInner > 0 {
		s += fmt.Sprintf("; shared, width %d", f.SharedInner)
	}
	return s
}

func flopsText(m *model.Model, seq int64) string {
	s := fmt.Sprintf("%s per token at %d tokens, causal; %s over all pairs", unit.FormatFLOPs(m.FLOPsPerToken(seq, model.Causal, 0)), seq,
		unit.FormatFLOPs(m.FLOPsPerToken(seq, model.Full, 0)))
	if n := len(m.MTP); n > 0 {
		s += fmt.Sprintf("; %s causal with MTP", unit.FormatFLOPs(m.FLOPsPerToken(seq, model.Causal, n)))
	}
	return s
}

func checkpointText(c *model.Checkpoint) string {
	s := c.Weights.String()
	if c.Experts != c.Weights {
		s += ", experts " + c.Experts.String()
	}
	if len(c.KeptBF16) > 0 {
		s += "; 16 bit: " + strings.Join(c.KeptBF16, ", ")
	}
	return s
}
