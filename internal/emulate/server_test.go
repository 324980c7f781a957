package emulate

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestPromptTokens(t *testing.T) {
	for text, want := range map[string]int{
		"":                         0,
		"hello":                    1,
		"hello there":              2,
		"hello, there! 1234":       7, // hello|,| there|!| |123|4
		"a\n\nb":                   3,
		"  x":                      2,
		"Straße über 東京":           3,
		"(see) f(x)=2":             6, // (see|)| f|(x|)=|2
		strings.Repeat(" word", 9): 9,
	} {
		if got := (content)(nil).text(text).tokens(); got != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
	}
	answer := []byte{}
	for i := range 100 {
		answer = word(answer, 7, i)
	}
	if n := (content)(nil).text(string(answer)).tokens(); n != 100 {
		t.Errorf("an answer of 100 tokens counts %d when it comes back", n)
	}
}

// Equal beginnings have equal blocks, and nothing after the first difference has.
func TestBlocks(t *testing.T) {
	a := content(nil).ids([]int32{1, 2, 3, 4, 5, 6, 7, 8, 9}).blocks(2)
	b := content(nil).ids([]int32{1, 2, 3, 4, 0, 6, 7, 8}).blocks(2)
	if len(a) != 4 || len(b) != 4 || a[0] != b[0] || a[1] != b[1] || a[2] == b[2] || a[3] == b[3] {
		t.Errorf("blocks %v and %v", a, b)
	}
}

func TestAnswers(t *testing.T) {
	s := start(t, Config{Service: service(1e-3)})
	for _, x := range []struct {
		path, body     string
		prompt, tokens int
		finish         string
	}{
		{"/v1/completions", `{"model": "tiny", "prompt": [1,2,3], "max_tokens": 5, "stream": false}`, 3, 5, "length"},
		{"/v1/completions", `{"prompt": "one two three four"}`, 4, defaultCompletion, "length"},
		{"/v1/completions", `{"prompt": ["one two"], "max_tokens": 1}`, 2, 1, "length"},
		{"/v1/completions", `{"prompt": [[7, 8]], "max_tokens": 2}`, 2, 2, "length"},
		{"/v1/chat/completions", `{"messages": [{"role": "user", "content": "one two"}], "max_completion_tokens": 4}`, 2 + perMessage + primed, 4, "length"},
		{"/v1/chat/completions", `{"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "one two"}]}]}`,
			3 + 2*perMessage + primed, defaultChat, "stop"},
	} {
		r := s.post(t, x.path, x.body)
		var e event
		if es, _ := events(t, "data: "+strings.TrimSpace(r.body)+"\n\n"); len(es) == 1 {
			e = es[0]
		}
		if r.status != http.StatusOK || e.Usage == nil || e.Usage.Prompt != x.prompt || e.Usage.Completion != x.tokens || e.Usage.Total != x.prompt+x.tokens ||
			*e.Choices[0].Finish != x.finish {
			t.Errorf("%s: %d %s", x.body, r.status, r.body)
			continue
		}
		if said := e.Choices[0].Text + e.Choices[0].Message.Content; (content)(nil).text(said).tokens() != x.tokens {
			t.Errorf("%s: the text %q is not of %d tokens", x.body, said, x.tokens)
		}
	}
}

