package unit

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPrint(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{FormatGB(80e9), "80.00 GB"},
		{FormatBytes(70272), "70.27 kB"},
		{FormatBytes(999_999_999), "1.000 GB"}, // rounds into the next unit
		{FormatBytes(0), "0 B"},
		{FormatByteRate(50e9), "50.00 GB/s"},
		{FormatByteRate(4.8e12), "4.800 TB/s"},
		{FormatFLOPRate(757.7e12), "757.7 TFLOP/s"},
		{FormatFLOPs(249.7e9), "249.7 GFLOP"},
		{FormatSeconds(19.926), "19.93 s"},
		{FormatSeconds(120.96e-6), "121.0 us"},
		{FormatSeconds(0.193e-3), "193.0 us"},
		{FormatSeconds(54 * 86400), "54.00 d"},
		{FormatSeconds(5400), "1.500 h"},
		{FormatSeconds(0), "0 s"},
		{FormatSeconds(Seconds(math.Inf(1))), "+Inf d"},
		{FormatCount(671_026_419_200), "671.03 B"},
		{FormatCount(14_800_000_000_000), "14.80 T"},
		{FormatCount(15360), "15360"},
		{FormatPercent(0.7661), "76.6 %"},
		{FormatUSD(5.328e6), "5.33 M USD"},
		{FormatUSD(2), "2.00 USD"},
		{FormatUSD(0.004321), "0.004321 USD"},
	} {
		if c.got != c.want {
			t.Errorf("printed %q, want %q", c.got, c.want)
		}
	}
}

// Printing and reading again changes a quantity by no more than the printed
// digits: four significant ones.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v := math.Pow(10, rng.Float64()*17) // 1 to 1e17
		near := func(kind, text string, got float64, err error) {
			if err != nil || math.Abs(got-v) > 5.1e-4*v+0.5 {
				t.Fatalf("%s %v printed %q, read %v, %v", kind, v, text, got, err)
			}
		}
		s := FormatByteRate(ByteRate(v))
		r, err := ParseByteRate(s)
		near("rate", s, float64(r), err)
		s = FormatFLOPRate(FLOPRate(v))
		fr, err := flopRateQ.float(s)
		near("rate", s, fr, err)
		s = FormatSeconds(Seconds(v))
		sec, err := ParseSeconds(s)
		near("time", s, float64(sec), err)
		v = math.Round(v)
		s = FormatBytes(Bytes(v))
		b, err := ParseBytes(s)
		near("bytes", s, float64(b), err)
	}
}

// Binary and decimal units differ by the ratio of their definitions.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		format Format
		n      int64
		want   Bytes
	}{
		{BF16, 3, 6},
		{FP8Block, 16384, 16384 + 4}, // one FP32 scale per 128 x 128 block
		{NVFP4, 16, 8 + 1},           // one FP8 scale per 16 values
		{MXFP4, 33, 17 + 2},          // two scales, half bytes rounded up once
		{INT4, 128, 64 + 2},          // one BF16 scale per 128 values
	} {
		if got := c.format.Size(c.n); got != c.want {
			t.Errorf("%d of %v take %d bytes, want %d", c.n, c.format, got, c.want)
		}
	}
	for f := range NumFormats {
		back, ok := ParseFormat(f.String())
		if !ok || back != f {
			t.Errorf("format %v reads back as %v", f, back)
		}
	}
}
