package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// ProfilesDoc is refitted engine profiles as JSON.
type ProfilesDoc struct {
	File     string       `json:"file"`
	Profiles []ProfileDoc `json:"profiles"`
}

// ProfileDoc is one profile: its constants in SI, and its errors on the runs of the fit
// and on those of models that were left out of it.
type ProfileDoc struct {
	Engine    string             `json:"engine"`
	Arch      string             `json:"arch,omitempty"`
	Before    string             `json:"before_version,omitempty"`
	Rows      int                `json:"rows"`
	Constants map[string]float64 `json:"constants"`
	TPOT      validate.Errors    `json:"tpot"`
	TTFT      validate.Errors    `json:"ttft"`
	HeldTPOT  validate.Errors    `json:"held_out_tpot"`
	HeldTTFT  validate.Errors    `json:"held_out_ttft"`
}

// NewProfilesDoc is the document of fits written to file.
func NewProfilesDoc(fits []validate.ProfileFit, file string) ProfilesDoc {
	doc := ProfilesDoc{File: file}
	for i := range fits {
		f := &fits[i]
		one := ProfileDoc{Engine: f.Profile.Engine, Arch: f.Profile.Arch, Before: f.Profile.Before, Rows: f.Rows, Constants: map[string]float64{},
			TPOT: f.TPOT, TTFT: f.TTFT, HeldTPOT: f.HeldTPOT, HeldTTFT: f.HeldTTFT}
		for _, c := range validate.Constants(&f.Profile) {
			one.Constants[c.Key] = c.Value
		}
		doc.Profiles = append(doc.Profiles, one)
	}
	return doc
}

// Profiles prints refitted engine profiles.
func Profiles(p *Page, fits []validate.ProfileFit, file string) {
	p.Heading("Engine profiles, written to %s", file)
	p.Line("")
	var rows [][]string
	pair := func(e validate.Errors) string {
		if e.N == 0 {
			return ""
		}
		return fmt.Sprintf("%.1f, %.1f", 100*e.MedianAPE, 100*e.MAPE)
	}
	for i := range fits {
		f := &fits[i]
		before := f.Profile.Before
		if before != "" {
			before = "before " + before
		}
		rows = append(rows, []string{f.Profile.Engine, before, f.Profile.Arch, fmt.Sprint(f.Rows), pair(f.TPOT), pair(f.HeldTPOT), pair(f.TTFT), pair(f.HeldTTFT)})
	}
	p.Table([]Column{Left("engine"), Left("version"), Left("generation"), Right("runs"), Right("TPOT %"), Right("held out"), Right("TTFT %"), Right("held out")}, rows)
	p.Line("")
	p.Text(2, "Errors are median, mean of |predicted/measured - 1|; held out: runs of models that the fit did not see.")
}
