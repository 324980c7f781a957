package ask

import (
	"errors"

	"github.com/spf13/pflag"
)

// onceValue is a flag's value that is set at most once: of two, one would be dropped without a word.
type onceValue struct {
	pflag.Value
	given bool
}

func (o *onceValue) Set(s string) error {
	if o.given {
		return errors.New("given twice: give it once")
	}
	err := o.Value.Set(s)
	o.given = err == nil
	return err
}

// Once makes every flag of a set that holds one value refuse a second; flags that gather
// values take as many as are given.
func Once(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		switch f.Value.(type) {
		case pflag.SliceValue, interface{ zero() bool }, *onceValue: // quantities refuse by themselves
		default:
			f.Value = &onceValue{Value: f.Value}
		}
	})
}
