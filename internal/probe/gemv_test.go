package probe

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// half is a small FP16 number and its bits: (1 + m/1024) x 2^e.
func half(rng *rand.Rand) (bits uint16, value float64) {
	m, e := rng.IntN(1024), rng.IntN(4)-3
	return uint16((e+15)<<10 | m), (1 + float64(m)/1024) * math.Pow(2, float64(e))
}

// scaled makes a q8_0 block of the vector or of a row.
func scaled(rng *rand.Rand) (b []byte, values []float64) {
	bits, scale := half(rng)
	b = binary.LittleEndian.AppendUint16(b, bits)
	for range block {
		q := int8(rng.IntN(255) - 127)
		b, values = append(b, byte(q)), append(values, scale*float64(q))
	}
	return b, values
}

// interleaved makes a block of eight rows of q4_0 side by side.
func interleaved(rng *rand.Rand) (b []byte, rows [8][block]float64) {
	var scales [8]float64
	for r := range scales {
		bits, v := half(rng)
		b, scales[r] = binary.LittleEndian.AppendUint16(b, bits), v
	}
	for part := range 2 {
		for r := range 8 {
			for i := range 8 {
				low, high := rng.IntN(16), rng.IntN(16)
				b = append(b, byte(high<<4|low))
				rows[r][8*part+i], rows[r][16+8*part+i] = scales[r]*float64(low-8), scales[r]*float64(high-8)
			}
		}
	}
	return b, rows
}

// Every kernel of this machine multiplies as its format defines.
func TestVectorKernelsMultiply(t *testing.T) {
	kernels := allGEMV()
	if len(kernels) == 0 {
		t.Skip("no kernel for this processor")
	}
	rng := rand.New(rand.NewPCG(8, 9))
	const blocks = gemvColumns / block
	for _, k := range kernels {
		var w, x []byte
		want, size := make([]float64, k.rows), 0.0
		for range blocks {
			var vector []float64
			if k.format == "fp16" {
				for range block {
					v := rng.Float32() - 0.5
					x, vector = binary.LittleEndian.AppendUint32(x, math.Float32bits(v)), append(vector, float64(v))
				}
			} else {
				var b []byte
				b, vector = scaled(rng)
				x = append(x, b...)
			}
			add := func(row int, values []float64) {
				for i, v := range values {
					want[row] += v * vector[i]
					size += math.Abs(v * vector[i])
				}
			}
			switch k.format {
			case "fp16":
				var row []float64
				for range block {
					bits, v := half(rng)
					w, row = binary.LittleEndian.AppendUint16(w, bits), append(row, v)
				}
				add(0, row)
			case "q8_0":
				b, row := scaled(rng)
				w = append(w, b...)
				add(0, row)
			case "q4_0":
				b, rows := interleaved(rng)
				w = append(w, b...)
				for r := range rows {
					add(r, rows[r][:])
				}
			}
		}
		if len(w) != k.rows*k.rowBytes {
			t.Fatalf("%s, %s: %d bytes of weights, want %d", k.format, k.name, k.rows*k.rowBytes, len(w))
		}
		got := make([]float32, 8)
		k.dot(unsafe.Pointer(&w[0]), unsafe.Pointer(&x[0]), blocks, &got[0])
		for r, v := range want {
			if math.Abs(float64(got[r])-v) > 1e-6*size {
				t.Errorf("%s, %s: row %d gives %g, want %g", k.format, k.name, r, got[r], v)
			}
		}
	}
}

// Working sets grow by half octaves up to what was asked.
func TestWorkingSets(t *testing.T) {
	if got, want := gemvSizes(16<<20), []int64{4 << 20, 6 << 20, 8 << 20, 12 << 20, 16 << 20}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := gemvSizes(1 << 20); !slices.Equal(got, []int64{1 << 20}) {
		t.Errorf("%v, want 1 MiB alone", got)
	}
}
