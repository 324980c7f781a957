package calib

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
)

// Scored is one row of a kernel table beside its prediction; Reason says why there
// is none.
type Scored struct {
	Row                 int     // in the file's order, from 0
	Measured, Predicted float64 // seconds
	Low, High           float64 // seconds: the range that holds the measurement four times in five
	Reason              string
	Misfit              bool // the row makes sense, but its GPU does not run it
}

// Score predicts every row of a kernel table from its description alone, with the
// constants of the catalogue, and calls f on each in order. The device is that of
// the folder <gpu>/<kind>/ around the file, else that of the table's device column;
// the engine is the part of the file's name before its version. It returns both
// the device and the table's kind.
func Score(path string, f func(*Scored)) (gpu, kindName string, err error) {
	c, k, err := openRows(path)
	if err != nil {
		return "", "", err
	}
	if gpu, err = c.gpu(path); err != nil {
		return "", "", err
	}
	m, err := tableMachine(gpu, engineName(path), k)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", c.name, err)
	}
	d, err := catalog.Device(gpu)
	if err != nil {
		return "", "", err
	}
	var x sample
	devices := map[string]string{} // tables name one device, millions of times
	for i := range c.rows {
		x = sample{ops: x.ops[:0]}
		s := Scored{Row: i}
		s.Reason = c.elsewhere(i, gpu, devices)
		if s.Reason == "" {
			s.Reason = k.row(c, i, &x)
		}
		if s.Reason == "" {
			s.Measured, s.Predicted = x.seconds, predict(m, nil, &x)
			if !(s.Predicted > 0) || s.Predicted > maxLatency {
				s.Misfit, s.Reason = true, fmt.Sprintf("%s does not run this format", gpu)
			}
		}
		if s.Reason == "" {
			r := rangeOf(d.Arch, engineName(path), k, c, i)
			s.Low, s.High = r.Low*s.Predicted, r.High*s.Predicted
		}
		f(&s)
	}
	return gpu, k.name, nil
}

// gpu names the catalogue's device that a table was measured on.
func (c *cells) gpu(path string) (string, error) {
	folder := filepath.Base(filepath.Dir(filepath.Dir(path)))
	if d, err := catalog.Device(folder); err == nil {
		return d.Name, nil
	}
	device := ""
	if c.device != nil {
		device = c.device[0]
	}
	if gpu := driverName(device); gpu != "" {
		return gpu, nil
	}
	return "", fmt.Errorf("%s: neither the folder %q nor the device %q names a known GPU: put the file into <gpu>/<kind>/", c.name, folder, device)
}

// driverName is the catalogue's device that a driver calls NVIDIA H100 80GB HBM3; "" = none.
func driverName(device string) string {
	for _, word := range strings.Fields(device) {
		name, _, _ := strings.Cut(strings.ToLower(word), "-")
		if d, err := catalog.Device(name); err == nil {
			return d.Name
		}
	}
	return ""
}

// elsewhere says that row i was measured on another GPU than its table. Driver names
// that no catalogued GPU is known by contradict nothing. known keeps what they stand for.
func (c *cells) elsewhere(i int, gpu string, known map[string]string) string {
	if c.device == nil {
		return ""
	}
	own, ok := known[c.device[i]]
	if !ok {
		own = driverName(c.device[i])
		known[c.device[i]] = own
	}
	family := func(name string) string { f, _, _ := strings.Cut(name, "-"); return f }
	if own != "" && family(own) != family(gpu) {
		return fmt.Sprintf("column device is %q and the table is of %s: put its rows into the folder of their own GPU", c.device[i], gpu)
	}
	return ""
}

// tableMachine prices what a table of one engine timed on one node of gpu. Only
// the products' tables are paced by the host: the others ran from CUDA graphs or
// hold its pace in their constants.
func tableMachine(gpu, engine string, k *kind) (*cost.Machine, error) {
	return tableMachineOf(gpu, engine, k, func(*hw.Device) {})
}

// tableMachineOf is tableMachine of a device that edit has changed.
func tableMachineOf(gpu, engine string, k *kind, edit func(*hw.Device)) (*cost.Machine, error) {
	d, err := catalog.Device(gpu)
	if err != nil {
		return nil, err
	}
	edit(d)
	c := &hw.Cluster{Name: gpu, Device: d, GPUs: max(d.DefaultNode.GPUs, 1), Node: d.DefaultNode, Fabric: hw.Fabric{Oversubscription: 1}}
	if k == ncclKind {
		engine = ""
	}
	return cost.New(c, cost.Options{Engine: engine, Eager: k == gemmKind})
}
