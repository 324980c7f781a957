package apiserver

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
	"sigs.k8s.io/yaml"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/plan"
)

const namespace = "serving"

// TestServerAcceptsWhatLaunchWrites creates every object of a set of bundles by
// server-side dry run with strict field validation, so that defaults, validation and
// the custom resources' own rules in CEL are the server's.
func TestServerAcceptsWhatLaunchWrites(t *testing.T) {
	config := startServer(t)
	installCustomResources(t, config)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, b := range bundles(t) {
		for _, o := range objects(t, b) {
			kinds[o.GetKind()]++
			if err := dryRun(client, o); err != nil {
				t.Errorf("%s %s of %s: %v", o.GetKind(), o.GetName(), b.Plan, err)
			}
		}
	}
	t.Logf("accepted: %v", kinds)
	for _, kind := range []string{"Service", "ConfigMap", "Deployment", "Job", "LeaderWorkerSet", "RayCluster"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s was tried", kind)
		}
	}
	refuses(t, client)
}

// refuses shows that the server judges: a field that the type has not, and a value
// that a custom resource's schema does not allow.
func refuses(t *testing.T, client dynamic.Interface) {
	t.Helper()
	for name, text := range map[string]string{
		"unknown field":  "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: serving}\nspec: {ports: [{port: 80}], sector: {a: b}}\n",
		"illegal name":   "apiVersion: v1\nkind: Service\nmetadata: {name: Bad_Name, namespace: serving}\nspec: {ports: [{port: 80}]}\n",
		"rule of schema": "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r, namespace: serving}\nspec: {managedBy: me, headGroupSpec: {template: {spec: {containers: [{name: c, image: i}]}}}}\n",
	} {
		if err := dryRun(client, object(t, text)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// startServer runs etcd and a kube-apiserver in this process.
func startServer(t *testing.T) *rest.Config {
	t.Helper()
	c := embed.NewConfig()
	c.Dir, c.LogLevel = t.TempDir(), "error"
	dir := t.TempDir()
	socket := "unix://" + filepath.Join(dir, "etcd.sock:1")
	peer := "unix://" + filepath.Join(dir, "peer.sock:2")
	c.ListenClientUrls, c.AdvertiseClientUrls = urls(t, socket), urls(t, socket)
	c.ListenPeerUrls, c.AdvertisePeerUrls = urls(t, peer), urls(t, peer)
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(2 * time.Minute):
		t.Fatal("etcd did not become ready")
	}
	storage := storagebackend.NewDefaultConfig("registry", nil)
	storage.Transport.ServerList = []string{socket}
	server := kubeapiserver.StartTestServerOrDie(t, nil, []string{"--disable-admission-plugins=ServiceAccount"}, storage)
	t.Cleanup(server.TearDownFn)
	clients := kubernetes.NewForConfigOrDie(server.ClientConfig)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := clients.CoreV1().Namespaces().Create(context.Background(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return server.ClientConfig
}

// installCustomResources makes definitions of the published schemas and waits until
// the server serves them.
func installCustomResources(t *testing.T, config *rest.Config) {
	t.Helper()
	files, _ := filepath.Glob("../../../shared/launch/schema/*.json")
	if len(files) == 0 {
		t.Skip("the public schemas are not here")
	}
	client := apiextensions.NewForConfigOrDie(config).ApiextensionsV1().CustomResourceDefinitions()
	for _, file := range files {
		d := definition(t, file)
		if _, err := client.Create(context.Background(), d, metav1.CreateOptions{}); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for established := false; !established; time.Sleep(50 * time.Millisecond) {
			now, err := client.Get(context.Background(), d.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range now.Status.Conditions {
				established = established || c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
			}
		}
	}
}

func definition(t *testing.T, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Group, Kind, Plural string
		Versions            map[string]struct {
			Served, Storage bool
			Schema          *apiextensionsv1.JSONSchemaProps `json:"openAPIV3Schema"`
		}
	}
	if err := json.Unmarshal(b, &in); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: in.Plural + "." + in.Group}}
	if strings.HasSuffix(in.Group, ".x-k8s.io") { // the server keeps such groups to reviewed definitions
		d.Annotations = map[string]string{"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/lws"}
	}
	d.Spec = apiextensionsv1.CustomResourceDefinitionSpec{Group: in.Group, Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: in.Plural, Kind: in.Kind, ListKind: in.Kind + "List", Singular: strings.ToLower(in.Kind)}}
	for name, v := range in.Versions {
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: v.Served, Storage: v.Storage,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: v.Schema}})
	}
	return d
}

