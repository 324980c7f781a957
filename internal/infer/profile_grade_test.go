package infer

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
)

// Overheads fitted to runs of other GPUs are assumed on a GPU that none was of, and say so.
func TestOverheadsOfOtherGPUsAreAssumed(t *testing.T) {
	for name, want := range map[string]hw.Grade{"h100-sxm": hw.Measured, "b200-sxm": hw.Measured, "a100-sxm-80gb": hw.Assumed, "h20": hw.Assumed, "mi300x": hw.Assumed} {
		d, err := catalog.Device(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ProfileOn("vllm", d)
		if err != nil {
			t.Fatal(err)
		}
		if p.Grade != want || (want == hw.Assumed) != strings.Contains(p.Source, "no serving run of "+name) {
			t.Errorf("%s: %s: %s", name, p.Grade, p.Source)
		}
	}
}
