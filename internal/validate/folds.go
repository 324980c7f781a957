package validate

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// foldOf is the part that rows of a name belong to, "0" to "4": by a fixed hash, so that a row
// stays in its part whatever stands beside it.
func foldOf(name string) string {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return strconv.FormatUint(h.Sum64()%folds, 10)
}

// The ways to cross-validate, as documents name them: by single rows, and by all rows together
// that differ in load alone, which are no independent measurements.
const (
	CutRow     = "row"
	CutService = "service" // of serving runs, see ServingRun.service
	CutJob     = "job"     // of training runs, see Run.job
)

// service names a deployment: its rows differ in lengths and concurrency.
func (r *ServingRun) service() string {
	return strings.Join([]string{r.Model, r.GPU, r.Engine, r.Version, r.layout(), r.Weights, r.Experts, r.Speculation}, " ")
}

// job names what is trained and on what: its runs differ in GPUs, batch, sequence and layout.
func (r *Run) job() string {
	return strings.Join([]string{r.Source, r.Model, r.ArchParams, r.GPU, r.Precision}, " ")
}
