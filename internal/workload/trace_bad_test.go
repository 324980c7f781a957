package workload

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// What a user can mend by reading one line.
func TestTracesSayWhatIsWrong(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(azure)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for text, says := range map[string]string{
		"\n\n":                               "holds no request",
		"\xff\xfeT\x00I\x00":                 "UTF-16",
		"\xfe\xff\x00T\x00I":                 "UTF-16",
		packed.String() + "\x1f\x8b\x08":     "damaged gzip data",
		packed.String()[:packed.Len()-4]:     "cut short",
		`{"timestamp":0,"input_length":1e2}`: "whole number",
	} {
		if _, err := Read(strings.NewReader(text), "t"); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: error %v, want one line with %q", text, err, says)
		}
	}
}
