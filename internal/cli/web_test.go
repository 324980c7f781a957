package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// webServer runs `ridgeline web` and returns its page, what it says at the start,
// and a function that stops it and returns what it said since.
func webServer(t *testing.T, says int, args ...string) (url string, start []string, stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	root := newRoot(&Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: write})
	root.SetArgs(append([]string{"web", "--db", filepath.Join(t.TempDir(), "runs.db")}, args...))
	ended := make(chan error, 1)
	go func() {
		ended <- root.ExecuteContext(ctx)
		write.Close()
	}()
	lines := bufio.NewScanner(read)
	for len(start) < says && lines.Scan() {
		start = append(start, lines.Text())
	}
	_, url, _ = strings.Cut(start[0], "the page is at ")
	url, _, _ = strings.Cut(url, ",")
	rest := make(chan string, 1)
	go func() {
		text := ""
		for lines.Scan() {
			text += lines.Text() + "\n"
		}
		rest <- text
	}()
	return url, start, func() string {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("web %v: %v", args, err)
		}
		return <-rest
	}
}

func status(t *testing.T, url, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	return a.StatusCode
}

// Beyond the loopback address there is always a token: the user's, or one that is
// made up, another at each start. Nothing is said of requests.
func TestTokenBeyondLoopback(t *testing.T) {
	t.Setenv(tokenVariable, "")
	var made []string
	for range 2 {
		url, start, stop := webServer(t, 2, "--listen", "0.0.0.0:0")
		_, token, _ := strings.Cut(start[1], "shown this once: ")
		if len(token) < 20 {
			t.Fatalf("%q shows no token", start[1])
		}
		made = append(made, token)
		for given, want := range map[string]int{"": 401, "wrong": 401, token: 200} {
			if code := status(t, url+"/api/v1/gpus/h800", given); code != want {
				t.Errorf("with the token %q: %d, want %d", given, code, want)
			}
		}
		if code := status(t, url+"/api/v1/gpus/h800?token="+token, ""); code != 401 {
			t.Errorf("with the token in the address alone: %d, want 401", code)
		}
		if said := stop(); said != "" {
			t.Errorf("it said %q", said)
		}
	}
	if made[0] == made[1] {
		t.Error("the same token twice")
	}
	t.Setenv(tokenVariable, "open sesame and more")
	url, start, stop := webServer(t, 1, "--listen", "0.0.0.0:0")
	if code := status(t, url+"/api/v1/gpus/h800", ""); code != 401 {
		t.Errorf("without the user's token: %d", code)
	}
	if code := status(t, url+"/api/v1/gpus/h800", "open sesame and more"); code != 200 {
		t.Errorf("with the user's token: %d", code)
	}
	if said := start[0] + stop(); strings.Contains(said, "sesame") {
		t.Errorf("the user's token is shown: %q", said)
	}
	t.Setenv(tokenVariable, "x")
	_, start, stop = webServer(t, 2, "--listen", "0.0.0.0:0")
	if said := strings.Join(start, ""); !strings.Contains(said, "can be guessed") {
		t.Errorf("of a token of one letter nothing is said: %q", said)
	}
	stop()
	t.Setenv(tokenVariable, "")
	url, _, stop = webServer(t, 1, "--listen", "127.0.0.1:0")
	if code := status(t, url+"/api/v1/gpus/h800", ""); code != 200 {
		t.Errorf("on the loopback address: %d", code)
	}
	stop()
}
