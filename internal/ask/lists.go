package ask

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// maxList bounds the values of a list flag: each multiplies the answer.
const maxList = 64

// List reads values separated by commas.
func List[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(text string) ([]T, error) {
		var list []T
		for _, item := range strings.Split(text, ",") {
			v, err := parse(strings.TrimSpace(item))
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		if len(list) > maxList {
			return nil, fmt.Errorf("%d values: give at most %d", len(list), maxList)
		}
		return list, nil
	}
}

// Distinct reads a list that names nothing twice.
func Distinct[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(text string) ([]T, error) {
		list, err := List(parse)(text)
		for i := range list {
			for j := range i {
				if reflect.DeepEqual(list[i], list[j]) {
					return nil, fmt.Errorf("%q names a value twice: list each once", text)
				}
			}
		}
		return list, err
	}
}

// Concurrencies reads `1,8,32` and `1..128`, which doubles from 1 to 128.
// The rows of the answer ascend, whatever the order here.
func Concurrencies(text string) ([]int, error) {
	var list []int
	for _, item := range strings.Split(text, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(item), "..")
		low, err := parseConcurrency(from)
		if err != nil {
			return nil, err
		}
		high := low
		if ranged {
			if high, err = parseConcurrency(to); err != nil {
				return nil, err
			}
			if high < low {
				return nil, fmt.Errorf("%q runs backwards: write the smaller number first", item)
			}
		}
		for c := low; c <= high; c *= 2 {
			list = append(list, c)
		}
		if list[len(list)-1] < high {
			list = append(list, high)
		}
	}
	slices.Sort(list)
	if n := len(list); len(slices.Compact(list)) < n {
		return nil, fmt.Errorf("%q names a number twice: list each once", text)
	}
	if len(list) > maxList {
		return nil, fmt.Errorf("%d values: give at most %d", len(list), maxList)
	}
	return list, nil
}

func parseConcurrency(text string) (int, error) {
	n, err := unit.ParseCount(strings.TrimSpace(text))
	switch {
	case err != nil:
		return 0, err
	case n < 1 || n > deploy.MaxConcurrency:
		return 0, fmt.Errorf("%d: give 1 to %d", n, deploy.MaxConcurrency)
	}
	return int(n), nil
}

// Format reads the format that weights or a cache are stored in.
func Format(text string) (unit.Format, error) {
	f, ok := unit.ParseFormat(strings.ToLower(text))
	switch {
	case !ok:
		var names []string
		for f := range unit.NumFormats {
			if f != unit.TF32 {
				names = append(names, f.String())
			}
		}
		return 0, fmt.Errorf("unknown number format %q: use one of %s", text, strings.Join(names, " "))
	case f == unit.TF32:
		return 0, fmt.Errorf("tf32 is no storage format, products of fp32 use it: write fp32")
	}
	return f, nil
}

// parseOverlap tells whether steps run in two micro-batches.
func parseOverlap(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "none":
		return false, nil
	case "two-batch":
		return true, nil
	}
	return false, fmt.Errorf("unknown overlap %q: use none or two-batch", text)
}

// parseSkew reads an exponent, which has no unit.
func parseSkew(text string) (float64, error) {
	return unit.ParseNumber(text, "an exponent of popularity")
}
