package workload

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n"

func TestReadEveryFormat(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Request
	}{
		{"azure", azure, []Request{{Input: 374, Output: 44, Line: 2}, {At: 4_314_579_000, Input: 396, Output: 109, Line: 3}}},
		{"a byte order mark", "\ufeff" + azure, []Request{{Input: 374, Output: 44, Line: 2}, {At: 4_314_579_000, Input: 396, Output: 109, Line: 3}}},
		{"azure, other columns and order", "x,GeneratedTokens,ContextTokens,TIMESTAMP\r\n1,2,3,2024-05-10 00:00:00.5+00:00\r\n", []Request{{Input: 3, Output: 2, Line: 2}}},
		{"mooncake", `{"timestamp": 5, "input_length": 513, "output_length": 7, "hash_ids": [0, 9]}` + "\n" + `{"timestamp": 7.5, "input_length": 1, "output_length": 2, "hash_ids": [3]}`,
			[]Request{{Input: 513, Output: 7, Line: 1, Blocks: []uint64{0, 9}}, {At: 2_500_000, Input: 1, Output: 2, Line: 2, Blocks: []uint64{3}}}},
		{"engine", `{"request_id": "a", "input_toks": 3, "output_toks": 4, "queued_ts": 27536.660701067}` + "\n" + `{"request_id": "b", "input_toks": 3, "output_toks": 4, "queued_ts": 27537.047603549}`,
			[]Request{{ID: "a", Input: 3, Output: 4, Line: 1}, {ID: "b", At: 386_902_482, Input: 3, Output: 4, Line: 2}}},
	} {
		w, err := Read(strings.NewReader(c.text), c.name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, w.Requests); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestReadCompressed(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(azure))
	z.Close()
	w, err := Read(bytes.NewReader(b.Bytes()), "a.csv.gz")
	if err != nil || len(w.Requests) != 2 {
		t.Fatal(w, err)
	}
	cut := b.Bytes()[:b.Len()-9]
	if w, err := Read(bytes.NewReader(cut), "cut.gz"); err == nil || w != nil {
		t.Errorf("a cut file was read: %v", w)
	}
}

