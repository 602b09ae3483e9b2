package op

import (
	"context"
	"encoding/binary"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/packed"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMulNBitsOptions says how the weights of MatMulNBits are packed.
type MatMulNBitsOptions struct {
	Columns int // of the product
	Bits    int // of a weight: 2, 4 or 8
	Block   int // weights with one scale: a power of two, 16 or more
}

// MatMulNBits returns the product of a [..., K] and the K × Columns matrix of packed weights, plus
// a bias [Columns] if it isn't the zero Tensor. A column of the matrix is K weights in blocks,
// the last of which is filled up; b holds all columns one after the other, with as many weights in a
// byte as it has room for, from its lowest bits on: it has the shape [Columns, blocks, bytes of a
// block], or others of as many bytes. A weight is
//
//	(q − zero)·scale
//
// rounded once to float32. scales has one number for each block, in the order of the blocks. zero
// is packed like the weights, each column anew, or is the zero Tensor: then all are 2^(Bits−1).
// The product is MatMul's, of float32; then the bias is added. Narrow floats are
// computed in float32 and rounded once. The matrix is unpacked a part at a time, or multiplied by as it is.
//
// It panics when lengths don't fit, and for bits and blocks that it doesn't know. MatMulNBits of
// the domain com.microsoft, at every accuracy_level. There zero may have one float for each block.
// Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime.
func MatMulNBits[T float32 | num.F16 | num.BF16](a tensor.Tensor[T], b tensor.Tensor[uint8], scales tensor.Tensor[T], zero tensor.Tensor[uint8], bias tensor.Tensor[T], o MatMulNBitsOptions, opts ...Option) (r tensor.Tensor[T]) {
	plan.Present("MatMulNBits", exec.Ref(&a), exec.Ref(&b), exec.Ref(&scales))
	if a.Rank() == 0 {
		panic(plan.Fail("MatMulNBits", tensor.ErrShape, "the operand is a single number; want at least one axis"))
	}
	unpackedProduct([]tensor.Any{a.Any(), b.Any(), scales.Any(), zero.Any(), bias.Any()}, o, a.Dim(-1)).Into(exec.Ref(&r), opts)
	return r
}

// unpacking is how a part of the weights is unpacked.
type unpacking struct {
	MatMulNBitsOptions
	k, blocks    int // of a column
	b            []byte
	scales, zero move.Numeric // zero may be absent
}

func unpackedProduct(in []tensor.Any, p MatMulNBitsOptions, k int) *move.Transfer {
	const name = "MatMulNBits"
	a := in[0]
	if p.Bits != 2 && p.Bits != 4 && p.Bits != 8 {
		panic(plan.Fail(name, ErrUnsupported, "weights of %d bits; those of 2, 4 and 8 bits can be had", p.Bits))
	}
	if p.Block < 16 || p.Block > 1<<30 || p.Block&(p.Block-1) != 0 {
		panic(plan.Fail(name, tensor.ErrValue, "blocks of %d weights; want a power of two from 16 to 2³⁰", p.Block))
	}
	if p.Columns < 1 || k < 1 || a.Rank() == 0 || a.Dim(-1) != k {
		panic(plan.Fail(name, tensor.ErrShape, "the operand is %s, the weights are of %d columns of %d; want [..., %[3]d], and columns of one weight at least", tensor.Describe(a), p.Columns, k))
	}
	blocks := (k-1)/p.Block + 1
	scales := plan.Extent(name, 1, p.Columns, blocks)
	if n := plan.Extent(name, 2, scales, p.Block*p.Bits/8); in[1].Len() != n || in[1].DType() != dtype.Uint8 {
		panic(plan.Fail(name, tensor.ErrShape, "the weights, input 1, are %s; %d columns of %d blocks of %d bytes want [%[2]d,%[3]d,%[4]d] of uint8", tensor.Describe(in[1]), p.Columns, blocks, p.Block*p.Bits/8))
	}
	if in[2].Len() != scales || !plan.Floats.Has(in[2].DType()) {
		panic(plan.Fail(name, tensor.ErrShape, "the scales, input 2, are %s; want [%d,%d] of floats", tensor.Describe(in[2]), p.Columns, blocks))
	}
	if zero := in[3]; !zero.IsZero() {
		want := scales
		if zero.DType() == dtype.Uint8 {
			want = p.Columns * p.rowBytes(blocks)
		}
		if zero.Len() != want || zero.DType() != dtype.Uint8 && !plan.Floats.Has(zero.DType()) {
			panic(plan.Fail(name, tensor.ErrShape, "the zero points, input 3, are %s; want [%d,%d] of uint8, or [%[2]d,%[4]d] of floats", tensor.Describe(zero), p.Columns, p.rowBytes(blocks), blocks))
		}
	}
	if bias := in[4]; !bias.IsZero() && (bias.Len() != p.Columns || bias.DType() != a.DType()) {
		panic(plan.Fail(name, tensor.ErrShape, "the bias, input 5, is %s; want %d numbers of %v", tensor.Describe(bias), p.Columns, a.DType()))
	}
	shape := a.Shape()
	shape[len(shape)-1] = p.Columns
	var price plan.Price
	blocksOf(&price, in)
	return &move.Transfer{Name: name, D: a.DType(), Shape: shape, In: move.OperandsOf(in...), Price: price, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		u := unpacking{MatMulNBitsOptions: p, k: k, blocks: blocks, b: in[1].Mem, scales: move.NumericOf(in[2]), zero: move.NumericOf(in[3])}
		inFloat(name, dst, []move.Words{in[0], in[4]}, func(r *tensor.Any, ab []*tensor.Any) {
			u.times(exec.Job{Name: name, Ctx: ctx}, r, ab[0], ab[1])
		})
		runtime.KeepAlive(in)
	}}
}

