package web

import (
	"bytes"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/report"
)

// Lists of the catalogues, as the command line prints them.
type (
	modelList struct {
		Models []report.ModelDoc `json:"models"`
	}
	gpuList struct {
		GPUs []report.DeviceDoc `json:"gpus"`
	}
	clusterList struct {
		Clusters []report.ClusterDoc `json:"clusters"`
	}
)

type (
	SeqInput struct {
		Seq int64 `query:"seq" default:"4096" minimum:"1" maximum:"4294967296" doc:"sequence length of the FLOPs per token"`
	}
	modelInput struct {
		SeqInput
		Name string `path:"name" doc:"catalogue name or Hugging Face id; write %2F for the slash of an id" example:"deepseek-v3"`
	}
	nameInput struct {
		Name string `path:"name"`
	}
	configInput struct {
		SeqInput
		Body config
	}
)

// config is a Hugging Face config.json.
type config struct{ raw []byte }

func (config) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "a Hugging Face config.json as it is"}
}

func (c *config) UnmarshalJSON(b []byte) error {
	c.raw = bytes.Clone(b)
	return nil
}

func (s *Server) catalogueRoutes() {
	answered(s, operation("models", "/api/v1/models", tagCatalogue, "The known models"), modelList{}, func(_ context.Context, in *SeqInput) (any, error) {
		var l modelList
		for _, e := range catalog.Models() {
			l.Models = append(l.Models, *report.NewModelDoc(e.Model, &e, in.Seq))
		}
		return l, nil
	})
	answered(s, operation("model", "/api/v1/models/{name}", tagCatalogue, "One model, counted", http.StatusNotFound), &report.ModelDoc{}, func(_ context.Context, in *modelInput) (any, error) {
		m, err := catalog.Model(in.Name)
		if err != nil {
			return nil, problem(http.StatusNotFound, err.Error())
		}
		return report.NewModelDoc(m, catalog.Entry(m), in.Seq), nil
	})
	inspect := s.posted(operation("inspect", "/api/v1/models/inspect", tagCatalogue, "A config.json, counted"))
	answered(s, inspect, &report.ModelDoc{}, func(_ context.Context, in *configInput) (any, error) {
		m, err := modelfile.ReadConfig(bytes.NewReader(in.Body.raw), broughtModel)
		if err != nil {
			return nil, badInput(err)
		}
		return report.NewModelDoc(m, catalog.Entry(m), in.Seq), nil
	})
	s.machineRoutes()
}

func (s *Server) machineRoutes() {
	answered(s, operation("gpus", "/api/v1/gpus", tagCatalogue, "The known accelerators"), gpuList{}, func(context.Context, *struct{}) (any, error) {
		var l gpuList
		for _, d := range catalog.Devices() {
			l.GPUs = append(l.GPUs, *report.NewDeviceDoc(d))
		}
		return l, nil
	})
	answered(s, operation("gpu", "/api/v1/gpus/{name}", tagCatalogue, "One accelerator: peak beside achieved, with sources", http.StatusNotFound), &report.DeviceDoc{}, func(_ context.Context, in *nameInput) (any, error) {
		d, err := catalog.Device(in.Name)
		if err != nil {
			return nil, problem(http.StatusNotFound, err.Error())
		}
		return report.NewDeviceDoc(d), nil
	})
	answered(s, operation("clusters", "/api/v1/clusters", tagCatalogue, "The known clusters"), clusterList{}, func(context.Context, *struct{}) (any, error) {
		var l clusterList
		for _, c := range catalog.Clusters() {
			l.Clusters = append(l.Clusters, *report.NewClusterDoc(c))
		}
		return l, nil
	})
	answered(s, operation("cluster", "/api/v1/clusters/{name}", tagCatalogue, "One cluster, by name or as GPU and count", http.StatusNotFound), &report.ClusterDoc{}, func(_ context.Context, in *nameInput) (any, error) {
		c, err := catalog.NamedCluster(in.Name)
		if err != nil {
			return nil, problem(http.StatusNotFound, err.Error())
		}
		return report.NewClusterDoc(c), nil
	})
}
