package unit

import "fmt"

// Format is a storage and matrix-multiplication format of tensor elements.
type Format uint8

// The formats Ridgeline knows. FP8 has one scale per tensor, FP8Block one FP32
// scale per 128 x 128 block and FP8Tile one per 1 x 128 tile (weights and
// activations of DeepSeek-V3, arXiv:2412.19437 section 3.3.2), MXFP8 one E8M0 scale per 32 values,
// NVFP4 one FP8 scale per 16 values, MXFP4 one E8M0 scale per 32 values
// (OCP Microscaling v1.0; NVIDIA NVFP4 description), INT4 one BF16 scale per
// 128 values (GPTQ and AWQ group size 128).
const (
	FP32 Format = iota
	TF32
	BF16
	FP16
	FP8
	FP8Block
	FP8Tile
	MXFP8
	INT8
	NVFP4
	MXFP4
	INT4
	FP6        // plain 6-bit values, for KV caches
	Q8_0       // llama.cpp's blocks of 32 8-bit integers with one FP16 scale
	Q4_0       // the same with 4-bit integers (ggml-common.h, block_q8_0 and block_q4_0)
	NumFormats // the number of formats, for arrays indexed by Format
)

var formatNames = [NumFormats]string{"fp32", "tf32", "bf16", "fp16", "fp8", "fp8-block", "fp8-tile", "mxfp8", "int8", "nvfp4", "mxfp4", "int4", "fp6", "q8_0", "q4_0"}

// String gives the name that the command line and the catalogues use.
func (f Format) String() string {
	if f < NumFormats {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// ParseFormat is the inverse of String; ok is false for an unknown name.
func ParseFormat(s string) (f Format, ok bool) {
	for i, n := range formatNames {
		if n == s {
			return Format(i), true
		}
	}
	return 0, false
}

// bits is the size of one element, and the scale's bits over the values that share it.
var bits = [NumFormats]struct{ element, scaleBits, scaleGroup int64 }{
	FP32: {32, 0, 1}, TF32: {32, 0, 1}, BF16: {16, 0, 1}, FP16: {16, 0, 1},
	FP8: {8, 0, 1}, FP8Block: {8, 32, 128 * 128}, FP8Tile: {8, 32, 128}, MXFP8: {8, 8, 32}, INT8: {8, 0, 1},
	NVFP4: {4, 8, 16}, MXFP4: {4, 8, 32}, INT4: {4, 16, 128}, FP6: {6, 0, 1},
	Q8_0: {8, 16, 32}, Q4_0: {4, 16, 32},
}

// Size is the bytes that n elements take in format f with their block scales,
// rounded up once per tensor.
func (f Format) Size(n int64) Bytes {
	b := bits[f]
	scales := (n + b.scaleGroup - 1) / b.scaleGroup
	return Bytes((n*b.element + scales*b.scaleBits + 7) / 8)
}

// Bits is the size of one element without scales.
func (f Format) Bits() int64 { return bits[f].element }

// BytesPer is the mean bytes of one element with its share of the block scale.
func (f Format) BytesPer() float64 {
	b := bits[f]
	return (float64(b.element) + float64(b.scaleBits)/float64(b.scaleGroup)) / 8
}
