package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
)

// onMachineOr is n of the catalogue's GPUs of a name, or as many of the machine m where that is
// given; another GPU than the machine's is then an error.
func onMachineOr(m *hw.Cluster, gpu string, n int) (*hw.Cluster, error) {
	switch {
	case m == nil:
		return catalog.Cluster(clusterName(gpu, n))
	case !named(m.Device, gpu): // else a GPU of the user's own, or one that the catalogue knows by that name too
		c, err := catalog.Cluster(clusterName(gpu, n))
		if err != nil {
			return nil, err
		}
		if c.Device.Name != m.Device.Name {
			return nil, fmt.Errorf("%s, and the machine of --cluster holds %s: give its runs alone", c.Device.Name, m.Device.Name)
		}
	}
	if n > catalog.MaxGPUs {
		return nil, fmt.Errorf("%d GPUs: give 1 to %d", n, catalog.MaxGPUs)
	}
	own := m.Clone()
	own.GPUs = int64(n)
	return own, own.Validate()
}

// named tells whether a device has the name, or goes by it too.
func named(d *hw.Device, name string) bool {
	same := func(s string) bool { return strings.EqualFold(s, strings.TrimSpace(name)) }
	return same(d.Name) || slices.ContainsFunc(d.Aliases, same)
}

// clusterName is the cluster of a row as the catalogue reads it.
func clusterName(gpu string, n int) string { return fmt.Sprintf("%sx%d", gpu, n) }