// Chunks carry one token, or interval tokens after the first; usage comes where it
// was asked for, and adds up.
func TestStreams(t *testing.T) {
	for _, x := range []struct {
		interval, reasoning int
		options             string
		want                []int // tokens of the answer after each chunk
	}{
		{0, 0, ``, []int{1, 2, 3, 4, 5, 6, 7, 8}},
		{3, 0, `, "stream_options": {"include_usage": true}`, []int{1, 4, 7, 8}},
		{3, 2, `, "stream_options": {"include_usage": true, "continuous_usage_stats": true}`, []int{1, 2, 4, 7, 8}}, // the second chunk is cut where reasoning ends
	} {
		s := start(t, Config{Service: service(1e-3), Interval: x.interval, Reasoning: x.reasoning})
		r := s.post(t, "/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "max_tokens": 8, "stream": true`+x.options+`}`)
		list, done := events(t, r.body)
		if !done || r.status != http.StatusOK || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") || list[0].Choices[0].Delta.Role != "assistant" {
			t.Fatalf("%d %v: %s", r.status, r.header, r.body)
		}
		list = list[1:]
		if strings.Contains(x.options, "usage") {
			u := list[len(list)-1]
			if len(u.Choices) != 0 || u.Usage == nil || u.Usage.Completion != 8 {
				t.Errorf("the last event is no usage: %s", r.body)
			}
			list = list[:len(list)-1]
		}
		var got []int
		text, thoughts := 0, 0
		for i, e := range list {
			c := &e.Choices[0]
			n := (content)(nil).text(c.Delta.Content + c.Delta.Reasoning).tokens()
			text += n
			if c.Delta.Reasoning != "" {
				thoughts += n
			}
			got = append(got, text)
			if (c.Finish != nil) != (i == len(list)-1) {
				t.Errorf("finish_reason in chunk %d of %d", i, len(list))
			}
			if strings.Contains(x.options, "continuous") && (e.Usage == nil || e.Usage.Completion != text) {
				t.Errorf("chunk %d has usage %+v after %d tokens", i, e.Usage, text)
			}
		}
		if diff := gocmp.Diff(x.want, got); diff != "" || thoughts != x.reasoning {
			t.Errorf("interval %d: %d of reasoning, %s", x.interval, thoughts, diff)
		}
	}
}

// Answers end by themselves where told so, but not for those who ignore it, and
// never before min_tokens.
func TestEnds(t *testing.T) {
	c := Config{Service: service(1e-4)}
	c.Answer.Low, c.Answer.High = 6, 6
	s := start(t, c)
	for body, want := range map[string]string{
		`{"prompt": "x", "max_tokens": 10}`:                     "6 stop",
		`{"prompt": "x", "max_tokens": 4}`:                      "4 length",
		`{"prompt": "x", "max_tokens": 10, "ignore_eos": true}`: "10 length",
		`{"prompt": "x", "max_tokens": 10, "min_tokens": 8}`:    "8 stop",
		`{"prompt": "x"}`: "6 stop",
		`{"prompt": "x", "max_tokens": 10, "min_tokens": 10, "stream": false}`: "10 stop",
	} {
		list, _ := events(t, "data: "+strings.TrimSpace(s.post(t, "/v1/completions", body).body)+"\n\n")
		if got := fmt.Sprintf("%d %s", list[0].Usage.Completion, *list[0].Choices[0].Finish); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	s := start(t, Config{Service: service(1e-3)})
	for _, x := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/v1/completions", `{`, 400, "no request in JSON"},
		{"/v1/completions", `{"model": "other", "prompt": "x"}`, 404, "does not exist"},
		{"/v1/completions", `{"prompt": ""}`, 400, "empty"},
		{"/v1/completions", `{"prompt": {"a": 1}}`, 400, "neither text nor token ids"},
		{"/v1/completions", `{"prompt": [-1]}`, 400, "no token id"},
		{"/v1/completions", `{"prompt": "x", "n": 2}`, 400, "n 2"},
		{"/v1/completions", `{"prompt": "x", "echo": true}`, 400, "echo"},
		{"/v1/completions", `{"prompt": "x", "max_tokens": 0}`, 400, "max_tokens 0"},
		{"/v1/completions", `{"prompt": "x", "max_tokens": 2, "min_tokens": 3}`, 400, "min_tokens 3"},
		{"/v1/completions", `{"prompt": "x", "max_tokens": 100000}`, 400, "the context holds 4096"},
		{"/v1/chat/completions", `{"messages": []}`, 400, "messages is empty"},
		{"/v1/chat/completions", `{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}`, 400, "image_url"},
		{"/v1/chat/completions", `{"messages": [{"role": "user", "content": 7}]}`, 400, "messages[0]"},
		{"/v1/embeddings", `{}`, 404, "not served"},
	} {
		r := s.post(t, x.path, x.body)
		list, _ := events(t, "data: "+strings.TrimSpace(r.body)+"\n\n")
		if r.status != x.status || list[0].Error == nil || !strings.Contains(list[0].Error.Message, x.says) {
			t.Errorf("%s: %d %s", x.body, r.status, r.body)
		}
	}
}

