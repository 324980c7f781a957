package hw

import (
	"math"
	"testing"
)

// A power limit takes from the clock what the square of the clock's power asks for, and nothing where it does not bind.
func TestSustainedUnderPowerLimits(t *testing.T) {
	s := Sustained{Share: 0.96, Devices: []DeviceShare{{Device: "own", Share: 0.8, PerWatt: 4 * HeldPerWatt}}}
	for _, c := range []struct {
		why     string
		perWatt float64
		devices []string
		want    float64
	}{
		{"as its runs had it", 4 * HeldPerWatt, []string{"own"}, 0.8},
		{"a quarter less power than its runs had", 4 * HeldPerWatt / 0.75, []string{"own"}, 0.8 * math.Sqrt(0.75)},
		{"the sibling's share at the device's limit", 3 * HeldPerWatt, []string{"other", "own"}, 0.8 * math.Sqrt(4./3)},
		{"never faster in a step than alone", HeldPerWatt, []string{"own"}, 1},
		{"the generation's where the limit does not bind", HeldPerWatt / 2, []string{"other"}, 0.96},
		{"the generation's where it does", 4 * HeldPerWatt, []string{"other"}, 0.48},
		{"a limit that nobody published leaves the own share", 0, []string{"own"}, 0.8},
	} {
		if got := s.Of(c.perWatt, c.devices...); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: share %.4f, want %.4f", c.why, got, c.want)
		}
	}
	if got := (&Sustained{}).Of(HeldPerWatt); got != 1 {
		t.Errorf("nothing known: share %.4f, want 1", got)
	}
}
