package validate

import (
	"strings"
	"testing"
)

const header = "id,source,model,arch_params,gpu,gpus,precision,seq_len,global_batch_seqs,micro_batch,tp,pp,vpp,cp,ep,dp,zero,shard_group,recompute,schedule,mtp,tokens_per_s_per_gpu,memory_gb,citation"

const sample = header + `
a1,nemo,llama-2-7b,,h100,8,bf16,4096,128,1,1,1,1,1,1,8,1,,none,,,10000,60,somewhere
a2,dgxc,llama-3.1-405b,,gb200,256,mxfp8,8192,1536,1,4,16,8,1,1,4,1,,,,,793,,elsewhere
`

func TestReadRuns(t *testing.T) {
	runs, err := ReadRuns(strings.NewReader(sample), "t")
	if err != nil {
		t.Fatal(err)
	}
	r := &runs[1]
	if len(runs) != 2 || r.PP != 16 || r.VPP != 8 || r.ShardGroup != 0 || r.MTP != -1 || r.MemoryFigure != 0 || runs[0].MemoryFigure != 60 {
		t.Errorf("read %+v", runs)
	}
	extra := strings.ReplaceAll(strings.ReplaceAll(sample, "\n", ",x\n"), "citation,x", "citation,note")
	if more, err := ReadRuns(strings.NewReader(extra), "t"); err != nil || len(more) != 2 {
		t.Errorf("an unknown column is not ignored: %v", err)
	}
}

// Every complaint is one line that names the table, the row and the column.
func TestReadRunsRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "t: the table is empty"},
		{strings.Replace(header, "seq_len,", "", 1), `t: column "seq_len" is missing`},
		{strings.Replace(sample, ",4096,", ",4k,", 1), `t: row a1: column "seq_len" is "4k"`},
		{strings.Replace(sample, ",h100,8,", ",h100,0,", 1), `t: row a1: column "gpus" is "0"`},
		{strings.Replace(sample, ",h100,8,", ",h100,,", 1), `t: row a1: column "gpus" is ""`},
		{strings.Replace(sample, ",10000,", ",NaN,", 1), `t: row a1: column "tokens_per_s_per_gpu" is "NaN"`},
		{strings.Replace(sample, ",10000,", ",-1,", 1), `t: row a1: column "tokens_per_s_per_gpu"`},
		{strings.Replace(sample, "a2,", "a1,", 1), "t: row a1: the id appears twice"},
		{strings.Replace(sample, "a1,", ",", 1), `t: row 1: column "id" is empty`},
		{sample + "a3,b\n", "wrong number of fields"},
	} {
		_, err := ReadRuns(strings.NewReader(c.text), "t")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

func FuzzReadRuns(f *testing.F) {
	f.Add(sample)
	f.Add(header)
	f.Add(header + "\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := ReadRuns(strings.NewReader(text), "t")
		for i := range runs {
			if r := &runs[i]; err == nil && (r.GPUs < 1 || r.TP < 1 || r.Seq < 1 || !(r.TokensPerSecondPerGPU > 0)) {
				t.Errorf("accepted %+v", r)
			}
		}
	})
}
