package workload

import (
	"os"
	"testing"
	"time"
)

const shared = "../../../shared/"

// open reads a published trace, or skips where it is not there.
func open(t *testing.T, name string) *Workload {
	t.Helper()
	if _, err := os.Stat(shared + name); err != nil {
		t.Skip(err)
	}
	w, err := Open(shared + name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The published traces are read whole: counts, token sums and spans as a count
// over the files gives them.
func TestPublishedTraces(t *testing.T) {
	for _, c := range []struct {
		file                    string
		requests, input, output int
		span                    time.Duration
	}{
		{"traces/azure_conv_2023.csv.gz", 19366, 22361870, 4088665, 0},
		{"traces/mooncake_conversation.jsonl.gz", 12031, 0, 0, 3536999 * time.Millisecond},
		{"measured/requests/RTX4090-Llama-3.1-8B.jsonl", 300, 257239, 195753, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			w := open(t, c.file)
			input, output := 0, 0
			for _, r := range w.Requests {
				input, output = input+r.Input, output+r.Output
			}
			if len(w.Requests) != c.requests || c.input > 0 && (input != c.input || output != c.output) {
				t.Errorf("%d requests, %d + %d tokens", len(w.Requests), input, output)
			}
			if c.span > 0 && w.Span() != c.span {
				t.Errorf("span %v", w.Span())
			}
		})
	}
}
