package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
)

func (p *ServingPredictor) profile(engine, version, arch string) (*infer.Profile, error) {
	if p.Profile != nil {
		return p.Profile(engine, version, arch)
	}
	if p.Machine != nil { // host times of its own stand before any release's
		if k := p.Machine.Device.Kernels.HostOf(engine); k.Known() {
			return infer.ProfileOn(engine, p.Machine.Device)
		}
	}
	if slip := catalog.Slip(engine, infer.ProfiledEngines()); slip != "" && profiled(engine) != engine {
		return nil, fmt.Errorf("engine %q has no profile: did you mean %s?", engine, slip)
	}
	return infer.FindProfileOf(profiled(engine), version, arch)
}

// profiled is the engine whose profile stands for a row's, in lower case: its own, or that of any other
// engine where it has none. What was measured is scored whatever served it, and unprofiled says so.
func profiled(engine string) string {
	if engine == "" || slices.Contains(infer.ProfiledEngines(), engine) {
		return engine
	}
	return infer.OtherEngine
}

// unprofiled says which of the engines that rows name have no profile.
func unprofiled(rows map[string]int) (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if profiled(name) == infer.OtherEngine && name != infer.OtherEngine {
			notes = append(notes, fmt.Sprintf("Engine %s has no profile: its rows (%d) are predicted with what vLLM, SGLang and TensorRT-LLM add to their kernels on average, within wider ranges. Check the name.", printable(name), rows[name]))
		}
	}
	return notes
}

// model finds a model by its Hugging Face id in the folder, else in the catalogue.
func (p *ServingPredictor) model(id string) (*model.Model, error) {
	if m := p.models[id]; m != nil {
		return m, nil
	}
	_, short, _ := strings.Cut(id, "/")
	m, err := catalog.Model(strings.ToLower(short))
	if err != nil {
		m, err = catalog.Model(id)
	}
	if p.Configs != "" && strings.Contains(id, "/") {
		if found, fault := modelfile.Find(id, p.Configs); fault == nil {
			m, err = found, nil
		} else if err != nil {
			err = fault
		}
	}
	if err != nil {
		return nil, err
	}
	if p.models == nil {
		p.models = map[string]*model.Model{}
	}
	p.models[id] = m
	return m, nil
}

func (p *ServingPredictor) cluster(gpu string, n int) (*hw.Cluster, error) {
	name := clusterName(gpu, n)
	if c := p.clusters[name]; c != nil {
		return c, nil
	}
	c, err := onMachineOr(p.Machine, gpu, n)
	if err != nil {
		return nil, err
	}
	if p.clusters == nil {
		p.clusters = map[string]*hw.Cluster{}
	}
	p.clusters[name] = c
	return c, nil
}
