#include "textflag.h"

// Every kernel takes SI = weights, DI = vector, CX = blocks of 32 values, DX = out.
#define ARGS \
	MOVQ w+0(FP), SI \
	MOVQ x+8(FP), DI \
	MOVQ blocks+16(FP), CX \
	MOVQ out+24(FP), DX

// SUM8 adds the eight floats of Y0 into X0 and stores the sum.
#define SUM8 \
	VEXTRACTF128 $1, Y0, X1 \
	VADDPS X1, X0, X0 \
	VHADDPS X0, X0, X0 \
	VHADDPS X0, X0, X0 \
	VMOVSS X0, (DX)

// func dotF16x16(w, x unsafe.Pointer, blocks int, out *float32)
// Two blocks a step in four chains; blocks is even.
TEXT ·dotF16x16(SB), NOSPLIT, $0-32
	ARGS
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3

f16x16:
	VCVTPH2PS (SI), Z4
	VCVTPH2PS 32(SI), Z5
	VCVTPH2PS 64(SI), Z6
	VCVTPH2PS 96(SI), Z7
	VFMADD231PS (DI), Z4, Z0
	VFMADD231PS 64(DI), Z5, Z1
	VFMADD231PS 128(DI), Z6, Z2
	VFMADD231PS 192(DI), Z7, Z3
	ADDQ $128, SI
	ADDQ $256, DI
	SUBQ $2, CX
	JNZ  f16x16

	VADDPS Z1, Z0, Z0
	VADDPS Z3, Z2, Z2
	VADDPS Z2, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS Y1, Y0, Y0
	SUM8
	VZEROUPPER
	RET

// func dotF16x8(w, x unsafe.Pointer, blocks int, out *float32)
TEXT ·dotF16x8(SB), NOSPLIT, $0-32
	ARGS
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3

f16x8:
	VCVTPH2PS (SI), Y4
	VCVTPH2PS 16(SI), Y5
	VCVTPH2PS 32(SI), Y6
	VCVTPH2PS 48(SI), Y7
	VFMADD231PS (DI), Y4, Y0
	VFMADD231PS 32(DI), Y5, Y1
	VFMADD231PS 64(DI), Y6, Y2
	VFMADD231PS 96(DI), Y7, Y3
	ADDQ $64, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  f16x8

	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	SUM8
	VZEROUPPER
	RET

// BYTES adds products of 32 signed bytes of w and x to the 32-bit sums in acc: VNNI
// and AVX2 multiply unsigned with signed bytes, so that w's sign moves to x. It
// overwrites x and spends t; the AVX2 form reads ones of 16 bit from Y15.
#define BYTES_VNNI(w, x, t, acc) \
	VPABSB w, t \
	VPSIGNB w, x, x \
	VPDPBUSD x, t, acc

#define BYTES_AVX2(w, x, t, acc) \
	VPABSB w, t \
	VPSIGNB w, x, x \
	VPMADDUBSW x, t, t \
	VPMADDWD Y15, t, t \
	VPADDD t, acc, acc

#define ONES \
	VPCMPEQW Y15, Y15, Y15 \
	VPSRLW $15, Y15, Y15

// Q8 is one block of q8_0 times one of the vector.
#define Q8(BYTES) \
	VMOVDQU 2(SI), Y1 \
	VMOVDQU 2(DI), Y2 \
	MOVWLZX (SI), AX \
	MOVWLZX (DI), BX \
	VMOVD AX, X6 \
	VMOVD BX, X7 \
	VCVTPH2PS X6, X6 \
	VCVTPH2PS X7, X7 \
	VMULSS X7, X6, X6 \
	VBROADCASTSS X6, Y6 \
	VPXOR Y5, Y5, Y5 \
	BYTES(Y1, Y2, Y3, Y5) \
	VCVTDQ2PS Y5, Y5 \
	VFMADD231PS Y5, Y6, Y0 \
	ADDQ $34, SI \
	ADDQ $34, DI \
	DECQ CX

// func dotQ8VNNI(w, x unsafe.Pointer, blocks int, out *float32)
TEXT ·dotQ8VNNI(SB), NOSPLIT, $0-32
	ARGS
	VPXOR Y0, Y0, Y0

