package unit

import "strconv"

// LeastStep is the shortest time that FormatStep shows: differences of sums leave less.
const LeastStep Seconds = 1e-9

// FormatStep prints a time of a step: in seconds up to an hour, since the times
// of one answer are compared with each other.
func FormatStep(t Seconds) string {
	switch {
	case t < LeastStep && t > -LeastStep:
		return "0 s"
	case t >= 60 && t < 100:
		return strconv.FormatFloat(float64(t), 'f', 2, 64) + " s"
	case t >= 100 && t < 3600:
		return strconv.FormatFloat(float64(t), 'f', 1, 64) + " s"
	}
	return FormatSeconds(t)
}
