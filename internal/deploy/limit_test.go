package deploy

import "testing"

// Whatever the guess, the last that keeps the promise is found, in a few looks where the
// guess is near.
func TestLast(t *testing.T) {
	for n := range 40 {
		for want := 0; want <= n; want++ {
			for guess := range 45 {
				looks := 0
				got := last(n, guess, func(i int) bool {
					if looks++; i < 1 || i > n {
						t.Fatalf("last(%d, %d) looked at %d", n, guess, i)
					}
					return i <= want
				})
				if got != want {
					t.Fatalf("last(%d, %d) = %d, want %d", n, guess, got, want)
				}
				if guess == want && want > 0 && looks > 2 {
					t.Errorf("last(%d, %d) took %d looks", n, guess, looks)
				}
			}
		}
	}
}
