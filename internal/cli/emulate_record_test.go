package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// emulated runs the emulator, which writes its record to a file, asks it so often and stops it.
func emulated(t *testing.T, record string, requests int) (stdout, stderr string, err error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, errs := io.Pipe()
	var out, all strings.Builder
	cmd := newEmulateCommand(&Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: errs})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--model", "llama-3.1-8b", "--cluster", "h100x1", "--plan", "tp=1", "--listen", "127.0.0.1:0", "--speed", "1000", "--record", record})
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		errs.Close()
		ended <- err
	}()
	url, read := make(chan string, 1), make(chan bool)
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for told := false; ; {
			n, err := said.Read(b)
			all.Write(b[:n])
			if u := regexp.MustCompile(`http://\S+/v1 `).FindString(all.String()); u != "" && !told {
				url <- strings.TrimSpace(u)
				told = true
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case u := <-url:
		for range requests {
			p, err := http.Post(u+"/completions", "application/json", strings.NewReader(`{"prompt": "x", "max_tokens": 2}`))
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, p.Body)
			p.Body.Close()
		}
	case <-read:
	}
	stop()
	err = <-ended
	<-read
	return out.String(), all.String(), err
}

// A record that a full disk does not take fails the command, after its report, and is told as
// soon as it happens.
func TestEmulatorsRecordOnAFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full here")
	}
	out, errs, err := emulated(t, full, 3)
	if err == nil || !strings.Contains(err.Error(), "--record /dev/full: 3 records were not written: ") || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
	if strings.Count(errs, "warning: --record /dev/full") != 1 || !strings.Contains(out, "3") {
		t.Errorf("%s%s", out, errs)
	}
	name := filepath.Join(t.TempDir(), "truth.jsonl")
	if _, errs, err := emulated(t, name, 3); err != nil {
		t.Errorf("%v: %s", err, errs)
	}
	if b, err := os.ReadFile(name); err != nil || strings.Count(string(b), "\n") != 3 {
		t.Errorf("%v: %s", err, b)
	}
}