q8vnni:
	Q8(BYTES_VNNI)
	JNZ q8vnni
	SUM8
	VZEROUPPER
	RET

// func dotQ8AVX2(w, x unsafe.Pointer, blocks int, out *float32)
TEXT ·dotQ8AVX2(SB), NOSPLIT, $0-32
	ARGS
	ONES
	VPXOR Y0, Y0, Y0

q8avx2:
	Q8(BYTES_AVX2)
	JNZ q8avx2
	SUM8
	VZEROUPPER
	RET

// NIBBLES is the table that turns a half byte into its value less 8.
#define NIBBLES \
	MOVQ $0x0f0f0f0f0f0f0f0f, AX \
	VMOVQ AX, X8 \
	VPBROADCASTQ X8, Y8 \
	MOVQ $0xfffefdfcfbfaf9f8, AX \
	VMOVQ AX, X9 \
	MOVQ $0x0706050403020100, AX \
	VMOVQ AX, X10 \
	VPUNPCKLQDQ X10, X9, X9 \
	VINSERTI128 $1, X9, Y9, Y9

// QUARTER is 8 bytes of four rows: two groups of 8 values of each.
#define QUARTER(BYTES, at, low, high, acc) \
	VMOVDQU at(SI), Y1 \
	VPAND Y8, Y1, Y2 \
	VPSRLW $4, Y1, Y3 \
	VPAND Y8, Y3, Y3 \
	VPSHUFB Y2, Y9, Y2 \
	VPSHUFB Y3, Y9, Y3 \
	VPBROADCASTQ low(DI), Y4 \
	VPBROADCASTQ high(DI), Y5 \
	BYTES(Y2, Y4, Y6, acc) \
	BYTES(Y3, Y5, Y7, acc)

// Q4 is one block of eight rows of q4_0 times one of the vector: the pairs of sums of
// rows 0..3 and 4..7 are joined, which gives the order 0 1 4 5 2 3 6 7.
#define Q4(BYTES) \
	VPXOR Y10, Y10, Y10 \
	VPXOR Y11, Y11, Y11 \
	QUARTER(BYTES, 16, 2, 18, Y10) \
	QUARTER(BYTES, 48, 2, 18, Y11) \
	QUARTER(BYTES, 80, 10, 26, Y10) \
	QUARTER(BYTES, 112, 10, 26, Y11) \
	VPHADDD Y11, Y10, Y10 \
	VPERMQ $0xd8, Y10, Y10 \
	VCVTDQ2PS Y10, Y10 \
	VCVTPH2PS (SI), Y12 \
	MOVWLZX (DI), BX \
	VMOVD BX, X13 \
	VCVTPH2PS X13, X13 \
	VBROADCASTSS X13, Y13 \
	VMULPS Y13, Y12, Y12 \
	VFMADD231PS Y10, Y12, Y0 \
	ADDQ $144, SI \
	ADDQ $34, DI \
	DECQ CX

// func dotQ4VNNI(w, x unsafe.Pointer, blocks int, out *float32)
// It stores eight sums.
TEXT ·dotQ4VNNI(SB), NOSPLIT, $0-32
	ARGS
	NIBBLES
	VPXOR Y0, Y0, Y0

q4vnni:
	Q4(BYTES_VNNI)
	JNZ q4vnni
	VMOVUPS Y0, (DX)
	VZEROUPPER
	RET

// func dotQ4AVX2(w, x unsafe.Pointer, blocks int, out *float32)
TEXT ·dotQ4AVX2(SB), NOSPLIT, $0-32
	ARGS
	NIBBLES
	ONES
	VPXOR Y0, Y0, Y0

q4avx2:
	Q4(BYTES_AVX2)
	JNZ q4avx2
	VMOVUPS Y0, (DX)
	VZEROUPPER
	RET

// func hasF16C() bool
TEXT ·hasF16C(SB), NOSPLIT, $0-1
	MOVL $1, AX
	XORL CX, CX
	CPUID
	SHRL $29, CX
	ANDL $1, CX
	MOVB CX, ret+0(FP)
	RET
