package catalog

import (
	"encoding/json"
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// EncodeKernels writes constants as DecodeKernels reads them, four digits each:
// more than the fit knows.
func EncodeKernels(k *hw.Kernels) ([]byte, error) {
	f := kernelsFile{Arch: k.Arch, Vector: k.Vector, Devices: k.Devices, SMPeak: digits(k.SMPeak / 1e12), GEMM: map[string]productFile{}, Attention: coreOf(&k.Attention), MLA: coreOf(&k.MLA)}
	for format := range unit.NumFormats {
		if g := &k.GEMM[format]; g.Known() {
			f.GEMM[format.String()] = productOf(g)
		}
	}
	if l := &k.Links; l.Fitted() {
		f.Links = &linksFile{in(l.Start, 6), in(l.Hop, 6), in(l.Pair, 6), in(l.Chunk, 6), digits(l.Own), in(l.Switch, 6)}
	}
	if s := k.Sustained; s.Share > 0 {
		f.Sustained = &sustainedFile{Share: digits(s.Share), Assumed: s.Assumed}
		for _, d := range s.Devices {
			d.Share, d.Quartiles = digits(d.Share), [2]float64{digits(d.Quartiles[0]), digits(d.Quartiles[1])}
			own := deviceShareFile(d)
			own.PerWatt = digits(d.PerWatt / giga)
			f.Sustained.Devices = append(f.Sustained.Devices, own)
		}
	}
	for _, o := range k.Overheads {
		f.Overheads = append(f.Overheads, overheadFile{o.Engine, o.What, in(o.Fixed, 6), in(o.PerRow, 9), in(o.PerElement, 12), digits(o.Passes), in(o.Host, 6)})
	}
	for i := range k.Engines {
		f.Engines = append(f.Engines, engineOf(&k.Engines[i]))
	}
	f.Exchange, f.Low = exchangeOf(&k.Exchange), exchangeOf(&k.LowLatency)
	for _, t := range k.Fits {
		f.Fits = append(f.Fits, fitFile(t))
	}
	data, err := json.MarshalIndent(f, "", "  ")
	return append(data, '\n'), err
}

func productOf(g *hw.GEMM) productFile {
	f := productFile{Share: digits(g.Share), Fill: digits(g.Fill), Edge: digits(g.Edge), Quant: digits(g.Quant),
		Overlap: digits(g.Overlap), Memory: digits(g.Memory), Launch: in(g.Launch, 6), Step: in(g.Step, 9), Join: in(g.Join, 6),
		Partial: digits(g.Partial), Grouped: digits(g.Grouped)}
	if g.Tiling != hw.WholeK {
		f.Tiling = g.Tiling.String()
	}
	return f
}

func coreOf(a *hw.Attention) *coreFile {
	if *a == (hw.Attention{}) {
		return nil
	}
	f := &coreFile{Fill: digits(a.Fill), Tail: digits(a.Tail), Stream: digits(a.Stream), Item: in(a.Item, 6), Launch: in(a.Launch, 6)}
	for i, s := range a.Share {
		f.Share[i] = digits(s)
	}
	return f
}

// digits rounds to four significant digits.
func digits(v float64) float64 { return digitsOf(v, 4) }

// digitsOf rounds to n significant digits.
func digitsOf(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	p := math.Pow10(n - 1 - int(math.Floor(math.Log10(math.Abs(v)))))
	return math.Round(v*p) / p
}

// in is s in the unit of 10^-exp seconds.
func in(s unit.Seconds, exp int) float64 { return digits(float64(s) * math.Pow10(exp)) }