// rowBytes returns how many bytes numbers take that are packed like weights.
func (p *MatMulNBitsOptions) rowBytes(n int) int { return (n*p.Bits + 7) / 8 }

// times sets r to the product of a and the weights, plus a bias that may be nil: a part of the
// columns after the other.
func (u *unpacking) times(j exec.Job, r, a, bias *tensor.Any) {
	m := a.Len() / u.k
	if u.packed(j, m, r, a, bias) {
		return
	}
	x, y := a.Reshape(m, u.k), r.Reshape(m, u.Columns)
	some := min(u.Columns, max(64, (1<<20)/u.k))
	wide := tensor.EmptyOf(dtype.Float32, some, u.k)
	rows := move.ElemsOf[float32](&wide)
	for first := 0; first < u.Columns; first += some {
		n := min(some, u.Columns-first)
		exec.Split(j.Name, j.Ctx, n, 2*u.k, func(from, till int) {
			for i := from; i < till; i++ {
				u.column(rows[i*u.k:(i+1)*u.k], first+i, 0)
			}
		})
		part := wide.Slice(tensor.R(0, n)).Permute(1, 0)
		to := y.Slice(tensor.R(0, m), tensor.R(first, first+n))
		var plus *tensor.Any
		if bias != nil {
			flat := bias.Reshape(u.Columns)
			flat = flat.Slice(tensor.R(first, first+n))
			plus = &flat
		}
		gemmInto(j, &x, &part, plus, 1, 1, false, &to, nil, nil, nil, nil)
	}
	wide.Close()
}

// packedRows is how many rows are multiplied by codes: of more, the weights are unpacked once for all.
const packedRows = 32

// packed is times by a kernel of codes, and reports whether there is one for these.
func (u *unpacking) packed(j exec.Job, m int, r, a, bias *tensor.Any) bool {
	kernel := simd.PackedNibbles.Best()
	y, x := move.ElemsOf[float32](r), move.ElemsOf[float32](a)
	if kernel == nil || u.Bits != 4 || u.Block < 32 || u.Block > packed.Step || u.k%u.Block > 0 || m > packedRows || u.Columns < simd.PackedMany || u.k < packed.Step ||
		!u.zero.Absent() && u.zero.D != dtype.Uint8 || y == nil || x == nil {
		return false
	}
	var scales []float32
	if u.scales.D == dtype.Float32 {
		scales = move.ElemsOf[float32](u.scales.Of)
	}
	if scales == nil { // scales of float16 and bfloat16 fit float32, too
		scales = make([]float32, u.Columns*u.blocks)
		for i := range scales {
			scales[i] = float32(u.scales.Float(i))
		}
	}
	packed.Product(j.Ctx, y, x, packed.Matrix{N: u.Columns, K: u.k, Len: u.Block, Size: u.Block / 2, Bytes: u.b, Stride: u.blocks * u.Block / 2, Kernel: kernel,
		Decode: func(dst []float32, row, block int) { u.column(dst, row, block) },
		Beside: func(room []float32, row, k int) { u.beside(kernel, room, scales, row, k/u.Block) },
	})
	if bias != nil {
		plus := bias.Contiguous()
		for i, b := 0, move.ElemsOf[float32](&plus); i < len(y); i++ {
			if y[i] += b[i%u.Columns]; y[i] != y[i] {
				y[i] = num.NaN32()
			}
		}
	}
	return true
}

