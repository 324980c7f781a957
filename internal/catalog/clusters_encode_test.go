package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A machine file survives being read and written, from the catalogue or described.
func TestEncodedClustersReadBack(t *testing.T) {
	files := map[string]string{"cpu": cpuMachine, "own": ownCluster, "runs": runsMachine, "plain": "device: h100\ngpus: 16\nname: plain\nsustained_share: 0.8\n"}
	for name, text := range files {
		c, err := ReadCluster(name+".yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		data, err := EncodeCluster(c, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadCluster(name+".yaml", data)
		if err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, data)
		}
		if d := cmp.Diff(c, again); d != "" {
			t.Errorf("%s: %s\n%s", name, d, data)
		}
	}
}
