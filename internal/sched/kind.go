package sched

// Kind names a pipeline schedule.
type Kind uint8

// The schedules, with the names of the command line in kindNames.
const (
	OneFOneB Kind = iota
	GPipe
	Interleaved
	ZBH1
	ZBH2
	ZB1P
	ZB2P
	ZBV
	DualPipe
	DualPipeV
	NumKinds
)

var kindNames = [NumKinds]string{"1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2", "zb-1p", "zb-2p", "zb-v", "dualpipe", "dualpipe-v"}

// String is the name on the command line.
func (k Kind) String() string { return kindNames[k] }

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, bool) {
	for i, n := range kindNames {
		if n == name {
			return Kind(i), true
		}
	}
	return 0, false
}
