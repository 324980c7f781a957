package calib

import (
	"reflect"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
)

// A folder that holds tables of one thing changes that thing alone: everything else of the
// generation stays the catalogue's, the kernels of engines with it.
func TestPartOfTheTablesKeepsTheRest(t *testing.T) {
	base := catalog.Kernels("hopper")
	f := &fitter{ctx: t.Context(), dir: t.TempDir(), gpus: []string{"h200"}, base: base,
		kernels: &hw.Kernels{Arch: "hopper", SMPeak: base.SMPeak, Sustained: base.Sustained, Links: hw.Links{Start: 1e-6}}}
	if err := f.all(); err != nil {
		t.Fatal(err)
	}
	kept, want := f.keepOrigins(), *base
	if want.Links = f.kernels.Links; f.kernels.Links.Start != 1e-6 {
		t.Error("a fitted block was replaced")
	}
	if !reflect.DeepEqual(*f.kernels, want) || len(kept) != len(base.Fits) {
		t.Errorf("%d of %d fits kept; got %+v, want %+v", len(kept), len(base.Fits), f.kernels, &want)
	}
	f.base, f.kernels = nil, &hw.Kernels{Arch: "hopper"}
	if err := f.all(); err != nil || len(f.kernels.Engines) != 0 || f.kernels.GEMM[0].Known() {
		t.Errorf("without a base: %+v, error %v", f.kernels, err)
	}
}