func dryRun(client dynamic.Interface, o *unstructured.Unstructured) error {
	gv := schema.FromAPIVersionAndKind(o.GetAPIVersion(), o.GetKind())
	resource := gv.GroupVersion().WithResource(strings.ToLower(gv.Kind) + "s")
	_, err := client.Resource(resource).Namespace(namespace).Create(context.Background(), o,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// bundles are one of each kind of manifest that launch writes.
func bundles(t *testing.T) (list []*launch.Bundle) {
	t.Helper()
	for _, c := range []struct {
		engine string
		target launch.Target
		plan   string
	}{
		{argv.VLLM, launch.Kube, "tp=8,replicas=2"},
		{argv.VLLM, launch.Kube, "dp=32,ep=32"},
		{argv.SGLang, launch.Kube, "tp=16"},
		{argv.SGLang, launch.Kube, "prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16"},
		{argv.TRTLLM, launch.Kube, "prefill:dp=8,ep=8,workers=2;decode:dp=8,ep=8"},
		{argv.TRTLLM, launch.Kube, "dp=16,ep=16,replicas=2"},
		{argv.LlamaCPP, launch.Kube, "pp=16"},
		{argv.VLLM, launch.Kube, "prefill:tp=8,workers=2;decode:dp=16,ep=16"},
		{argv.VLLM, launch.Ray, "tp=16,replicas=2"},
		{argv.VLLM, launch.Ray, "prefill:tp=8,workers=2;decode:dp=16,ep=16"},
	} {
		r := request(t, c.engine, c.target, "deepseek-r1")
		if c.engine == argv.LlamaCPP {
			r.ModelPath = "/models/r1.gguf"
		}
		p, err := plan.ParseServing(c.plan)
		if err != nil {
			t.Fatal(err)
		}
		if r.Split = p.Disaggregated(); r.Split == nil {
			r.Serving = &p.Whole.Serving
		}
		if c.target == launch.Kube {
			r.Serve.ISL, r.Serve.OSL = 1024, 128
			r.Tools = launch.Tools{Workers: 4, Probes: 2, Image: "registry.example/ridgeline:1", Results: "results", Levels: []int{4, 64}}
		}
		list = append(list, build(t, r))
	}
	f, err := plan.Parse("pp=16,dp=128,ep=64,zero=1,tp=1,cp=1,vpp=1,etp=1,mbs=1")
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, argv.MegatronLM, launch.Kube, "deepseek-v3")
	r.Training, r.Train = &f.Plan, launch.TrainOptions{GlobalBatch: 16384, Seq: 4096}
	return append(list, build(t, r))
}

func request(t *testing.T, engine string, target launch.Target, name string) *launch.Request {
	t.Helper()
	m, err := catalog.Model(name)
	if err != nil {
		t.Fatal(err)
	}
	return &launch.Request{Engine: engine, Target: target, Model: m, ModelPath: m.HFID, NodeGPUs: 8, Name: launch.Label(m.Name),
		Image: "registry.example/engine:1", Namespace: namespace, ModelVolume: "models", RDMA: "rdma/ib"}
}

func build(t *testing.T, r *launch.Request) *launch.Bundle {
	t.Helper()
	b, err := launch.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func objects(t *testing.T, b *launch.Bundle) (list []*unstructured.Unstructured) {
	t.Helper()
	for _, f := range b.Files {
		if strings.HasSuffix(f.Name, ".yaml") && strings.Contains(f.Content, "apiVersion: ") {
			for _, doc := range strings.Split(f.Content, "---\n")[1:] {
				list = append(list, object(t, doc))
			}
		}
	}
	return list
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}
