package input

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, os.DevNull} {
		if _, err := Open(path); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: error %v, want %v", path, err, ErrIrregular)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: error %v", err)
	}
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestText(t *testing.T) {
	const most = 1 << 20
	for _, c := range []struct{ in, want, says string }{
		{"", "", ""},
		{"ab", "ab", ""},
		{"{}\n", "{}\n", ""},
		{"\xef\xbb\xbf{}", "{}", ""},
		{"\xef\xbb\xbf", "", ""},
		{"\xff\xfe{\x00}\x00", "", "UTF-16"},
		{"\xfe\xff\x00{\x00}", "", "UTF-16"},
		{"\x1f\x8b\x08", "", "compressed by gzip"},
		{strings.Repeat("a", most), strings.Repeat("a", most), ""},
		{strings.Repeat("a", most+1), "", "larger than 1 MiB"},
	} {
		var got []byte
		r, err := Text(strings.NewReader(c.in), most)
		if err == nil {
			got, err = io.ReadAll(r)
		}
		switch {
		case c.says == "" && (err != nil || string(got) != c.want):
			t.Errorf("%.20q: %.20q, %v", c.in, got, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%.20q: error %v, want %q", c.in, err, c.says)
		}
	}
}
