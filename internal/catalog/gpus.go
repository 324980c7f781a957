package catalog

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

//go:embed data/gpus/*.json
var gpuFiles embed.FS

// gpuIndex is the decoded catalogue: entries in file order, every name and alias, and the
// entry by each one's spelling.
type gpuIndex struct {
	devices []*hw.Device
	names   []string
	byName  map[string]*hw.Device
}

// loadGPUs decodes the embedded files once. A broken file is a fault of the
// program, not of its input; the catalogue's tests rule it out.
var loadGPUs = sync.OnceValue(func() *gpuIndex {
	ix, err := readGPUs(gpuFiles, "data/gpus")
	if err != nil {
		panic("catalog: " + err.Error())
	}
	return ix
})

// readGPUs decodes every file of a folder and indexes names and aliases.
func readGPUs(files fs.FS, dir string) (*gpuIndex, error) {
	paths, err := fs.Glob(files, path.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	ix := &gpuIndex{byName: map[string]*hw.Device{}}
	for _, p := range paths {
		data, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, err
		}
		d, err := readGPU(path.Base(p), data)
		if err != nil {
			return nil, err
		}
		ix.devices = append(ix.devices, d)
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			k := spelling(name)
			if taken := ix.byName[k]; taken != nil && taken != d || name != strings.ToLower(name) {
				return nil, fmt.Errorf("%s: name %q is taken or not lower-case", p, name)
			}
			ix.byName[k] = d
			ix.names = append(ix.names, name)
		}
	}
	hw.Relate(ix.devices)
	return ix, nil
}

// readGPU decodes one device file.
func readGPU(file string, data []byte) (*hw.Device, error) {
	f, err := parseFields(file, data)
	if err != nil {
		return nil, err
	}
	d := decodeDevice(f)
	f.done()
	if err := *f.err; err != nil {
		return nil, err
	}
	if err := checkRates(d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// makers are words before a GPU's name that its entry leaves out.
var makers = []string{"nvidia", "amd", "intel", "google", "geforce", "instinct", "tesla"}

// spelling is a name without what tables and tools write differently: case, the maker
// before it, and blanks, hyphens and underscores ("NVIDIA RTX PRO 6000", a100_sxm, "H100 NVL").
func spelling(name string) string {
	key := strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(name))
	for _, m := range makers {
		if rest := strings.TrimPrefix(key, m); rest != "" {
			key = rest
		}
	}
	return key
}

// Device returns a copy of the catalogue entry of that name or alias, however it is spelt.
// An unknown name is an error with the nearest names.
func Device(name string) (*hw.Device, error) {
	ix := loadGPUs()
	d := ix.byName[spelling(name)]
	if d == nil {
		return nil, unknownName("GPU", name, ix.names, "ridgeline gpus")
	}
	return d.Clone(), nil
}

// Devices returns copies of all entries, sorted by name.
func Devices() []*hw.Device {
	var out []*hw.Device
	for _, d := range loadGPUs().devices {
		out = append(out, d.Clone())
	}
	return out
}

// gibPerGB is what memory may pass its datasheet figure by, which writes GB for GiB
// (1.074), rounded up.
const gibPerGB = 1.08

// checkRates refuses a device that reached more than its peak. An all-reduce
// that the switch sums moves less than the bus bandwidth it reports, so
// ScaleUpReduce may pass the link's rate, at most twice (each rank then sends
// its share once instead of twice).
func checkRates(d *hw.Device) error {
	type pair struct {
		name           string
		achieved, peak hw.Figure
		slack          float64
	}
	p, a := &d.Peak, &d.Achieved
	pairs := []pair{
		{"attention_fwd_tflops", a.AttentionFwd, p.Matrix[unit.BF16], 1},
		{"attention_bwd_tflops", a.AttentionBwd, p.Matrix[unit.BF16], 1},
		{"hbm_gb_per_s", a.HBM, p.HBM, 1},
		{"scale_up_gb_per_s", a.ScaleUp, p.ScaleUp, 1},
		{"scale_up_reduce_gb_per_s", a.ScaleUpReduce, p.ScaleUp, hw.SwitchSums},
		{"host_link_gb_per_s", a.HostLink, p.HostLink, 1},
		{"nic_gb_per_s", a.NIC, d.DefaultNode.NIC, 1},
		{"memory_gb", a.Memory, p.Memory, gibPerGB},
	}
	for f := range matrixKeys {
		pairs = append(pairs, pair{matrixKeys[f], a.Matrix[f], p.Matrix[f], 1})
	}
	for _, q := range pairs {
		if q.achieved.Known() && !q.peak.Known() {
			return fmt.Errorf("achieved.%s of %s has no peak beside it: give both", q.name, d.Name)
		}
		if q.achieved.Known() && q.achieved.Value > q.peak.Value*q.slack {
			u := unitOf(q.name)
			limit := q.peak.Value * q.slack / u.si
			of := ""
			if q.slack != 1 {
				of = fmt.Sprintf(", %g x %.6g", q.slack, q.peak.Value/u.si)
			}
			return fmt.Errorf("achieved.%s of %s is above its peak (%.6g > %.6g %s%s): correct one of them", q.name, d.Name, q.achieved.Value/u.si, limit, u.name, of)
		}
	}
	return nil
}
