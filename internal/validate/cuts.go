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
	ranges map[string]*covered
}

func newCuts(order ...string) *cuts {
	return &cuts{order, map[string][]float64{}, map[string]*covered{}}
}

func (c *cuts) add(name string, ratios ...float64) {
	c.ratios[name] = append(c.ratios[name], ratios...)
}

// covered counts the rows of a cut within their ranges.
func (c *cuts) covered(name string) *covered {
	if c.ranges[name] == nil {
		c.ranges[name] = &covered{}
	}
	return c.ranges[name]
}

// groups are the cuts that have rows.
func (c *cuts) groups() (list []Group) {
	for _, name := range c.order {
		if r := c.ratios[name]; len(r) > 0 {
			g := Group{Key: map[string]string{"cut": name}, Errors: errorsOf(r)}
			g.Coverage = c.covered(name).share()
			list = append(list, g)
		}
	}
	return list
}