// What the metrics say is what was done, the second time from the prefix cache.
func TestMetrics(t *testing.T) {
	s := start(t, Config{Service: service(1e-3)})
	ids := strings.TrimSuffix(strings.Repeat("5,", 64), ",")
	for range 2 {
		s.post(t, "/v1/completions", `{"prompt": [`+ids+`], "max_tokens": 3}`)
	}
	resp, err := http.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := new(strings.Builder)
	if _, err := fmt.Fprint(body, readAll(t, resp)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
		"vllm:prompt_tokens_total": 128, "vllm:generation_tokens_total": 6, "vllm:prefix_cache_queries_total": 128,
		"vllm:prefix_cache_hits_total": 48, // the last block holds the last token, which must run
		"vllm:num_preemptions_total":   0, "vllm:time_to_first_token_seconds_count": 2, "vllm:e2e_request_latency_seconds_count": 2,
	} {
		_, line, ok := strings.Cut(body.String(), "\n"+name+`{engine="0",model_name="tiny"} `)
		line, _, _ = strings.Cut(line, "\n")
		if got, err := strconv.ParseFloat(line, 64); !ok || err != nil || got != want {
			t.Errorf("%s is %q, want %g", name, line, want)
		}
	}
}

func readAll(t *testing.T, r *http.Response) string {
	t.Helper()
	b := new(strings.Builder)
	if err := r.Write(b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A client that goes gives its place up, and the record says so.
func TestClientGoes(t *testing.T) {
	s := start(t, Config{Service: service(5e-3)})
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/completions", strings.NewReader(`{"prompt": "x", "max_tokens": 4000, "stream": true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	resp.Body.Close()
	for s.engine.state().Running > 0 {
		time.Sleep(time.Millisecond)
	}
	if st := s.engine.state(); st.Cancelled != 1 || st.KVUsed != 0 {
		t.Errorf("state %+v", st)
	}
	if r := s.all(); len(r) != 1 || r[0].Outcome != Cancelled || r[0].Sent >= 4000 {
		t.Errorf("records %+v", r)
	}
}

// Told to stop, a server lets an answer underway end.
func TestStopsGracefully(t *testing.T) {
	s := start(t, Config{Service: service(2e-3)})
	var wg sync.WaitGroup
	wg.Go(func() {
		r := s.post(t, "/v1/completions", `{"prompt": "x", "max_tokens": 100, "stream": true}`)
		if list, done := events(t, r.body); !done || len(list) != 100 {
			t.Errorf("%d chunks, done %v", len(list), done)
		}
	})
	for s.engine.state().Running == 0 {
		time.Sleep(time.Millisecond)
	}
	s.stop()
	wg.Wait()
}

// Stamps are in order, chunks never leave before their token's time, and the
// engine's times are the simulation's: the same whatever the machine adds. The
// first step begins where the request came and lasts what a step does.
func TestStamps(t *testing.T) {
	const each = 4 * time.Millisecond
	s := start(t, Config{Service: service(each.Seconds())})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { s.post(t, "/v1/completions", `{"prompt": "a b c", "max_tokens": 12, "stream": true}`) })
	}
	wg.Wait()
	all := s.all()
	if len(all) != 20 {
		t.Fatalf("%d records", len(all))
	}
	for _, r := range all {
		steps := (r.Last - r.First) / each.Seconds()
		if r.Outcome != Done || r.Chunks != 12 || r.Received > r.Queued || r.Started < r.Queued || r.First < r.Started || r.Headers > r.FirstChunk || r.LastChunk > r.End {
			t.Errorf("record %+v", r)
		}
		if d := steps - 11; d > 1e-6 || d < -1e-6 {
			t.Errorf("11 more tokens took %.9f steps", steps)
		}
		if r.FirstChunk < r.First || r.LastChunk < r.Last {
			t.Errorf("a chunk left at %v before its token came at %v", r.FirstChunk, r.First)
		}
	}
}

// At ten times the speed the engine's times shrink to a tenth.
func TestSpeed(t *testing.T) {
	s := start(t, Config{Service: service(20e-3), Speed: 10})
	s.post(t, "/v1/completions", `{"prompt": "x", "max_tokens": 11, "stream": true}`)
	r := s.all()[0]
	if d := (r.Last-r.First)*1e3 - 20; d > 1e-3 || d < -1e-3 { // ten steps of 2 ms
		t.Errorf("ten steps took %g ms, want 20", (r.Last-r.First)*1e3)
	}
}
