package openai

import (
	"bytes"
	"io"
)

// unsolicited begins what net/http's client says, by the standard logger and nothing else, of
// bytes that a service sends after the end of an answer.
const unsolicited = "Unsolicited response received on idle HTTP channel"

// lostAfter is the text of the error of a request whose connection was found to hold such bytes.
const lostAfter = "readLoopPeekFailLocked"

// spoke is what lostAfter means to a user.
const spoke = "the service had sent bytes after the end of its last answer on this connection, which was given up for that"

// Log is a writer for the standard logger. It passes on all to w but what is said of bytes
// after an answer, once a request among lines of progress: they count nowhere, and a request
// that they cost has a class.
func Log(w io.Writer) io.Writer { return logger{w} }

type logger struct{ io.Writer }

func (l logger) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(unsolicited)) {
		return len(line), nil
	}
	return l.Writer.Write(line)
}
