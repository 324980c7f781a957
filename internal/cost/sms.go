package cost

// dispatchSMs of an H800's 132 run the expert exchange's kernels: ten channels of
// two SMs (arXiv:2412.19437 section 3.2.2; DeepEP's normal kernels).
const (
	dispatchSMs = 20
	h800SMs     = 132
)

// CommSMShare is the share of the SMs that a collective's kernels take from
// compute that runs beside them. Only the expert exchange is published; NCCL's
// rings are assumed to take as many while they run.
func (m *Machine) CommSMShare() float64 {
	if m.sms > 1 {
		return min(dispatchSMs/m.sms, 1)
	}
	return float64(dispatchSMs) / h800SMs
}