// beside sets room to the scales of PackedMany columns, from a block on: the scales of 32 weights each, eight times. Behind these are the zero
// points of each column, in the bits of a number.
func (u *unpacking) beside(kernel *simd.Packed, room, scales []float32, column, block int) {
	const rows = simd.PackedMany
	n := max(1, packed.Step/u.Block)
	from := scales[column*u.blocks+block:]
	if n >= 4 {
		kernel.TurnFloats(room, from, u.blocks, n/4)
	} else {
		for i := range rows {
			for b := range n {
				room[b*rows+i] = from[i*u.blocks+b]
			}
		}
	}
	for run := 7; run >= 0 && n < 8; run-- {
		copy(room[run*rows:][:rows], room[run*n/8*rows:][:rows])
	}
	zeros := room[8*rows:][:rows]
	if u.zero.Absent() {
		for i := range zeros {
			zeros[i] = math.Float32frombits(0x88888888)
		}
		return
	}
	stride := u.rowBytes(u.blocks)
	b := u.zero.Mem[column*stride+block/2:]
	for i := range zeros {
		z := uint32(b[i*stride]) // as many as there are blocks: each is to be there for its runs
		switch n {
		case 8:
			z = binary.LittleEndian.Uint32(b[i*stride:])
		case 4:
			z |= uint32(b[i*stride+1]) << 16
			z = (z | z<<4) & 0x0f0f0f0f
			z |= z << 4
		case 2:
			z = z&15*0x1111 | z>>4*0x11110000
		case 1:
			z = z >> (block % 2 * 4) & 15 * 0x11111111
		}
		zeros[i] = math.Float32frombits(z)
	}
}

// column unpacks column i from a block on.
func (u *unpacking) column(dst []float32, i, first int) {
	per, mask := 8/uint(u.Bits), byte(1<<u.Bits-1) // unsigned: see grain.at
	for block := first; block < u.blocks && (block-first)*u.Block < len(dst); block++ {
		at := i*u.blocks + block
		scale, zero := u.scales.Float(at), float64(int(1)<<(u.Bits-1))
		switch {
		case u.zero.Absent():
		case u.zero.D == dtype.Uint8:
			b := u.zero.Mem[i*u.rowBytes(u.blocks)+int(uint(block)/per)]
			zero = float64(b >> (uint(block) % per * uint(u.Bits)) & mask)
		default:
			zero = u.zero.Float(at)
		}
		packed := u.b[uint(at*u.Block)/per:]
		row := dst[(block-first)*u.Block : min((block-first+1)*u.Block, len(dst))]
		switch u.Bits {
		case 8:
			for l := range row {
				row[l] = float32(float64((float64(packed[l]) - zero) * scale))
			}
		default:
			var value [16]float32 // of each weight
			for q := range value[:mask+1] {
				value[q] = float32(float64((float64(q) - zero) * scale))
			}
			for l := range row {
				row[l] = value[packed[uint(l)/per]>>(uint(l)%per*uint(u.Bits))&mask]
			}
		}
	}
}

var matMulNBits = plan.Operator{About: plan.About{Name: "MatMulNBits", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"K", "N", "accuracy_level", "bits", "block_size", "weight_prepacked"},
	Why: "of the floats that weights are multiplied in: float32, float16 and bfloat16"}, Least: 3, Most: 6, Takes: 1<<dtype.Float32 | 1<<dtype.Float16 | 1<<dtype.BFloat16,
	Move: func(c *plan.Use) plan.Mover {
		const name = "MatMulNBits"
		if !c.In(4).IsZero() {
			panic(plan.Fail(name, ErrUnsupported, "group indices, input 4, which are deprecated"))
		}
		if c.Attrs.Int("weight_prepacked", 0) != 0 {
			panic(plan.Fail(name, ErrUnsupported, "weights that are packed for one processor: weight_prepacked isn't 0"))
		}
		p := MatMulNBitsOptions{Columns: plan.AttrInt(c, "N", 0), Bits: plan.AttrInt(c, "bits", 4), Block: plan.AttrInt(c, "block_size", 0)}
		return unpackedProduct([]tensor.Any{c.In(0), c.In(1), c.In(2), c.In(3), c.In(5)}, p, plan.AttrInt(c, "K", 0))
	}}
