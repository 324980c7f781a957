package validate

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const header = "id,source,model,arch_params,gpu,gpus,precision,seq_len,global_batch_seqs,micro_batch,tp,pp,vpp,cp,ep,dp,zero,shard_group,recompute,schedule,mtp,tokens_per_s_per_gpu,memory_gb,citation"

const sample = header + `
a1,nemo,llama-2-7b,,h100,8,bf16,4096,128,1,1,1,1,1,1,8,1,,none,,,10000,60,somewhere
a2,dgxc,llama-3.1-405b,,gb200,256,mxfp8,8192,1536,1,4,16,8,1,1,4,1,,,,,793,,elsewhere
`

func TestReadRuns(t *testing.T) {
	runs, _, err := ReadRuns(strings.NewReader(sample), "t")
	if err != nil {
		t.Fatal(err)
	}
	r := &runs[1]
	if len(runs) != 2 || r.PP != 16 || r.VPP != 8 || r.ShardGroup != 0 || r.MTP != -1 || r.MemoryFigure != 0 || runs[0].MemoryFigure != 60 {
		t.Errorf("read %+v", runs)
	}
	extra := strings.ReplaceAll(strings.ReplaceAll(sample, "\n", ",x\n"), "citation,x", "citation,note")
	if more, _, err := ReadRuns(strings.NewReader(extra), "t"); err != nil || len(more) != 2 {
		t.Errorf("an unknown column is not ignored: %v", err)
	}
}

// A table that is none is refused in one line that names it and the column.
func TestReadRunsRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "t: the table is empty"},
		{header + "\n", "t: the table has a header and no rows"},
		{strings.Replace(header, "seq_len,", "", 1), `t: column "seq_len" is missing`},
		{header + ",tp\n", `t: column "tp" stands twice`},
		{strings.ReplaceAll(header, ",", ";") + "\n", "separated by commas"},
		{strings.NewReplacer("seq_len,", "", "gpus,", "").Replace(header), `t: columns "gpus", "seq_len" are missing`},
		{"{\"id\": \"a1\"}\n", `t: columns "source", "model", `},
	} {
		_, _, err := ReadRuns(strings.NewReader(c.text), "t")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

// A row that makes no sense is named with its column; the others are read.
func TestBadRowsLeaveTheOthers(t *testing.T) {
	for _, c := range []struct{ text, id, want string }{
		{strings.Replace(sample, ",4096,", ",4k,", 1), "a1", `column "seq_len" is "4k"`},
		{strings.Replace(sample, ",h100,8,", ",h100,0,", 1), "a1", `column "gpus" is "0"`},
		{strings.Replace(sample, ",h100,8,", ",h100,,", 1), "a1", `column "gpus" is ""`},
		{strings.Replace(sample, ",10000,", ",NaN,", 1), "a1", `column "tokens_per_s_per_gpu" is "NaN"`},
		{strings.Replace(sample, ",10000,", ",-1,", 1), "a1", `column "tokens_per_s_per_gpu"`},
		{strings.Replace(sample, ",10000,", ",0,", 1), "a1", `column "tokens_per_s_per_gpu"`},
		{strings.Replace(sample, "a2,", "a1,", 1), "a1", `column "id" is "a1" twice`},
		{strings.Replace(sample, "a1,", ",", 1), "row 1", `column "id" is empty`},
		{strings.Replace(sample, "a1,", "a\x1b[31m,", 1), `"a\x1b[31m"`, `column "id" is "a\x1b[31m"`},
		{strings.Replace(sample, "a1,", "a\"1,", 1), "row 1", "correct the quotes"},
		{strings.Replace(sample, ",10000,", ",1e300,", 1), "a1", "from 0.0001 to 1e+09"},
	} {
		runs, bad, err := ReadRuns(strings.NewReader(c.text), "t")
		if err != nil || len(runs) != 1 || len(bad) != 1 || bad[0].ID != c.id || !strings.Contains(bad[0].Reason, c.want) {
			t.Errorf("want %s: %q, got %v, %d runs, %v", c.id, c.want, bad, len(runs), err)
		}
	}
	runs, bad, err := ReadRuns(strings.NewReader(sample+"a3,b\n"), "t")
	if err != nil || len(runs) != 2 || len(bad) != 1 || bad[0].ID != "row 3" || !strings.Contains(bad[0].Reason, "2 cells") {
		t.Errorf("a short row: %v, %d runs, %v", bad, len(runs), err)
	}
	d := Training(t.Context(), runs, bad, &Predictor{})
	if d.Rows != 3 || d.Scored != 2 || d.Malformed != 1 {
		t.Errorf("%d rows, %d scored, %d malformed", d.Rows, d.Scored, d.Malformed)
	}
}

// JSON lines are the same table: keys are columns, numbers stay as written.
func TestReadJSONLines(t *testing.T) {
	in := csv.NewReader(strings.NewReader(sample))
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, cells := range rows[1:] {
		o := map[string]any{}
		for k, name := range rows[0] {
			o[name] = cells[k]
			if n, err := strconv.Atoi(cells[k]); err == nil {
				o[name] = n
			} else if cells[k] == "" {
				o[name] = nil
			}
		}
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	want, _, err := ReadRuns(strings.NewReader(sample), "t")
	if err != nil {
		t.Fatal(err)
	}
	got, bad, err := ReadRuns(strings.NewReader("\ufeff"+text.String()+"\n[1]\n{\"id\": {}}\n"), "t")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if len(bad) != 2 || bad[0].ID != "row 3" || !strings.Contains(bad[0].Reason, "line 4") || !strings.Contains(bad[1].Reason, `column "id" is a list or an object`) {
		t.Errorf("%+v", bad)
	}
}

func FuzzReadRuns(f *testing.F) {
	f.Add(sample)
	f.Add(header)
	f.Add(header + "\n\"")
	f.Add("{\"id\": 1e9, \"tp\": [null]}\n{")
	f.Fuzz(func(t *testing.T, text string) {
		runs, _, err := ReadRuns(strings.NewReader(text), "t")
		for i := range runs {
			if r := &runs[i]; err == nil && (r.GPUs < 1 || r.TP < 1 || r.Seq < 1 || !(r.TokensPerSecondPerGPU > 0)) {
				t.Errorf("accepted %+v", r)
			}
		}
	})
}