// Records of an evaluation are in the order in which requests ended: as a trace they
// come as they were due, on one clock, without the warm-up.
func TestReadEndedRequests(t *testing.T) {
	const (
		late  = `{"id":"b","run":"r","worker":"w","stage":1,"started_unix_seconds":100,"scheduled_seconds":3,"input_tokens":5,"output_tokens":0,"generated_tokens":6}` + "\n"
		warm  = `{"id":"x","run":"r","worker":"w","stage":1,"warmup":true,"started_unix_seconds":100,"scheduled_seconds":0,"input_tokens":5,"output_tokens":6}` + "\n"
		early = `{"id":"a","run":"r","worker":"w","stage":1,"started_unix_seconds":100,"scheduled_seconds":1,"input_tokens":7,"output_tokens":8}` + "\n"
		other = `{"id":"c","run":"r","worker":"v","stage":1,"started_unix_seconds":101.5,"scheduled_seconds":0.5,"input_tokens":9,"output_tokens":1}` + "\n"
	)
	w, err := Read(strings.NewReader(warm+late+early+other), "r.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{{ID: "a", Input: 7, Output: 8, Line: 3}, {ID: "c", At: time.Second, Input: 9, Output: 1, Line: 4}, {ID: "b", At: 2 * time.Second, Input: 5, Output: 6, Line: 2}}
	if diff := cmp.Diff(want, w.Requests); diff != "" {
		t.Error(diff)
	}
	for text, says := range map[string]string{
		late + strings.Replace(early, `"stage":1`, `"stage":0`, 1):                   "line 2: stage 0 after stage 1",
		late + `{"id":"a","scheduled_seconds":1,"input_tokens":7,"output_tokens":8}`: "line 2: no run",
		warm: "no request",
	} {
		if _, err := Read(strings.NewReader(text), "r.jsonl"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// A bad line is named and nothing is read.
func TestBadTraces(t *testing.T) {
	const good = `{"timestamp": 1, "input_length": 1, "output_length": 1}` + "\n"
	for _, c := range []struct{ text, says string }{
		{"", "empty"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n", "no request"},
		{"TIMESTAMP,ContextTokens\n", "line 1: no column GeneratedTokens"},
		{azure + "2023-11-16 18:15:51,12\n", "line 4: wrong number of fields"},
		{azure + "2023-11-16 18:15:51,12,\n", `line 4: GeneratedTokens ""`},
		{azure + "2023-11-16 18:15:51,1e3,1\n", "line 4: ContextTokens"},
		{azure + "2023-11-16 18:15:51,0,1\n", "line 4: 0 prompt tokens"},
		{azure + "2023-11-16 18:15:51,1,-1\n", "line 4: -1 tokens to generate"},
		{azure + "2023-11-16 18:15:49,1,1\n", "line 4: arrives before"},
		{azure + "9999-11-16 18:15:49,1,1\n", "line 4: arrives"},
		{azure + "yesterday,1,1\n", "line 4: TIMESTAMP"},
		{good + "\n", "line 2"},
		{good + `{"timestamp": 2, "input_length": 1, "output`, "line 2"},
		{good + `{"timestamp": 2, "input_length": 1}`, "line 2: no output_length"},
		{good + `{"input_length": 1, "output_length": 1}`, "line 2: no timestamp"},
		{good + `{"timestamp": 0, "input_length": 1, "output_length": 1}`, "line 2: arrives before"},
		{good + `{"timestamp": 1e300, "input_length": 1, "output_length": 1}`, "line 2: timestamp"},
		{good + `{"timestamp": 2, "input_length": 1.5, "output_length": 1}`, "line 2"},
		{good + `{"timestamp": 2, "input_length": 513, "output_length": 1, "hash_ids": [1]}`, "line 2: 1 hash_ids for 513 tokens"},
		{good + good[:len(good)-1] + "{}", "line 2"},
		{`{"prompt": "hello"}`, "line 1: none of the keys"},
		{`{"pad": "` + strings.Repeat("x", maxLine) + `"}`, "line 1: longer than"},
		{"\x1f\x8b\x00", "gzip"},
	} {
		w, err := Read(strings.NewReader(c.text), "file")
		if err == nil || w != nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "file") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: got %v, want one line with %q", c.text, err, c.says)
		}
	}
	if _, err := Open("no such file"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// What is written can be replayed: the same arrivals and lengths.
func TestRecordsReadBack(t *testing.T) {
	records := []Record{
		{Request: Request{ID: "a", Input: 3, Output: 2}, Generated: 2, First: 5, Last: 9, Tokens: []Timestamp{5, 9}},
		{Request: Request{Input: 4, Output: 5, Priority: 1}, Outcome: Dropped, Reason: "too long", Scheduled: 1_234_567_891, Queued: 1_234_567_891},
	}
	var b bytes.Buffer
	if err := WriteRecords(&b, records); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"first_token_seconds":null`) || !strings.Contains(b.String(), `"token_seconds":[5e-9,9e-9]`) {
		t.Error(b.String())
	}
	w, err := Read(&b, "records")
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{{ID: "a", Input: 3, Output: 2, Line: 1}, {ID: "1", At: 1_234_567_891, Input: 4, Output: 5, Line: 2, Priority: 1}}
	if diff := cmp.Diff(want, w.Requests); diff != "" {
		t.Error(diff)
	}
}

func TestRecordMetrics(t *testing.T) {
	r := Record{Request: Request{Output: 3}, Generated: 3, Queued: 10, Started: 15, First: 30, Last: 50}
	for name, c := range map[string]struct {
		f    func() (time.Duration, bool)
		want time.Duration
	}{"ttft": {r.TTFT, 20}, "tpot": {r.TPOT, 10}, "e2e": {r.E2E, 40}, "queueing": {r.Queueing, 5}} {
		if d, ok := c.f(); !ok || d != c.want {
			t.Errorf("%s = %v, %v", name, d, ok)
		}
	}
	if _, ok := (&Record{Generated: 1}).TPOT(); ok {
		t.Error("one token has a time per output token after the first")
	}
}

// Any input is a trace in order with sound lengths, or an error of one line.
func FuzzRead(f *testing.F) {
	f.Add([]byte(azure))
	f.Add([]byte(`{"timestamp": 5, "input_length": 513, "output_length": 7, "hash_ids": [0, 9]}`))
	f.Add([]byte(`{"request_id": "a", "input_toks": 3, "output_toks": 4, "queued_ts": 27536.6}`))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Read(bytes.NewReader(data), "f")
		if err != nil {
			if w != nil || strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("%v, %q", w, err)
			}
			return
		}
		last := time.Duration(0)
		for _, r := range w.Requests {
			if r.At < last || r.Input < 1 || r.Output < 1 || r.Blocks != nil && len(r.Blocks) != (r.Input+MooncakeBlock-1)/MooncakeBlock {
				t.Fatalf("%+v after %v", r, last)
			}
			last = r.At
		}
	})
}
