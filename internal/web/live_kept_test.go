package web

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/store"
)

// What another process tells in the file of runs comes as the events of an own
// evaluation do; one that is silent is said to be, and one that ended ends the stream.
func TestFollowsWhatAnotherProcessTells(t *testing.T) {
	db, file := database(t)
	teller, err := store.Open(t.Context(), file, false)
	if err != nil {
		t.Fatal(err)
	}
	defer teller.Close()
	h := serve(t, Options{Store: db, Services: Services{URLs: []string{"http://h/v1"}}})
	state := json.RawMessage(`{"stage":0,"stages":1,"load":"2 in flight","concurrency":2,"rate":0,"t":1,"total":8,"sent":3,"ok":1,"failed":0,"in_flight":2,"output_tokens_per_second":64}`)
	l := &store.Live{At: time.Now().Add(-2 * quietAfter), Model: "m", Target: "http://u:secret@h/v1", State: state}
	if err := teller.Tell(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	a, err := h.Client().Do(get(t, h.URL+"/api/v1/runs/live"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	described, stream := describer(t, h.URL), bufio.NewReader(a.Body)
	next := func(want, part string) {
		t.Helper()
		name, data := event(t, stream)
		if name != want || !strings.Contains(data, part) || strings.Contains(data, "secret") {
			t.Errorf("%s %s, want %s with %s", name, data, want, part)
		}
		if err := described("paths", "/api/v1/runs/live", "get", "responses", "200", "content", "text/event-stream", "x-events", name).Validate(decoded(t, []byte(data))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	next("bench", `"target":"http://h/v1"`)
	next("sample", `"sent":3`)
	next("quiet", `"since":"`)
	l.At, l.State = time.Now(), json.RawMessage(strings.Replace(string(state), `"sent":3`, `"sent":4`, 1))
	if err := teller.Tell(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	next("sample", `"sent":4`)
	if err := teller.Over(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
	next("end", "{}")
	dead := &store.Live{At: time.Now().Add(-2 * quietAfter), State: state}
	if err := teller.Tell(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	b, err := h.Client().Do(get(t, h.URL+"/api/v1/runs/live"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Body.Close()
	stream = bufio.NewReader(b.Body)
	next("bench", "")
	next("sample", "")
	next("quiet", "")
	fresh := &store.Live{At: time.Now(), State: state}
	if err := teller.Tell(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	c := post(t, h.URL+"/api/v1/bench", example{"url": "http://h/v1", "model": "m", "concurrency": "1", "requests": 1})
	if code, _, b := fetch(t, c); code != http.StatusConflict || !strings.Contains(string(b), "two would measure each other") {
		t.Errorf("beside one of another process: %d %s", code, b)
	}
	next("end", "{}") // and whoever asks again follows the new one
	for _, id := range []int64{dead.ID, fresh.ID} {
		if err := teller.Over(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	l = &store.Live{At: time.Now().Add(-2 * lost), State: state}
	if err := teller.Tell(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := fetch(t, get(t, h.URL+"/api/v1/runs/live")); code != http.StatusNoContent {
		t.Errorf("what was lost long ago is no longer under way: %d", code)
	}
}

// What is answered to a body that is no JSON is declared of every question.
func TestRefusalsAreDeclared(t *testing.T) {
	h := serve(t, Options{})
	_, _, b := fetch(t, get(t, h.URL+"/openapi.json"))
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]any `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for path, methods := range doc.Paths {
		for _, want := range []string{"403", "413", "415", "421"} {
			if op, ok := methods["post"]; ok && op.Responses[want] == nil {
				t.Errorf("%s does not declare %s", path, want)
			}
		}
		if _, ok := methods["post"]; ok {
			asked++
		}
	}
	if asked < 5 {
		t.Errorf("%d questions", asked)
	}
}
