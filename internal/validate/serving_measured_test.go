package validate

import (
	"strings"
	"testing"
)

// The least time of a token is what reading the weights takes: 2 bytes of each of Llama-3.1-8B's 8.03e9 parameters but
// the embedding (128,256 x 4,096), of which a token needs a row, at an H100's 3,350 GB/s. Rows up to 2 % below it pass, it is
// no more than predicted, and a row of the table in seconds is named with its column.
func TestLeastTimePerToken(t *testing.T) {
	for tpot, refused := range map[string]bool{"8": false, "4.45": false, "4.3": true, "0.008": true} {
		runs, _, err := ReadServing(strings.NewReader(servingHeader+"a,llama-3.1-8b,h100,vllm,,aggregated,bf16,,none,1024,128,8,1,1,1,1,1,60,"+tpot+"\n"), "x")
		if err != nil {
			t.Fatal(err)
		}
		p := &ServingPredictor{}
		x, err := p.Predict(&runs[0])
		if err != nil {
			t.Fatal(err)
		}
		least, err := runs[0].leastTPOT(x)
		if want := 2 * (8.03e9 - 128256*4096) / 3350e9; err != nil || float64(least) < want || float64(least) > 1.01*want || least > x.TPOT {
			t.Errorf("%s: least %v, want %g, predicted %v: %v", tpot, least, want, x.TPOT, err)
		}
		d := Serving(t.Context(), runs, nil, p)
		if (d.Malformed == 1) != refused || refused && !strings.HasPrefix(d.Skipped[0].Reason, `column "tpot_ms": `+tpot) {
			t.Errorf("%s: %+v", tpot, d.Skipped)
		}
	}
}
