package probe

import (
	"math/rand/v2"
	"unsafe"

	"github.com/ridgeline/ridgeline/internal/record"
)

// gemvColumns is the length of the vector: 1,024 values, and what stands beside it in
// a step, stay in the first cache.
const gemvColumns = 1024

// block is how many quantised values share a scale in q8_0 and q4_0.
const block = 32

// gemvKernel multiplies weights of one format with a vector: of n rows with the
// gemvColumns values of x, into out. Weights lie as llama.cpp keeps them on a CPU: FP16
// row by row; q8_0 as blocks of an FP16 scale and 32 bytes; q4_0 of eight rows side by
// side, blocks of eight FP16 scales and then 8 bytes of each row in turn, the low halves
// of which are values 0..15 of the block and the high halves 16..31, less 8.
type gemvKernel struct {
	format, name string
	rows         int // that one call multiplies
	rowBytes     int
	dot          func(w, x unsafe.Pointer, blocks int, out *float32)
}

// gemvKernels are the widest of each format.
func gemvKernels() []gemvKernel {
	list := allGEMV()
	return list[:min(len(list), 3)]
}

// The vectors: FP32 beside FP16 weights, else blocks of an FP16 scale and 32 bytes.
const (
	floatVector = 4 * gemvColumns
	scaledBlock = 2 + block
	byteVector  = gemvColumns / block * scaledBlock
)

// gemvSizes are the working sets: from what a second-level cache holds, by half
// octaves, to the size of one of the probe's arrays.
func gemvSizes(most int64) (sizes []int64) {
	for s := min(int64(4<<20), most); s <= most; s *= 2 {
		sizes = append(sizes, s)
		if s+s/2 <= most && s >= 1<<20 {
			sizes = append(sizes, s+s/2)
		}
	}
	return sizes
}

// vectors are weights, of which every thread takes its part, and the vector in the
// formats that kernels take.
type vectors struct {
	weights []byte
	floats  []float32
	blocks  []byte
	sink    []float32
}

// newVectors makes weights of so many bytes, on pages that the threads touch first. Any bytes below
// 0x7c00 in each half are finite FP16 values, which is all that time depends on.
func newVectors(bytes int64, threads int) *vectors {
	v := &vectors{weights: make([]byte, bytes), floats: make([]float32, gemvColumns), blocks: make([]byte, byteVector), sink: make([]float32, 8*threads)}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range v.floats {
		v.floats[i] = rng.Float32() - 0.5
	}
	for i := range v.blocks {
		v.blocks[i] = byte(rng.Uint32()) & 0x3b
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&v.weights[0])), bytes/8)
	together(threads, func(t int) {
		rng := rand.New(rand.NewPCG(7, uint64(t)))
		for i := t * len(words) / threads; i < (t+1)*len(words)/threads; i++ {
			words[i] = rng.Uint64() & 0x3b3b3b3b3b3b3b3b
		}
	})
	return v
}

// leastRead is what one repeat reads at least, in passes over the working set: times
// of less are too short to be told from the clock's own.
const leastRead = 64 << 20

// product multiplies a working set of so many bytes, all threads together, with one vector
// of so many columns.
func (v *vectors) product(k *gemvKernel, set int64, n, columns int) task {
	call := k.rows * k.rowBytes * columns / gemvColumns
	calls := int(set) / n / call
	passes := max(1, leastRead/max(n*calls*call, 1))
	x := unsafe.Pointer(&v.blocks[0])
	if k.format == "fp16" {
		x = unsafe.Pointer(&v.floats[0])
	}
	each := calls * call
	read := int64(n * each)
	return task{amount: float64(read) * float64(passes),
		result: record.Result{Kind: record.Memory, What: record.GEMV, Unit: "bytes/s", Threads: n, Format: k.format, Bytes: read, K: int64(columns), Data: "random", Kernel: k.name},
		run: func(t int) {
			w, out := v.weights[t*each:(t+1)*each], &v.sink[8*t]
			for range passes {
				for i := range calls {
					k.dot(unsafe.Pointer(&w[i*call]), x, columns/block, out)
				}
			}
		}}
}

// The products that tell what the end of a row takes, which adds its partial sums up and
// stores one: rows of so many columns, on a working set of each thread that its nearest
// caches hold.
var shortColumns = []int{2 * block, gemvColumns}

const shortSet = 256 << 10

func (v *vectors) short(k *gemvKernel, n int) (list []task) {
	for _, columns := range shortColumns {
		t := v.product(k, min(int64(n*shortSet), int64(len(v.weights))), n, columns)
		t.result.What = record.ShortGEMV
		list = append(list, t)
	}
	return list
}
