package note

// What a question can be wrong about, in ways that people who fill a form come upon.
const (
	UnknownName      Code = "unknown_name"
	UnknownPrecision Code = "unknown_precision"
	DegreesMisfit    Code = "degrees_misfit"
	NoMTPModule      Code = "no_mtp_module"
	ContextPassed    Code = "context_passed"
	ClusterForm      Code = "cluster_form"
	NodesUnfilled    Code = "nodes_unfilled"
	FigureRange      Code = "figure_range"
	FigureNotWhole   Code = "figure_not_whole"
)

// Fault is an error of the input with its kind and figures.
type Fault struct{ Note }

func (f *Fault) Error() string { return f.Text }

// Faultf words an error as New words a note.
func Faultf(c Code, keys, format string, args ...any) error {
	return &Fault{New(c, keys, format, args...)}
}

// About is an error of one field of a question, which its words do not name.
type About struct {
	Field string // as the API calls it
	Err   error
}

func (a *About) Error() string { return a.Err.Error() }
func (a *About) Unwrap() error { return a.Err }

// Of says which field an error is about; nil stays nil.
func Of(field string, err error) error {
	if err == nil {
		return nil
	}
	return &About{field, err}
}
