package validate

// The cuts that targets are set for, beside whole metrics.
const (
	CutDense       = "dense, layout and recomputation known"
	CutMoE         = "mixture of experts"
	CutGEMM        = "gemm"
	CutExperts     = "moe"
	CutAttention   = "attention and mla"
	CutCollectives = "collectives in one node"
)

// operatorCuts are the cuts of the kinds of kernel tables.
var operatorCuts = map[string]string{
	"gemm": CutGEMM, "moe": CutExperts,
	"context attention": CutAttention, "decode attention": CutAttention, "context mla": CutAttention, "decode mla": CutAttention,
	"mla context module": CutAttention, "mla decode module": CutAttention,
	"nccl": CutCollectives, "custom all-reduce": CutCollectives, "deepep normal": CutCollectives, "deepep low latency": CutCollectives,
}

// cuts gathers ratios by cut, in a fixed order.
type cuts struct {
	order  []string
	ratios map[string][]float64
}

func newCuts(order ...string) *cuts { return &cuts{order, map[string][]float64{}} }

func (c *cuts) add(name string, ratios ...float64) {
	c.ratios[name] = append(c.ratios[name], ratios...)
}

// groups are the cuts that have rows.
func (c *cuts) groups() (list []Group) {
	for _, name := range c.order {
		if r := c.ratios[name]; len(r) > 0 {
			list = append(list, Group{Key: map[string]string{"cut": name}, Errors: errorsOf(r)})
		}
	}
	return list
}
