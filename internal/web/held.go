package web

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// held bounds the bytes of answers that are made and that their readers have not
// taken yet: a turn at the gate ends when its answer is made, and whoever reads
// slowly would else keep any number of them in memory.
type held struct {
	mu          sync.Mutex
	bytes, most int64
}

// heldAgain is when a request that found no room for its answer may be sent again: seconds.
const heldAgain = 10

// take charges n bytes until give is called. An answer that is alone passes, whatever its size.
func (h *held) take(n int64) (give func(), _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bytes > 0 && h.bytes+n > h.most {
		return nil, unavailable(codeHeld, values{"seconds": heldAgain}, "other clients have not read their answers yet, and there is no room for more: try again in 10 s").again(heldAgain)
	}
	h.bytes += n
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.bytes -= n
	}), nil
}

const (
	// piece is what a client must take within Limits.Patience, bytes: 6.5 kB/s by default.
	piece = 64 << 10
	// sendTime is what a whole answer may take to be sent.
	sendTime = 5 * time.Minute
)

// pour writes an answer piece by piece; a client that stops reading is cut off.
func pour(w http.ResponseWriter, patience time.Duration, b []byte) error {
	c, end := http.NewResponseController(w), time.Now().Add(sendTime)
	for len(b) > 0 {
		deadline := time.Now().Add(patience)
		if deadline.After(end) {
			deadline = end
		}
		if err := c.SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		n := min(len(b), piece)
		if _, err := w.Write(b[:n]); err != nil {
			return err
		}
		if err := c.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) { // or the last bytes would wait without a deadline
			return err
		}
		b = b[n:]
	}
	return nil
}
