// Package ask reads questions as people type them: one text per field, with
// units, under the names of the command line's flags. A question is a set of
// flags and what they fill; command line and web page fill the same sets, so that
// both take the same fields, read them alike and refuse them in the same words.
//
// Every error is one line about the asker's own input: it names the field as a
// flag, and the mend.
package ask

import (
	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Finder resolves the names that a question holds. What a name may mean is the
// face's to decide: the command line opens files, the web page does not.
type Finder interface {
	Model(name string) (*model.Model, error)
	Cluster(name string) (*hw.Cluster, error)
	Trace(name string) (*workload.Workload, error)
	Loads(name string) (*balance.Given, error)
}
