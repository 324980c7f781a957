package catalog

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
)

//go:embed data/standins/*.json
var standInFiles embed.FS

// standIn is generations whose kernels nobody timed one by one: the constants of
// another, but for what whole runs show to differ.
type standIn struct {
	Archs []string `json:"archs"`
	Of    string   `json:"of"`
	// GEMMOverlap is hw.GEMM.Overlap of all formats, the engines' products among them: large second-level caches (72 and
	// 128 MB) keep more of an operand than those of the measured generations.
	GEMMOverlap float64 `json:"gemm_overlap"`
	Source      string  `json:"source"`
	Rows        int     `json:"rows"`
}

// decodeStandIn reads a file strictly.
func decodeStandIn(file string, data []byte) (*standIn, error) {
	s := &standIn{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%s: %s", file, oneLine(err))
	}
	if len(s.Archs) == 0 || s.Of == "" || s.Source == "" || !(s.GEMMOverlap >= 0 && s.GEMMOverlap <= 1) {
		return nil, fmt.Errorf("%s: give archs, of, source and a gemm_overlap between 0 and 1", file)
	}
	return s, nil
}

// addStandIns completes the constants by generation.
func addStandIns(out map[string]*hw.Kernels) error {
	entries, err := standInFiles.ReadDir("data/standins")
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := standInFiles.ReadFile(path.Join("data/standins", e.Name()))
		if err != nil {
			return err
		}
		s, err := decodeStandIn(e.Name(), data)
		if err != nil {
			return err
		}
		of := out[s.Of]
		if of == nil {
			return fmt.Errorf("%s: no constants of %q: use one of %v", e.Name(), s.Of, slices.Sorted(maps.Keys(out)))
		}
		for _, arch := range s.Archs {
			k := *of
			k.Arch, k.Devices = arch, nil
			for f := range k.GEMM {
				if k.GEMM[f].Known() {
					k.GEMM[f].Overlap = s.GEMMOverlap
				}
			}
			k.Engines = slices.Clone(of.Engines)
			for i := range k.Engines {
				e := &k.Engines[i]
				e.GEMM = slices.Clone(e.GEMM)
				for j := range e.GEMM {
					e.GEMM[j].Overlap = s.GEMMOverlap
				}
			}
			k.Fits = append(slices.Clone(of.Fits), hw.Fit{What: "gemm overlap", Tables: []string{s.Source}, Rows: s.Rows})
			out[arch] = &k
		}
	}
	return nil
}
