package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// carried is what one kind of collective carries on one axis in one phase.
type carried struct {
	axis  Axis
	phase Phase
	kind  CommKind
}

// bytesOf sums a layer's collectives.
func bytesOf(l *Layer) map[carried]unit.Bytes {
	sum := map[carried]unit.Bytes{}
	for _, op := range l.Ops {
		if op.Kind == Collective {
			sum[carried{op.Comm.Axis, op.Phase, op.Comm.Kind}] += op.Comm.Bytes
		}
	}
	return sum
}

// TestLayerCollectives lists every byte that one layer exchanges, per phase.
func TestLayerCollectives(t *testing.T) {
	const s, tp, cp = 4096, 2, 4
	llama, v3, mix := mustModel(t, "llama-3-8b"), mustModel(t, "deepseek-v3"), mustModel(t, "mixtral-8x7b")
	dense, moe, wide := &llama.Layers[0], moeLayer(t, v3), moeLayer(t, mix)
	const sbh, latent, own = 2 * s * 4096, 2 * s * (1536 + 512 + 64), 2 * s * 7168 / 2
	const v3h, k = 2 * s * 7168, 2
	for _, c := range []struct {
		says  string
		m     *model.Model
		l     *model.Layer
		edit  func(*plan.Plan)
		moved map[carried]unit.Bytes
	}{
		{"one GPU exchanges nothing", llama, dense, nil, map[carried]unit.Bytes{}},
		{"tp with sp: two gathers and two scatters each way, and both inputs gathered once more for the weight gradients (arXiv:2205.05198 section 4.2.2)",
			llama, dense, func(p *plan.Plan) { p.TP, p.SP = tp, true }, map[carried]unit.Bytes{
				{AxisTP, Forward, AllGather}: 2 * sbh, {AxisTP, Forward, ReduceScatter}: 2 * sbh,
				{AxisTP, Input, AllGather}: 2 * sbh, {AxisTP, Input, ReduceScatter}: 2 * sbh,
				{AxisTP, Weight, AllGather}: 2 * sbh}},
		{"tp alone: two all-reduces each way", llama, dense, func(p *plan.Plan) { p.TP = tp }, map[carried]unit.Bytes{
			{AxisTP, Forward, AllReduce}: 2 * sbh, {AxisTP, Input, AllReduce}: 2 * sbh}},
		{"the ring passes 8 heads of keys and values, and their gradients too on the way back", llama, dense,
			func(p *plan.Plan) { p.CP = cp }, map[carried]unit.Bytes{
				{AxisCP, Forward, RingExchange}: 2 * s / cp * 2 * 1024, {AxisCP, Input, RingExchange}: 2 * 2 * s / cp * 2 * 1024}},
		{"the all-to-all turns q, k, v and the output", llama, dense,
			func(p *plan.Plan) { p.CP, p.CPAllToAll = cp, true }, map[carried]unit.Bytes{
				{AxisCP, Forward, AllToAll}: 2 * s / cp * (2*4096 + 2*1024), {AxisCP, Input, AllToAll}: 2 * s / cp * (2*4096 + 2*1024)}},
		{"8 kv heads on tp 4 go to 4 ranks each pair: copies travel", llama, dense,
			func(p *plan.Plan) { p.TP, p.CP, p.CPAllToAll, p.SP = 4, cp, true, false }, map[carried]unit.Bytes{
				{AxisCP, Forward, AllToAll}: 2 * s / cp * (2*1024 + 2*4*128), {AxisCP, Input, AllToAll}: 2 * s / cp * (2*1024 + 2*4*128),
				{AxisTP, Forward, AllReduce}: 2 * sbh / cp, {AxisTP, Input, AllReduce}: 2 * sbh / cp}},
		{"MLA gathers its latents and scatters its output; each rank dispatches its own half of the tokens once, in BF16", v3, moe,
			func(p *plan.Plan) { p.TP, p.EP, p.SP = tp, 8, true }, map[carried]unit.Bytes{
				{AxisTP, Forward, AllGather}: latent, {AxisTP, Forward, ReduceScatter}: v3h,
				{AxisTP, Input, AllGather}: v3h, {AxisTP, Input, ReduceScatter}: latent, {AxisTP, Weight, AllGather}: latent,
				{AxisEP, Forward, Dispatch}: 2 * own, {AxisEP, Input, Dispatch}: 2 * own}},
		{"two ranks that share each expert gather and scatter k copies of their rows", mix, wide,
			func(p *plan.Plan) { p.TP, p.ETP, p.SP = tp, 2, true }, map[carried]unit.Bytes{
				{AxisTP, Forward, AllGather}: sbh + k*sbh, {AxisTP, Forward, ReduceScatter}: sbh + k*sbh,
				{AxisTP, Input, AllGather}: sbh + k*sbh, {AxisTP, Input, ReduceScatter}: sbh + k*sbh, {AxisTP, Weight, AllGather}: sbh}},
	} {
		l := BuildLayer(c.m, c.l, with(c.edit), s)
		if d := cmp.Diff(c.moved, bytesOf(&l), cmp.AllowUnexported(carried{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.says, d)
		}
	}
}

// TestEndCollectives: the embedding's partial rows are summed forward; without
// sequence parallelism its gradient is whole already.
func TestEndCollectives(t *testing.T) {
	const s, sbh = 4096, 2 * 4096 * 4096
	m := mustModel(t, "llama-3-8b")
	for _, c := range []struct {
		sp         bool
		embed, end map[carried]unit.Bytes
	}{
		{true, map[carried]unit.Bytes{{AxisTP, Forward, ReduceScatter}: sbh, {AxisTP, Input, AllGather}: sbh},
			map[carried]unit.Bytes{{AxisTP, Forward, AllGather}: sbh, {AxisTP, Input, ReduceScatter}: sbh, {AxisTP, Weight, AllGather}: sbh}},
		{false, map[carried]unit.Bytes{{AxisTP, Forward, AllReduce}: sbh}, map[carried]unit.Bytes{{AxisTP, Input, AllReduce}: sbh}},
	} {
		p := with(func(p *plan.Plan) { p.TP, p.SP = 2, c.sp })
		embed, end := BuildEmbedding(m, p, s), BuildHead(m, p, s)
		if d := cmp.Diff(c.embed, bytesOf(&embed), cmp.AllowUnexported(carried{})); d != "" {
			t.Errorf("embedding, sp=%v (-want +got):\n%s", c.sp, d)
		}
		if d := cmp.Diff(c.end, bytesOf(&end), cmp.AllowUnexported(carried{})); d != "" {
			t.Errorf("head, sp=%v (-want +got):\n%s", c.sp, d)
		}
	}
}

// TestDeepSeekExchange works out the network volume of DeepSeek-V3's step on
// 2,048 GPUs (15,360 sequences of 4,096 over 128 data-parallel ranks, 58 MoE
// layers over 16 stages): 491,520 tokens per rank, FP8 towards the experts and
// BF16 back, forward and backward, to 3.5 remote nodes of the 4 that a token may
// use (arXiv:2412.19437 section 3.2.2): 267 GB, without the scales of the FP8
// tiles, an FP32 per 128 values.
func TestDeepSeekExchange(t *testing.T) {
	const tokens, layers, remote = 491520, 58.0 / 16, 3.5
	m := mustModel(t, "deepseek-v3")
	p := with(func(p *plan.Plan) { p.EP, p.Precision = 64, plan.Precisions["fp8"] })
	l := BuildLayer(m, moeLayer(t, m), p, 4096)
	var copyOnce unit.Bytes
	formats := map[Phase]unit.Bytes{}
	for _, op := range l.Ops {
		if op.Kind == Collective && op.Comm.Kind == Dispatch {
			copyOnce += op.Comm.Bytes
			formats[op.Phase] += op.Comm.Bytes
			c := op.Comm
			if c.Size != 64 || c.Stride != 1 || c.TopK != 8 || c.TopGroups != 4 || c.Groups != 8 || c.Experts != 256 {
				t.Errorf("%s: %+v", op.Name, c)
			}
		}
	}
	want := unit.FP8Tile.Size(4096*7168) + 2*4096*7168
	if formats[Forward] != want || formats[Input] != want {
		t.Errorf("forward %d and backward %d bytes, want %d each", formats[Forward], formats[Input], want)
	}
	scales := unit.Bytes(2 * 4 * 4096 * 7168 / 128)
	gb := float64(copyOnce-scales) / 4096 * tokens * layers * remote / 1e9
	if gb < 267*0.99 || gb > 267*1.01 {
		t.Errorf("%.1f GB per rank and step, by hand 267", gb)
	}
}
