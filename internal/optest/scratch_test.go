package optest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// big are calls whose operands are outside the Go heap, of operators that largest has none of.
var big = map[string]testCase{
	"Attention":             {in: []input{data(1, 4, 128, 64), data(1, 4, 128, 64), data(1, 4, 128, 64), data(128, 128)}},
	"ConvInteger":           {in: []input{data(1, 64, 40, 41), data(32, 64, 3, 3)}},
	"ConvTranspose":         {in: []input{data(1, 16, 40, 41), data(16, 16, 3, 3)}},
	"CumSum":                {in: []input{data(300, 401), ints(0)}},
	"DeformConv":            {in: []input{data(1, 16, 42, 43), data(16, 16, 3, 3), data(1, 18, 40, 41)}},
	"DepthToSpace":          {in: []input{data(1, 64, 40, 41)}, attrs: attrs{"blocksize": int64(2)}},
	"Einsum":                {in: []input{data(130, 300), data(70, 300)}, attrs: attrs{"equation": "ij,kj->ik"}},
	"GatherElements":        {in: []input{data(300, 401), {shape: []int{1, 401}, values: make([]int64, 401)}}},
	"GroupNormalization":    {in: []input{data(2, 64, 40, 41), data(64), data(64)}, attrs: attrs{"num_groups": int64(8)}},
	"GRU":                   {in: []input{data(32, 16, 64), data(1, 192, 64), data(1, 192, 64)}, attrs: attrs{"hidden_size": int64(64)}},
	"InstanceNormalization": {in: []input{data(2, 64, 40, 41), data(64), data(64)}},
	"QGemm":                 {in: []input{data(300, 301), f32(), data(), data(301, 302), f32(), data()}},
	"LayerNormalization":    {in: []input{data(300, 401), data(401), data(401)}},
	"LSTM":                  {in: []input{data(32, 16, 64), data(1, 256, 64), data(1, 256, 64)}, attrs: attrs{"hidden_size": int64(64)}},
	"MatMulInteger":         {in: []input{data(300, 301), data(301, 302)}},
	"MultiHeadAttention":    {in: []input{data(1, 128, 256), data(1, 128, 256), data(1, 128, 256)}, attrs: attrs{"num_heads": int64(4)}},
	"QuantizeLinear":        {in: []input{data(300, 401), data(1)}},
	"Resize":                {in: []input{data(1, 16, 40, 41), {absent: true}, {absent: true}, ints(1, 16, 80, 82)}},
	"RMSNormalization":      {in: []input{data(300, 401), data(401)}},
	"RotaryEmbedding":       {in: []input{data(1, 4, 128, 64), data(1, 128, 32), data(1, 128, 32)}},
	"TopK":                  {in: []input{data(300, 401), ints(200)}, attrs: attrs{"axis": int64(0)}},
	"Transpose":             {in: []input{data(300, 401)}},
	"Where":                 {in: []input{bools(300, 401), data(300, 401), data(300, 401)}},
}

// panels is what a matrix product keeps for each thread, in bytes.
const panels = 4 << 20

// small is what Scratch doesn't count, in bytes.
const small = 64 << 10

// TestScratch runs operators over large operands, also ones that are laid out the other way round, and looks at the memory
// outside the Go heap: what isn't a result
// is no more than Scratch says, and has gone back when the operator returns, without the collector. Matrix products
// keep theirs for the next one, in pools that the collector empties: a call counts by its best of several runs.
func TestScratch(t *testing.T) {
	for n, o := range all.Operators() {
		c, ok := big[key(o)]
		if !ok {
			c, ok = largest(o)
		}
		if !ok {
			continue
		}
		for k, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Int32, dtype.Uint8, dtype.FP16x16} {
			if !o.Supports(d) || c.only != nil && !c.only(d) {
				continue
			}
			r := newRun(o, 0, c, d)
			for way, in := range [][]tensor.Any{r.in, r.turned()} {
				if !turn(n+k+way, 3) {
					continue
				}
				var said int64
				var err error
				left, most := int64(math.MaxInt64), int64(math.MaxInt64)
				for n := 0; n == 0 || *whole && n < 3 || n < 20 && (left > 0 || most%panels > said+small); n++ {
					var out []tensor.Any
					mem.SetBound(mem.SetBound(0)) // Peak begins anew
					live := mem.Stats().Live
					var p *op.Plan
					if p, err = o.Plan(r.call(in)); err == nil {
						out, err = p.Run()
						said = p.Scratch()
					}
					peak := mem.Stats().Peak - live
					for _, a := range out {
						peak -= int64(a.Len() * a.DType().Size()) // more than they took, if they are small
						if !slices.ContainsFunc(in, a.SameData) { // else it is a view of an operand
							a.Close()
						}
					}
					left, most = min(left, mem.Stats().Live-live), min(most, peak)
				}
				switch {
				case errors.Is(err, fixed.ErrOverflow) || errors.Is(err, fixed.ErrDomain): // then the collector takes the rest
				case err != nil:
					t.Errorf("%s of %v: %v", o.Name(), d, err)
				case left > 0:
					t.Errorf("%s of %v: %d bytes are left", o.Name(), d, left)
				case most%panels > said+small:
					t.Errorf("%s of %v: it took %d bytes, Scratch says %d", o.Name(), d, most, said)
				}
			}
		}
	}
}

// turned returns the operands in memory with their axes the other way round.
func (r *run) turned() []tensor.Any {
	in := slices.Clone(r.in)
	for k := range in {
		if a := in[k]; slices.Contains(r.moved, k) && a.Rank() > 1 {
			order := make([]int, a.Rank())
			for i := range order {
				order[i] = a.Rank() - 1 - i
			}
			c := a.Permute(order...).Clone()
			own, err := tensor.Contiguous(c)
			if err != nil {
				panic(err)
			}
			in[k] = own.Permute(order...)
		}
	}
	return in
}

// TestScratchOfFewInputs plans calls with no inputs, and with one, of the forms that find out at a run how many there must be.
func TestScratchOfFewInputs(t *testing.T) {
	planned := 0
	for _, o := range all.Operators() {
		for _, form := range []*op.Op{o, op.InFixed(o, dtype.FP16x16), op.InOrion(o)} {
			for _, in := range [][]tensor.Any{nil, {{}}, {tensor.EmptyOf(dtype.Float32, 2, 3, 4)}} {
				p, err := form.Plan(&op.Call{Inputs: in, Attrs: op.AttrMap{}})
				if err != nil {
					continue
				}
				planned++
				if n := p.Scratch(); n < 0 {
					t.Errorf("%s of %d inputs: Scratch says %d", form.Name(), len(in), n)
				}
			}
		}
	}
	if planned == 0 {
		t.Error("no call has a plan")
	}
}
