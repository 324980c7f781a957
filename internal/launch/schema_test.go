package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// manifests are one of each kind that launch writes.
func manifests(t *testing.T) (docs []string) {
	t.Helper()
	requests := []*Request{
		ask(t, argv.VLLM, Kube, "deepseek-r1", "tp=8,replicas=2"),
		ask(t, argv.VLLM, Kube, "deepseek-r1", "dp=32,ep=32"),
		ask(t, argv.SGLang, Kube, "deepseek-r1", "prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16"),
		ask(t, argv.TRTLLM, Kube, "deepseek-r1", "prefill:dp=8,ep=8,workers=2;decode:dp=8,ep=8"),
		ask(t, argv.TRTLLM, Kube, "deepseek-r1", "dp=16,ep=16,replicas=2"),
		ask(t, argv.LlamaCPP, Kube, "deepseek-r1", "pp=16"),
		ask(t, argv.VLLM, Kube, "deepseek-r1", "prefill:tp=8,workers=2;decode:dp=16,ep=16"),
		ask(t, argv.VLLM, Ray, "deepseek-r1", "tp=16,replicas=2"),
		ask(t, argv.VLLM, Ray, "deepseek-r1", "tp=8"),
		ask(t, argv.VLLM, Ray, "deepseek-r1", "prefill:tp=8,workers=2;decode:dp=16,ep=16"),
		askTraining(t, argv.MegatronLM, Kube, "deepseek-v3", "pp=16,dp=128,ep=64,zero=1", 16384),
	}
	for i, r := range requests {
		if r.Target == Kube && r.Training == nil {
			r.Serve.ISL, r.Serve.OSL, r.Tools = 1024, 128, Tools{Workers: 4, Probes: 2, Image: "i", Results: "results", Levels: []int{4, 64}}
		}
		r.Namespace, r.ModelVolume, r.RDMA = "serving", "models", "rdma/ib"
		b, err := Build(r)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		for _, f := range b.Files {
			if strings.HasSuffix(f.Name, ".yaml") && strings.Contains(f.Content, "apiVersion: ") {
				docs = append(docs, strings.Split(f.Content, "---\n")[1:]...)
			}
		}
	}
	return docs
}

// TestManifestsDecodeStrictly: every object is one of its type, without a key that
// the type does not have.
func TestManifestsDecodeStrictly(t *testing.T) {
	seen := map[string]int{}
	for _, doc := range manifests(t) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			t.Fatal(err)
		}
		into := map[string]any{"Service": &corev1.Service{}, "ConfigMap": &corev1.ConfigMap{}, "Deployment": &appsv1.Deployment{},
			"Job": &batchv1.Job{}, "LeaderWorkerSet": &leaderWorkerSet{}, "RayCluster": &rayCluster{}}[head.Kind]
		if into == nil {
			t.Fatalf("kind %q", head.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
			t.Errorf("%s: %v\n%s", head.Kind, err, doc)
		}
		seen[head.Kind]++
	}
	for _, kind := range []string{"Service", "ConfigMap", "Deployment", "Job", "LeaderWorkerSet", "RayCluster"} {
		if seen[kind] == 0 {
			t.Errorf("no %s was written", kind)
		}
	}
}

// schema is the part of an OpenAPI v3 schema that the custom resources use.
type schema struct {
	Type       string
	Properties map[string]*schema
	Additional *schema `json:"additionalProperties"`
	Items      *schema
	Required   []string
	Enum       []any
	Minimum    *float64
	Maximum    *float64
	AnyOf      []any `json:"anyOf"`
	IntOrStr   bool  `json:"x-kubernetes-int-or-string"`
	Preserve   bool  `json:"x-kubernetes-preserve-unknown-fields"`
}

// check tells where a value is not what the schema says.
func (s *schema) check(at string, v any) (bad []string) {
	fail := func(format string, args ...any) { bad = append(bad, at+": "+fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		found := false
		for _, e := range s.Enum {
			found = found || e == v
		}
		if !found {
			fail("%v is none of %v", v, s.Enum)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Type != "object" {
			fail("an object, want %s", s.Type)
		}
		for _, r := range s.Required {
			if _, ok := v[r]; !ok {
				fail("%s is missing", r)
			}
		}
		for k, x := range v {
			switch p := s.Properties[k]; {
			case p != nil:
				bad = append(bad, p.check(at+"."+k, x)...)
			case s.Additional != nil:
				bad = append(bad, s.Additional.check(at+"."+k, x)...)
			case !s.Preserve && s.Properties != nil:
				fail("has no property %s", k)
			}
		}
	case []any:
		if s.Type != "array" {
			fail("a list, want %s", s.Type)
			return bad
		}
		for i, x := range v {
			bad = append(bad, s.Items.check(fmt.Sprintf("%s[%d]", at, i), x)...)
		}
	case string:
		if s.Type != "string" && !s.IntOrStr && len(s.AnyOf) == 0 {
			fail("%q, want %s", v, s.Type)
		}
	case float64:
		if s.Type != "integer" && s.Type != "number" && !s.IntOrStr && len(s.AnyOf) == 0 {
			fail("%v, want %s", v, s.Type)
		}
		if s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			fail("%v is out of range", v)
		}
	case bool:
		if s.Type != "boolean" {
			fail("%v, want %s", v, s.Type)
		}
	}
	return bad
}

// TestCustomResourcesKeepTheirSchemas: against the schemas that their projects
// publish (kubernetes-sigs/lws, ray-project/kuberay). Rules in CEL need an API
// server and are not checked.
func TestCustomResourcesKeepTheirSchemas(t *testing.T) {
	for kind, least := range map[string]int{"LeaderWorkerSet": 5, "RayCluster": 3} {
		b, err := os.ReadFile("../../../shared/launch/schema/" + strings.ToLower(kind) + ".json")
		if err != nil {
			t.Skipf("the public schemas are not here: %v", err)
		}
		var file struct {
			Versions map[string]struct {
				Schema *schema `json:"openAPIV3Schema"`
			}
		}
		if err := json.Unmarshal(b, &file); err != nil || file.Versions["v1"].Schema == nil {
			t.Fatalf("%d versions: %v", len(file.Versions), err)
		}
		n := 0
		for _, doc := range manifests(t) {
			if !strings.Contains(doc, "kind: "+kind+"\n") {
				continue
			}
			var v map[string]any
			if err := yaml.Unmarshal([]byte(doc), &v); err != nil {
				t.Fatal(err)
			}
			n++
			v["metadata"] = map[string]any{} // the server's, not the resource's
			for _, bad := range file.Versions["v1"].Schema.check("", v) {
				t.Error(kind, bad)
			}
		}
		if n < least {
			t.Errorf("%d objects %s checked", n, kind)
		}
	}
}
