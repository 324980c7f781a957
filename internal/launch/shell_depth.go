package launch

import (
	"fmt"
	"strings"
)

// maxNesting bounds how deep a script's brackets and clauses stand in each other: parser
// and walk call themselves once per level, and Go ends a program whose stack is full.
const maxNesting = 5000

// maxChain bounds operators between commands, which nest to the left.
const maxChain = 200_000

// clauses are the words that open and close what nests.
var clauses = map[string]int{"if": 1, "for": 1, "while": 1, "until": 1, "case": 1, "select": 1, "fi": -1, "done": -1, "esac": -1}

// checkNesting refuses scripts that nest beyond what anybody writes. It counts letters, so
// that brackets in quotes count, too.
func checkNesting(text string) error {
	brackets, words, chain, run, start := 0, 0, 0, 0, 0
	word := func(end int) {
		switch w := text[start:end]; {
		case w == "time" || w == "coproc" || w == "function": // which stand before a command, also another of them
			run++
		case w != "":
			run = 0
			words = max(0, words+clauses[w])
		}
		start = end + 1
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			brackets++
			word(i)
		case ')', '}', ']':
			if brackets = max(0, brackets-1); i > 0 && text[i-1] == '(' { // f() f() ...
				chain++
			}
			word(i)
		case ' ', '\t', '\n', ';', '"', '\'':
			word(i)
		case '|', '&', '+', '-', '*', '/', '!', '`', ',', '?', '<', '>', '=':
			chain++
			word(i)
		}
		if max(brackets, words, run) > maxNesting {
			return fmt.Errorf("brackets or clauses nest more than %d deep: give the commands alone", maxNesting)
		}
	}
	if chain > maxChain {
		return fmt.Errorf("the text has more than %d operators: give the commands alone", maxChain)
	}
	return nil
}

// tooDeep tells whether a word is left as it is, without looking into it.
func tooDeep(word string) bool { return strings.Count(word, "(")+strings.Count(word, "{") > maxNesting }
