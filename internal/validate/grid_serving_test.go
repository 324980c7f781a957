package validate

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

const servingGridFile = "../../testdata/grid_serving.json"

// served is one fixed serving case of the grid: a row of a table of serving runs, and
// what was answered last.
type served struct {
	Row  string  `json:"row"` // cells of servingGridColumns
	TTFT float64 `json:"ttft_seconds"`
	TPOT float64 `json:"tpot_seconds"`
	Held int64   `json:"requests_held"`
}

const servingGridColumns = "model,gpu,engine,engine_version,weights,expert_weights,spec_decode,isl,osl,concurrency,gpus,tp,pp,dp,ep"

// servingCases are the cases: models of every kind of attention, the engines and their
// versions, generations with and without kernels of their own, layouts, lengths.
var servingCases = []string{
	"llama-3.1-8b,h100,vllm,,bf16,,none,1024,1024,8,1,1,1,1,1",
	"llama-3.1-8b,h100,trtllm,1.0.0rc3,bf16,,none,1024,512,64,2,2,1,1,1",
	"llama-3.1-8b,a100,vllm,,bf16,,none,1024,256,32,1,1,1,1,1",
	"llama-3.1-8b,rtx-4090,vllm,,fp8,,none,512,256,4,1,1,1,1,1",
	"llama-3.1-70b,h200,vllm,,fp8,,none,8192,1024,16,2,2,1,1,1",
	"llama-3.1-70b,b200,trtllm,,nvfp4,,none,1024,8192,64,1,1,1,1,1",
	"llama-3.1-70b,h100,vllm,,fp8,,none,1024,1024,32,8,4,2,1,1",
	"llama-3.1-70b,mi300x,vllm,,bf16,,none,1024,1024,32,8,8,1,1,1",
	"qwen3-32b,h100,sglang,0.5.1,bf16,,none,1024,512,64,2,2,1,1,1",
	"qwen3-235b-a22b,h100,trtllm,1.0.0rc3,fp8_block,fp8_block,none,1024,512,32,8,8,1,1,1",
	"gpt-oss-120b,b200,vllm,0.15.1,bf16,mxfp4,none,1024,1024,64,2,2,1,1,1",
	"gpt-oss-120b,h200,trtllm,,bf16,mxfp4,none,8192,1024,16,4,4,1,1,4",
	"minimax-m2.5,b200,vllm,0.19.0,fp8,fp8,none,1024,1024,64,4,4,1,1,1",
	"qwen3.5-397b-a17b,b200,sglang,0.5.9,fp8,fp8_block,none,8192,1024,32,4,4,1,1,4",
	"deepseek-r1,b200,sglang,0.5.9,nvfp4,nvfp4,none,1024,1024,128,8,8,1,1,8",
	"deepseek-r1,h200,sglang,,fp8,fp8_block,none,1024,1024,64,16,1,1,16,16",
	"deepseek-r1,b200,trtllm,,nvfp4,nvfp4,mtp,1024,1024,8,8,8,1,1,1",
	"deepseek-v3.2,h200,vllm,,fp8,fp8_block,none,8192,1024,32,8,8,1,1,1",
	"kimi-k2,b200,sglang,,fp8,fp8_block,none,1024,1024,64,16,16,1,1,16",
	"llama-4-scout,h100,vllm,,bf16,,none,1024,1024,16,8,8,1,1,1",
}

// TestServingGrid tells every change of these answers beyond 0.1 %, so that a change of
// the model is seen where it acts; see TestGrid. A change that is meant is written with
// go test ./internal/validate -run TestServingGrid -update.
func TestServingGrid(t *testing.T) {
	var old, now []served
	if data, err := os.ReadFile(servingGridFile); err == nil {
		if err := json.Unmarshal(data, &old); err != nil {
			t.Fatal(err)
		}
	}
	last := map[string]served{}
	for _, c := range old {
		last[c.Row] = c
	}
	p := &ServingPredictor{}
	for i, row := range servingCases {
		text := "id,mode,ttft_ms,tpot_ms," + servingGridColumns + "\n" + fmt.Sprintf("c%d,aggregated,1,1,", i) + row + "\n"
		runs, bad, err := ReadServing(strings.NewReader(text), "grid")
		if err != nil || len(bad) > 0 {
			t.Fatal(row, bad, err)
		}
		x, err := p.Predict(&runs[0])
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		c := served{row, float64(x.TTFT), float64(x.TPOT), x.Point.Running}
		now = append(now, c)
		was, known := last[row]
		if !known && !*update {
			t.Errorf("%s: not in the grid: go test ./internal/validate -run TestServingGrid -update", row)
		}
		for _, v := range []struct {
			what     string
			old, now float64
		}{{"ttft", was.TTFT, c.TTFT}, {"tpot", was.TPOT, c.TPOT}, {"requests held", float64(was.Held), float64(c.Held)}} {
			if change := v.now/v.old - 1; known && math.Abs(change) > 1e-3 {
				t.Logf("%s: %s %+.1f %%", row, v.what, 100*change)
				if !*update {
					t.Errorf("%s: %s was %g, is %g", row, v.what, v.old, v.now)
				}
			}
		}
	}
	if !*update {
		return
	}
	data, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(servingGridFile, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
