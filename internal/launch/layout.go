package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// LayoutStages counts the stages of a Megatron-LM pipeline layout: letters E t m L,
// groups in brackets, *N repeating what stands before it, | between stages.
func LayoutStages(layout string) (stages [][]byte, err error) {
	flat, err := expandLayout(strings.Trim(layout, "'\" "), 0)
	if err != nil {
		return nil, err
	}
	for _, s := range strings.Split(flat, "|") {
		stages = append(stages, []byte(s))
	}
	return stages, nil
}

// maxLayout bounds an expanded layout.
const maxLayout = 1 << 16

func expandLayout(s string, depth int) (string, error) {
	var out strings.Builder
	if depth > 8 {
		return "", fmt.Errorf("layout %q nests too deep: use at most 8 brackets", s)
	}
	for i := 0; i < len(s); {
		var unit string
		switch c := s[i]; {
		case c == '(':
			end, level := i+1, 1
			for ; end < len(s) && level > 0; end++ {
				level += strings.Count(s[end:end+1], "(") - strings.Count(s[end:end+1], ")")
			}
			if level > 0 {
				return "", fmt.Errorf("layout %q has an open bracket: close it", s)
			}
			inner, err := expandLayout(s[i+1:end-1], depth+1)
			if err != nil {
				return "", err
			}
			unit, i = inner, end
		case c == ',' || c == ' ':
			i++
			continue
		case strings.ContainsRune("EtmL|", rune(c)):
			unit, i = s[i:i+1], i+1
		default:
			return "", fmt.Errorf("layout %q has %q: use E, t, m, L, |, brackets and *N", s, string(c))
		}
		n := 1
		if i < len(s) && s[i] == '*' {
			end := i + 1
			for end < len(s) && s[end] >= '0' && s[end] <= '9' {
				end++
			}
			var err error
			if n, err = strconv.Atoi(s[i+1 : end]); end > i+1 && (err != nil || n > maxLayout) {
				return "", fmt.Errorf("layout %q repeats more than %d times: write the number of layers", s, maxLayout)
			} else if err != nil {
				return "", fmt.Errorf("layout %q has a * without a number: write *N", s)
			}
			i = end
		}
		if out.Len()+n*len(unit) > maxLayout {
			return "", fmt.Errorf("layout %q is longer than %d letters", s, maxLayout)
		}
		out.WriteString(strings.Repeat(unit, n))
	}
	return out.String(), nil
}
