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
	output[T any] struct{ Body T }
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
	huma.Register(s.api, operation("models", "/api/v1/models", tagCatalogue, "The known models"), func(_ context.Context, in *SeqInput) (*output[modelList], error) {
		var l modelList
		for _, e := range catalog.Models() {
			l.Models = append(l.Models, *report.NewModelDoc(e.Model, &e, in.Seq))
		}
		return &output[modelList]{l}, nil
	})
	huma.Register(s.api, operation("model", "/api/v1/models/{name}", tagCatalogue, "One model, counted"), func(_ context.Context, in *modelInput) (*output[*report.ModelDoc], error) {
		m, err := catalog.Model(in.Name)
		if err != nil {
			return nil, problem(http.StatusNotFound, err.Error())
		}
		return &output[*report.ModelDoc]{report.NewModelDoc(m, catalog.Entry(m), in.Seq)}, nil
	})
	inspect := operation("inspect", "/api/v1/models/inspect", tagCatalogue, "A config.json, counted")
	inspect.Method, inspect.SkipValidateBody, inspect.MaxBodyBytes = http.MethodPost, true, s.limits.Body
	inspect.Errors = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity}
	huma.Register(s.api, inspect, func(_ context.Context, in *configInput) (*output[*report.ModelDoc], error) {
		m, err := modelfile.ReadConfig(bytes.NewReader(in.Body.raw), broughtModel)
		if err != nil {
			return nil, badInput(err)
		}
		return &output[*report.ModelDoc]{report.NewModelDoc(m, catalog.Entry(m), in.Seq)}, nil
	})
	s.machineRoutes()
}

func (s *Server) machineRoutes() {
	huma.Register(s.api, operation("gpus", "/api/v1/gpus", tagCatalogue, "The known accelerators"), func(context.Context, *struct{}) (*output[gpuList], error) {
		var l gpuList
		for _, d := range catalog.Devices() {
			l.GPUs = append(l.GPUs, *report.NewDeviceDoc(d))
		}
		return &output[gpuList]{l}, nil
	})
	huma.Register(s.api, operation("gpu", "/api/v1/gpus/{name}", tagCatalogue, "One accelerator: peak beside achieved, with sources"), func(_ context.Context, in *nameInput) (*output[*report.DeviceDoc], error) {
		d, err := catalog.Device(in.Name)
		if err != nil {
			return nil, problem(http.StatusNotFound, err.Error())
		}
		return &output[*report.DeviceDoc]{report.NewDeviceDoc(d)}, nil
	})
	huma.Register(s.api, operation("clusters", "/api/v1/clusters", tagCatalogue, "The known clusters"), func(context.Context, *struct{}) (*output[clusterList], error) {
		var l clusterList
		for _, c := range catalog.Clusters() {
			l.Clusters = append(l.Clusters, *report.NewClusterDoc(c))
		}
		return &output[clusterList]{l}, nil
	})
	huma.Register(s.api, operation("cluster", "/api/v1/clusters/{name}", tagCatalogue, "One cluster, by name or as GPU and count"), func(_ context.Context, in *nameInput) (*output[*report.ClusterDoc], error) {
		c, err := catalog.NamedCluster(in.Name)
		if err != nil {
			return nil, problem(http.StatusNotFound, err.Error())
		}
		return &output[*report.ClusterDoc]{report.NewClusterDoc(c)}, nil
	})
}
