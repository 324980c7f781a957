package ggufwrite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/ggufwrite"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Every architecture and type reads back as the shapes it was written from.
func TestWhatIsWrittenReadsBack(t *testing.T) {
	for kind, format := range map[string]unit.Format{"f16": unit.FP16, "q8_0": unit.Q8_0, "q4_0": unit.Q4_0} {
		for arch, params := range map[string]int64{
			// embedding and head 2 x 300 x 64, norm 64; per layer attention 2 x 64 x 64 + 2 x 64 x 32, FFN 3 x 64 x 96, norms 128
			"llama": 2*300*64 + 64 + 2*(2*64*64+2*64*32+3*64*96+128),
			// attention 64x32 + 32x4x24 + 64x72 + 4x(32x64 + 64x32) + 128x64, norms 32 + 64 + 128; dense 3x64x96; routed 64x4 + 4 + (4+1) x 3x64x32
			"deepseek2": 2*300*64 + 64 + 2*(64*32+32*4*40+64*72+4*(32*64+64*32)+128*64+32+64+128) + 3*64*96 + 64*4 + 4 + 5*3*64*32,
		} {
			c := ggufwrite.Config{Architecture: arch, Type: kind, Hidden: 64, Inner: 96, Layers: 2, Heads: 4, Vocab: 300, QRank: 32, KVRank: 64, NoPE: 32, RoPE: 8, VDim: 32, Experts: 4, TopK: 2, ExpertInner: 32}
			if arch == "llama" {
				c.KVHeads = 2
			}
			path := filepath.Join(t.TempDir(), "m.gguf")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Write(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
			m, err := modelfile.OpenGGUF(path)
			if err != nil {
				t.Errorf("%s %s: %v", arch, kind, err)
				continue
			}
			if m.Params() != params || m.Checkpoint.Weights != format || m.Checkpoint.Head != format || len(m.Layers) != 2 {
				t.Errorf("%s %s: %d parameters in %v, head %v; want %d in %v", arch, kind, m.Params(), m.Checkpoint.Weights, m.Checkpoint.Head, params, format)
			}
			if arch == "deepseek2" && m.Checkpoint.Absorbed != format {
				t.Errorf("%s: absorbed matrices are %v", kind, m.Checkpoint.Absorbed)
			}
		}
	}
}

func TestEqualSeedsGiveEqualFiles(t *testing.T) {
	write := func(seed uint64) []byte {
		var b bytes.Buffer
		c := ggufwrite.Config{Architecture: "llama", Type: "q8_0", Hidden: 64, Inner: 64, Layers: 1, Heads: 2, Vocab: 300, Seed: seed}
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !bytes.Equal(write(1), write(1)) || bytes.Equal(write(1), write(2)) {
		t.Error("files do not follow the seed")
	}
}

func TestImpossibleShapesAreRefused(t *testing.T) {
	for why, c := range map[string]ggufwrite.Config{
		"architecture": {Architecture: "gpt", Type: "f16"},
		"type":         {Architecture: "llama", Type: "q2_k"},
		"multiple of":  {Architecture: "llama", Type: "q8_0", Hidden: 70},
		"heads":        {Architecture: "llama", Type: "f16", Hidden: 96, Heads: 5},
		"vocabulary":   {Architecture: "llama", Type: "f16", Vocab: 10},
		"larger than":  {Architecture: "deepseek2", Type: "f16", TopK: 17},
		"give 1 to":    {Architecture: "llama", Type: "f16", Layers: -1},
	} {
		if err := c.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("error %v, want one about %s", err, why)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorsAreTold(t *testing.T) {
	c := ggufwrite.Config{Architecture: "llama", Type: "f16", Hidden: 64, Inner: 64, Layers: 1, Heads: 2, Vocab: 300}
	if err := c.Write(full{}); err == nil {
		t.Error("a full disk goes unnoticed")
	}
}
