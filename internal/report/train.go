package report

import "github.com/ridgeline/ridgeline/internal/api"

// Train draws the answer of `train`.
func Train(p *Page, a *api.TrainAnswer) {
	p.Heading("%s on %s", a.Request.Model.Name, a.Request.Cluster.Name)
}
