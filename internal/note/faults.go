package note

// What a question can be wrong about, in ways that people who fill a form come upon.
const (
	UnknownName      Code = "unknown_name"
	UnknownPrecision Code = "unknown_precision"
	DegreesMisfit    Code = "degrees_misfit"
	NoMTPModule      Code = "no_mtp_module"
	ContextPassed    Code = "context_passed"
)

// Fault is an error of the input with its kind and figures.
type Fault struct{ Note }

func (f *Fault) Error() string { return f.Text }

// Faultf words an error as New words a note.
func Faultf(c Code, keys, format string, args ...any) error {
	return &Fault{New(c, keys, format, args...)}
}
