package web

import (
	"regexp"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// took is the one figure of an answer that is measured.
var took = regexp.MustCompile(`"search_seconds": [0-9.e-]+`)

// The same question has the same answer, byte for byte, however many cores search: counts and
// rejected examples included.
func TestAnswersDoNotDependOnCores(t *testing.T) {
	h := serve(t, Options{})
	question := trainExample.with(example{"model": "mixtral-8x7b", "cluster": "h100x64", "global_batch": 64})
	answer := func(cores int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		code, _, body := fetch(t, post(t, h.URL+"/api/v1/train", question))
		if code != 200 {
			t.Fatalf("%d %s", code, body)
		}
		return string(took.ReplaceAll(body, nil))
	}
	one := answer(1)
	for _, cores := range []int{3, 8} {
		if d := cmp.Diff(one, answer(cores)); d != "" {
			t.Errorf("with %d cores:\n%s", cores, d)
		}
	}
}
