package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chunks are what services send, and what they should not.
var chunks = []string{
	benchEvent,
	`{"id":"x","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
	`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" word","tool_calls":[],"refusal":null},"finish_reason":"length","stop_reason":null}],"usage":{"prompt_tokens":8,"total_tokens":11,"completion_tokens":3}}`,
	`{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":3,"prompt_tokens_details":null}}`,
	`{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":2}}}`,
	`{"choices":[{"index":0,"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[-0.25],"top_logprobs":null},"finish_reason":null,"token_ids":null}]}`,
	`{"choices":[{"text":"a","token_ids":[1,2]}]}`,
	`{"choices":[{"delta":{"reasoning":"a","reasoning_content":"a","content":null}}],"usage":null}`,
	`{"choices":[{"delta":{"reasoning":"a","reasoning_content":"b"}}]}`,
	`{"choices":[{"delta":{"content":"a\"b\u00e9\n"}}]}`, `{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`,
	`{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, `{"choices":[{"delta":{"function_call":{}}}]}`, `{"choices":[{"delta":{"refusal":"no"}}]}`,
	`{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}`, `{"choices":null}`, `{"choices":{}}`, `{"choices":[1]}`, `{"choices":[{},{}]}`, `{"choices":[{"delta":{"content":"a"},"delta":{"content":"b"}}]}`,
	`{"message":"full","choices":[]}`, `{"choices":[{"delta":{},"message":{"content":"a"}}]}`, `{"error":null,"choices":[]}`, `{"error":{"message":"full"}}`, `{"object":"error","message":"full"}`, `{"object":7}`, `{"usage":7}`, `{"usage":{"prompt_tokens":-1}}`, `{"usage":{"prompt_tokens":1e3}}`, `{"usage":{"prompt_tokens":"7"}}`, `{"usage":{"prompt_tokens":12345678901}}`, `{"usage":{"prompt_tokens":007}}`,
	`{}`, `{ }`, ` {"a" : [ 1 , -2.5 , true , false , null , { "b" : { } } ] } `, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e5}`, `{"a":tru}`, `{"a":truex}`, `{"a":nul}`, `{"a":nullx}`, `{"a":[1,]}`, `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":1}}`, `{"a":1} x`, "{\"a\":\"\x01\"}", `{"a":"\q"}`, `{"a":[[[[[[1]]]]]]}`, `[]`, `7`, ``, `{`, `{"a":"`, `nu`, `{"choices":[{"finish_reason":"stop","finish_reason":null}]}`, `{"choices":[{"finish_reason":7}]}`,
	"{\"usage\":{\"prompt_tokens\":3}\x00}", "{}\x00",
}

// What the quick reader takes, the full one reads as the same; and it takes what
// services send most.
func TestQuickReaderAgrees(t *testing.T) {
	taken := 0
	for i, c := range chunks {
		if e, ok := quick([]byte(c)); ok {
			agrees(t, c, e)
			taken++
		} else if i < 4 {
			t.Errorf("%s is left to the full reader", c)
		}
	}
	t.Logf("%d of %d taken", taken, len(chunks))
}

func agrees(t *testing.T, text string, e event) {
	t.Helper()
	full, ok := parseAny([]byte(text))
	if !ok {
		t.Fatalf("%q is taken, and is no JSON", text)
	}
	if d := cmp.Diff(full, e, cmp.AllowUnexported(event{}, choice{})); d != "" {
		t.Errorf("%q: full (-) and quick (+): %s", text, d)
	}
}
