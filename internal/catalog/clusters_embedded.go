package catalog

import (
	"embed"
	"path"
	"strings"
	"sync"

	"github.com/ridgeline/ridgeline/internal/hw"
)

//go:embed data/clusters/*.yaml
var clusterFiles embed.FS

// loadClusters decodes the embedded descriptions once, in file order. A broken
// file is a fault of the program; the catalogue's tests rule it out.
var loadClusters = sync.OnceValue(func() []*hw.Cluster {
	entries, err := clusterFiles.ReadDir("data/clusters")
	if err != nil {
		panic("catalog: " + err.Error())
	}
	var out []*hw.Cluster
	for _, e := range entries {
		data, err := clusterFiles.ReadFile(path.Join("data/clusters", e.Name()))
		if err != nil {
			panic("catalog: " + err.Error())
		}
		c, err := ReadCluster(e.Name(), data)
		if err != nil {
			panic("catalog: " + err.Error())
		}
		out = append(out, c)
	}
	return out
})

// Clusters returns copies of the embedded example clusters, sorted by name.
func Clusters() []*hw.Cluster {
	var out []*hw.Cluster
	for _, c := range loadClusters() {
		out = append(out, c.Clone())
	}
	return out
}

// embeddedCluster is a copy of the embedded cluster of that name in any case,
// nil where there is none.
func embeddedCluster(name string) *hw.Cluster {
	for _, c := range loadClusters() {
		if strings.EqualFold(c.Name, strings.TrimSpace(name)) {
			return c.Clone()
		}
	}
	return nil
}

// clusterNames lists the embedded clusters.
func clusterNames() []string {
	var out []string
	for _, c := range loadClusters() {
		out = append(out, c.Name)
	}
	return out
}
