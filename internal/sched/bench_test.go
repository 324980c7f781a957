package sched

import "testing"

func benchmarkSpec(k Kind, p, m int) *Spec {
	vpp := 1
	if k == Interleaved {
		vpp = 2
	}
	return Uniform(k, p, m, vpp, 1, 1, 0.6, 0.1, 0)
}

// BenchmarkMakespan: a complete layout of p = 16, m = 128.
func BenchmarkMakespan(b *testing.B) {
	for k := range NumKinds {
		b.Run(k.String(), func(b *testing.B) {
			s := benchmarkSpec(k, 16, 128)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Makespan(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAutomatic: the largest pipeline the automatic kinds are meant for.
func BenchmarkAutomatic(b *testing.B) {
	for _, k := range []Kind{ZB1P, ZB2P} {
		b.Run(k.String(), func(b *testing.B) {
			s := benchmarkSpec(k, 32, 256)
			for b.Loop() {
				if _, err := Makespan(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLowerBound(b *testing.B) {
	for k := range NumKinds {
		b.Run(k.String(), func(b *testing.B) {
			s := benchmarkSpec(k, 16, 128)
			b.ReportAllocs()
			for b.Loop() {
				LowerBound(s)
			}
		})
	}
}
