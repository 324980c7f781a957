package openai

import "time"

// Class is how an exchange that is no success ended; "" is a success.
type Class string

// The classes. They are counted in reports, so each says one thing.
const (
	Connect     Class = "connect"          // no connection: refused, unreachable, no such host
	TLS         Class = "tls"              // the handshake failed
	Write       Class = "write"            // the connection broke while the request was written
	SlowHeaders Class = "slow_headers"     // no head of an answer within the limit
	Reset       Class = "reset"            // the connection broke before the answer was over
	Protocol    Class = "protocol"         // what came over it is not HTTP: its head, or the framing of its body
	Stall       Class = "stall"            // no byte for longer than the limit
	Overtime    Class = "timeout"          // the whole answer took longer than the limit
	HTTPStatus  Class = "http"             // a status other than 2xx; the record holds which
	RateLimited Class = "http_429"         // the service refused: too many requests
	Unavailable Class = "http_503"         // the service refused: overloaded
	Redirected  Class = "redirect"         // it points elsewhere, where neither key nor prompt is sent
	ErrorObject Class = "error_in_stream"  // an error object after status 200
	Garbage     Class = "garbage"          // an event or body that is not the protocol's JSON
	HalfEvent   Class = "half_event"       // the stream ended within an event
	NoFinish    Class = "no_finish_reason" // the stream ended without a finish_reason
	NoDone      Class = "no_done"          // the stream ended without [DONE]
	Empty       Class = "empty"            // it finished without a token
	TooLarge    Class = "too_large"        // more bytes than the limit
	Interrupted Class = "cancelled"        // the client gave up: end of the stage, or its user
)

// Chunk is one event that carries tokens.
type Chunk struct {
	At     time.Duration // since the client's start, taken before the event was parsed
	Tokens int           // that it carries, 0 = not known
}

// Usage is what the server counted. Known is false where it said nothing.
type Usage struct {
	Known      bool
	Prompt     int  // tokens of the prompt, template included
	Completion int  // tokens generated, reasoning included
	Reasoning  int  // of Completion, 0 also where the server does not say
	Cached     int  // of Prompt, found in the prefix cache; 0 also where the server does not say
	Continuous bool // it came with every chunk, so that the tokens of each are known
}

// The most tokens of one prompt and of one answer that a server can have meant: beyond any
// model's context. A count above says nothing.
const (
	MostPrompt     = 1 << 24
	MostCompletion = 1 << 21
)

// possible is the usage without counts that cannot be.
func (u Usage) possible() Usage {
	if u.Prompt > MostPrompt {
		u.Prompt = 0
	}
	if u.Completion > MostCompletion {
		u.Completion = 0
	}
	return u
}

// Connection is what it took to have a connection. All is zero for a reused one.
type Connection struct {
	Reused            bool
	DNS, Connect, TLS time.Duration
}

// Answer is one exchange as it was received. Stamps of events that did not happen
// are 0.
type Answer struct {
	Class  Class
	Reason string // in words; never the text of prompt or answer
	Status int
	Finish string
	// Began tells whether an answer with status 200 began: what failed after that
	// is truncated where tokens came.
	Began bool

	Sent, Headers, FirstEvent, End time.Duration
	Chunks                         []Chunk
	Answer                         int // index of the first chunk that is no reasoning, -1 = none
	Usage                          Usage
	RetryAfter                     time.Duration
	Connection                     Connection
	Text                           string // the answer without reasoning, only where kept
	Reasoning                      string // likewise
}
