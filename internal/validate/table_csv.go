package validate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// csvLines reads rows of CSV line by line, so that a stray quote costs its own line and
// not all that follow: a cell may hold line breaks, of mostBreaks lines at most.
type csvLines struct {
	lines []string
	next  int
	width int // cells of the header, 0 = not read yet
}

// mostBreaks is how many further lines a quoted cell may take.
const mostBreaks = 32

// Read is the next row; a line that is none is a lineError.
func (c *csvLines) Read() ([]string, error) {
	for c.next < len(c.lines) && strings.TrimRight(c.lines[c.next], "\r") == "" {
		c.next++
	}
	if c.next >= len(c.lines) {
		return nil, io.EOF
	}
	first := c.next
	c.next++
	text := c.lines[first]
	cells, err := parseRow(text)
	if err != nil && strings.Count(text, `"`)%2 == 1 { // a cell may go on
		for n := first + 1; n < min(len(c.lines), first+1+mostBreaks); n++ {
			text += "\n" + c.lines[n]
			if strings.Count(c.lines[n], `"`)%2 == 0 {
				continue // nothing closes here
			}
			if more, bad := parseRow(text); bad == nil && (c.width == 0 || len(more) == c.width) {
				cells, err, c.next = more, nil, n+1
				break
			}
		}
	}
	if err != nil {
		cause := errors.Unwrap(err)
		if errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote) {
			cause = errors.New("a quote stands where no cell begins or ends")
		}
		return nil, &lineError{fmt.Errorf("line %d: %w: correct the quotes", first+1, cause)}
	}
	if c.width == 0 {
		c.width = len(cells)
	}
	return cells, nil
}

// parseRow reads the one row that text is.
func parseRow(text string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	return r.Read()
}
