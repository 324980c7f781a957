package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/note"
)

// MaxGPUs bounds a cluster: ten times the largest training clusters of today.
// A larger count is taken for a typing error.
const MaxGPUs = 1 << 20

// Cluster builds the machine that spec means: a GPU name and count such as
// h800x2048 with the GPU's default node, a path that ends in .yaml or .yml, or
// the name of an embedded cluster. Errors are one line that names spec and the
// mend.
func Cluster(spec string) (*hw.Cluster, error) {
	if IsFile(spec) {
		return clusterFile(spec)
	}
	c, err := NamedCluster(spec)
	var fault *note.Fault
	if errors.As(err, &fault) && fault.Code == note.ClusterForm { // it may have been meant for a file
		err = fmt.Errorf("%w; or give a file ending in .yaml", err)
	}
	return c, err
}

// IsFile tells whether Cluster takes the text for a path.
func IsFile(spec string) bool {
	ext := strings.ToLower(filepath.Ext(spec))
	return ext == ".yaml" || ext == ".yml"
}

// NamedCluster is Cluster without files: the disk is not looked at.
func NamedCluster(spec string) (*hw.Cluster, error) {
	if c := embeddedCluster(spec); c != nil {
		return c, nil
	}
	return clusterSpec(spec)
}

// clusterSpec reads NAMExN. Names may hold an x themselves (mi300xx8), so the
// last one separates, unless the whole is a GPU's name; an x that ends the name
// may serve as the separator too (mi300x8).
func clusterSpec(spec string) (*hw.Cluster, error) {
	word := strings.ToLower(strings.TrimSpace(spec))
	if _, err := Device(word); err == nil {
		return nil, fmt.Errorf("cluster %s has no GPU count: write %sx8 for eight", quote(spec), word)
	}
	cut := strings.LastIndexByte(word, 'x')
	if cut < 1 || !isCount(word[cut+1:]) {
		return nil, clusterForm(spec, word, cut)
	}
	device, err := Device(word[:cut])
	if err != nil {
		var own error // mi300x64 is 64 mi300x: the x of the name serves both
		if device, own = Device(word[:cut+1]); own != nil {
			return nil, fmt.Errorf("cluster %s: %w", quote(spec), err)
		}
	}
	n, err := strconv.ParseInt(word[cut+1:], 10, 64)
	if err != nil || n < 1 || n > MaxGPUs {
		return nil, fmt.Errorf("cluster %s has %s GPUs: give 1 to %d", quote(spec), word[cut+1:], MaxGPUs)
	}
	c := defaultCluster(device, n)
	c.Name = spec
	spread(c)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// isCount tells whether s looks like a whole number, negative ones included, so
// that a bad count is told apart from a bad name.
func isCount(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && len(digits) <= 20 && strings.Trim(digits, "0123456789") == ""
}

// clusterForm is the error for a spec that has no GPU count.
func clusterForm(spec, word string, cut int) error {
	if cut > 0 {
		if _, err := Device(word[:cut]); err == nil {
			return fmt.Errorf("cluster %s: %s is no GPU count: write %sx8 for eight", quote(spec), quote(word[cut+1:]), word[:cut])
		}
	}
	names := append(clusterNames(), loadGPUs().names...)
	near := nearest(word, names)
	if len(near) == 0 {
		return note.Faultf(note.ClusterForm, "spec", "cluster %s: write GPU name x count such as h800x2048, or a name that `ridgeline clusters` lists", quote(spec))
	}
	return note.Faultf(note.ClusterForm, "spec nearest", "cluster %s: write GPU name x count such as h800x2048; nearest names are %s", quote(spec), strings.Join(near, ", "))
}

// defaultCluster is n devices in their default nodes.
func defaultCluster(d *hw.Device, n int64) *hw.Cluster {
	return &hw.Cluster{Device: d, GPUs: n, Node: d.DefaultNode, Fabric: d.DefaultFabric}
}

// spread lays GPUs that do not fill whole rack-scale domains evenly on the
// fewest of them that take equal numbers: 256 GPUs of 72-GPU domains become 64 in each of
// 4, as the published GB200 runs do, 1,024 become 64 in each of 16. A domain is at least
// half full. Nodes of eight are left alone, since a job that leaves GPUs of a server idle is
// more likely a mistake. What was done is said in the cluster's notes.
func spread(c *hw.Cluster) {
	domain := c.Node.GPUs
	if domain <= 8 || c.GPUs <= domain || c.GPUs%domain == 0 {
		return
	}
	for domains := (c.GPUs + domain - 1) / domain; 2*c.GPUs >= domains*domain; domains++ {
		if c.GPUs%domains == 0 {
			c.Node.GPUs = c.GPUs / domains
			c.Notes = fmt.Sprintf("%d GPUs lie evenly on %d domains of %d, %d in each", c.GPUs, domains, domain, c.Node.GPUs)
			return
		}
	}
}

// clusterFile reads a user's cluster file.
func clusterFile(name string) (*hw.Cluster, error) {
	f, err := input.Open(name)
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, fmt.Errorf("cluster file %s: %w: give a readable file", quote(name), err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cluster file %s cannot be read: give a regular file", quote(name))
	}
	return readCluster(name, data, true)
}
