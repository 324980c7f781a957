package openai

import (
	"strings"
	"testing"
)

// An address that is refused is quoted without what may be a secret.
func TestRefusedAddressesKeepSecrets(t *testing.T) {
	for _, text := range []string{"http://h/v1?api_key=s3cret", "http://h/v1#s3cret", "http://me:s3cret@h/v1", "http://me:s3cret@h:bad/v1", "ftp://h/v1?k=s3cret", "me:s3cret@h/v1", "://me:s3cret@h", "http://h:bad/v1?k=s3cret", "http://me:s3@cret@h:x"} {
		if _, err := ParseURL(text); err == nil || strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "cret@") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := withoutSecrets("http://me:s3cret@h:bad/v1?k=x"); got != "http://h:bad/v1" {
		t.Error(got)
	}
}
