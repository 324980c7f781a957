package workload

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// azureColumns are the columns of the Azure traces that are read.
var azureColumns = [3]string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

// azureTimes are the layouts of its time stamps; the parser takes any fraction
// of the second.
var azureTimes = []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00"}

func (t *trace) readCSV(r io.Reader) error {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	header, err := c.Read()
	switch {
	case err == io.EOF:
		return nil // blank lines alone: Read says that there is no request
	case err != nil:
		return t.csvError(0, err)
	}
	var at [3]int
	for i, name := range azureColumns {
		if at[i] = index(header, name); at[i] < 0 {
			return t.fail(1, "no column %s: give a CSV trace with %s, or JSON lines", name, strings.Join(azureColumns[:], ", "))
		}
	}
	var start time.Time
	line := 1
	for {
		cells, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return t.csvError(line, err)
		}
		line, _ = c.FieldPos(0)
		stamp, ok := parseTime(cells[at[0]])
		if !ok {
			return t.fail(line, "TIMESTAMP %.40q is no time such as 2023-11-16 18:15:46.6805900", cells[at[0]])
		}
		if len(t.w.Requests) == 0 {
			start = stamp
		}
		r := Request{At: stamp.Sub(start)}
		for i, into := range []*int{&r.Input, &r.Output} {
			if *into, err = strconv.Atoi(cells[at[i+1]]); err != nil {
				return t.fail(line, "%s %.40q is no whole number", azureColumns[i+1], cells[at[i+1]])
			}
		}
		if err := t.add(line, r); err != nil {
			return err
		}
	}
}

// csvError words a complaint of the CSV reader with the line it names, or the one
// after the last that was read.
func (t *trace) csvError(read int, err error) error {
	var p *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount) && errors.As(err, &p):
		return t.fail(p.Line, "%v: give as many as the header names", p.Err)
	case errors.As(err, &p):
		return t.fail(p.Line, "%v: correct the quotes", p.Err)
	}
	return t.unread(read, err)
}

func index(cells []string, name string) int {
	for i, c := range cells {
		if strings.TrimPrefix(strings.TrimSpace(c), "\ufeff") == name {
			return i
		}
	}
	return -1
}

func parseTime(s string) (time.Time, bool) {
	for _, layout := range azureTimes {
		if v, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return v, true
		}
	}
	return time.Time{}, false
}
