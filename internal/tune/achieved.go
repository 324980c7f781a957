package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/record"
)

// measured is a result and the record that it is of.
type measured struct {
	rec *record.Record
	r   *record.Result
}

// achieved turns the results of the records that measure figures of the machine into
// them: of several for one figure the best median, since planning reads what software
// can reach. A result that sets none is unused with the reason.
func (o *Outcome) achieved(in *Input) {
	best, figures := map[string]measured{}, o.figures()
	for _, rec := range in.Records {
		for _, n := range rec.Notes {
			o.Notes = append(o.Notes, rec.Source+": "+n)
		}
		if rec.Partial {
			o.Notes = append(o.Notes, rec.Source+": the measurement was interrupted, and what it had not measured stays as it was")
		}
		for i := range rec.Results {
			r := &rec.Results[i]
			if o.madeOf[r] {
				continue
			}
			key, why := o.taken(rec, r, in, figures)
			switch b, ok := best[key]; {
			case key == "":
				o.unused(rec, r, why)
			case !ok:
				best[key] = measured{rec, r}
			case better(r, b.r):
				best[key] = measured{rec, r}
				o.unused(b.rec, b.r, "another is better: "+inUnit(key, amount(r)))
			default:
				o.unused(rec, r, "another is as good or better: "+inUnit(key, amount(b.r)))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(best)) {
		b := best[key]
		source := fmt.Sprintf("%s: %s %s %s", b.rec.Tool, b.r.What, b.r.Kernel, b.r.Data)
		o.set(key, figures[key].at, amount(b.r), strings.Join(strings.Fields(source), " "))
	}
}

// leastOfPeak is the share of its peak below which a rate is in another unit, or of
// another machine: the slowest kernels of the shared tables reach more.
const leastOfPeak = 0.01

// taken is the key of the figure that a result sets, or why it sets none.
func (o *Outcome) taken(rec *record.Record, r *record.Result, in *Input, figures map[string]target) (key, why string) {
	if other := o.otherGPU(rec); other != "" && r.Device != "cpu" {
		return "", fmt.Sprintf("measured on %s: the machine's GPU is %s; name the right one with --cluster", other, o.Machine.Device.Name)
	}
	if other := o.otherCPU(r, in); other != "" {
		return "", other
	}
	if key, why = o.figureOf(r); key == "" {
		return "", why
	}
	v := amount(r)
	switch most, ok := figures[key].ceiling(); {
	case ok && v > most:
		return "", fmt.Sprintf("%s is above the peak of %s: correct the machine's peak first", inUnit(key, v), inUnit(key, most))
	case ok && v < leastOfPeak*most:
		return "", fmt.Sprintf("%s is below a hundredth of the peak of %s: correct its unit, or measure again", inUnit(key, v), inUnit(key, most))
	}
	return key, ""
}

// otherGPU is the GPU that a record names, where that is of another family of the catalogue
// than the machine's; "" where it is not, or either is unknown.
func (o *Outcome) otherGPU(rec *record.Record) string {
	family := func(d *hw.Device) string { f, _, _ := strings.Cut(d.Name, "-"); return f }
	own, known := family(o.Machine.Device), false
	var all []string
	for _, d := range catalog.Devices() {
		all = append(all, family(d))
		known = known || family(d) == own
	}
	for _, gpu := range rec.Machine.GPUs {
		name := strings.ToLower(gpu)
		named := func(f string) bool { return strings.Contains(name, f) }
		if known && !named(own) && slices.ContainsFunc(all, named) {
			return gpu
		}
	}
	return ""
}

// otherCPU is why a result of a CPU is not the machine's, "" where it may be.
func (o *Outcome) otherCPU(r *record.Result, in *Input) string {
	threads := max(in.Threads, 1)
	switch {
	case r.Device != "cpu" || r.Threads == 0:
		return ""
	case r.Threads != threads:
		return fmt.Sprintf("of %d threads: the machine's figures are of %d", r.Threads, threads)
	case in.Base == nil:
		return "the machine is made of another result like it"
	}
	return ""
}

// better tells the result that planning should read: the larger rate, the shorter time.
func better(a, b *record.Result) bool {
	if a.Kind == record.Network && a.What == "latency" {
		return a.Value < b.Value
	}
	return amount(a) > amount(b)
}
