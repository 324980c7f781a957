package balance

import "testing"

// A search prepares one imbalance per expert layout.
func BenchmarkNew(b *testing.B) {
	for name, c := range map[string]Case{"inorder": deepSeek(0, publishedSkew), "redundant": deepSeek(32, publishedSkew), "even": deepSeek(0, 0)} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := New(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
