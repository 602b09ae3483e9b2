package chunk

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

var cases = flag.Int("cases", 10000, "how many random chunkings TestMerges compares with one chunk")

// mergeTypes are the element types that reductions take.
var mergeTypes = []dtype.DType{dtype.Float64, dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Float8E4M3, dtype.Float8E5M2, dtype.Bool, dtype.Int8, dtype.Int16,
	dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}

// The state of a chunk may be neutral, infinite or NaN: whatever the chunks are, the result is that of one chunk. Every reduction but
// the sums and products of floats has the same bits.
func TestMerges(t *testing.T) {
	names := append(reducerNames(), "Histogram", "Percentile")
	compared, refused := 0, 0
	for i := range *cases {
		r := rand.New(rand.NewPCG(uint64(i), 43))
		name, d := names[i%len(names)], mergeTypes[i/len(names)%len(mergeTypes)]
		shape, chunks, axes := []int{1 + r.IntN(12)}, []int{0}, []int{0}
		if r.IntN(3) == 0 {
			shape, chunks = append(shape, 1+r.IntN(6)), append(chunks, 0)
			switch {
			case r.IntN(2) == 0 || name == "Histogram" || name == "Percentile":
				axes = []int{0, 1}
			case r.IntN(2) == 0:
				axes = []int{1}
			}
		}
		if slices.Contains([]string{"ArgMax", "ArgMin", "NanArgMax", "NanArgMin"}, name) {
			axes = axes[:1]
		}
		for k, n := range shape {
			chunks[k] = 1 + r.IntN(n)
		}
		if r.IntN(40) == 0 { // no element on an axis
			shape[r.IntN(len(shape))] = 0
		}
		x := blotched(t, r, d, shape, chunks)
		how := Reducing{Axes: axes, DDoF: r.IntN(2), Last: r.IntN(2) == 0, Q: 0.25}
		of := func(chunks []int) Array {
			a := FromTensor("x", x, chunks...)
			switch name {
			case "Histogram":
				return Histogram(a, 5, -2, 1000)
			case "Percentile":
				return Percentile(Histogram(a, 5, -1e4, 1e4), -1e4, 1e4, 0, 50)
			}
			return Reduce(name, a, how)
		}
		whole := make([]int, len(shape))
		for k := range shape {
			whole[k] = max(1, shape[k])
		}
		one, many := of(whole), of(chunks)
		if one.Err() != nil || many.Err() != nil {
			if many.Err() == nil || one.Err() != nil && one.Err().Error() != many.Err().Error() {
				t.Fatalf("%s of %v: %v; of chunks %v", name, d, one.Err(), many.Err())
			}
			refused++
			continue
		}
		want, wrong := elementsOf(one)
		got, err := elementsOf(many)
		compared++
		what := fmt.Sprintf("case %d: %s %+v of %v%v in %v:\n%v", i, name, how, d, shape, chunks, x)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%s\n%v, one chunk %v", what, err, wrong)
		}
		if err != nil {
			continue
		}
		if rounds := []string{"ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "NanSum", "NanMean", "Var", "Std"}; slices.Contains(rounds, name) && d.IsFloat() {
			near(t, what, got, want)
		} else {
			equal(t, what, got, want)
		}
	}
	t.Logf("%d chunkings compared, %d refused by their type or Median's axes", compared, refused)
}

// elementsOf computes an array without a plan.
func elementsOf(a Array) (tensor.Any, error) {
	return (&evaluator{ctx: background}).eval(a.n, all(a.n.shape))
}

// blotched draws elements, each chunk of its own kind: many are neutral to some reduction.
func blotched(t *testing.T, r *rand.Rand, d dtype.DType, shape, chunks []int) tensor.Any {
	inf := math.Inf(1)
	special := []float64{-inf, inf, math.NaN(), 0, math.Copysign(0, -1), 1, -1, 1000, -1000, -999.5}
	if !d.IsFloat() {
		special = []float64{0, 1, -1, 127, -128, 100, 200, 255}
	}
	if r.IntN(2) == 0 { // chunks of two kinds
		r.Shuffle(len(special), func(i, j int) { special[i], special[j] = special[j], special[i] })
		special = special[:2]
	}
	kinds := map[string]float64{}
	n := 1
	for _, e := range shape {
		n *= e
	}
	v := make([]float64, 0, n)
	for i := range n {
		key, rest := "", i
		for k := len(shape) - 1; k >= 0; k-- {
			key += fmt.Sprint(rest%shape[k]/chunks[k], ",")
			rest /= shape[k]
		}
		if _, ok := kinds[key]; !ok {
			kinds[key] = special[r.IntN(len(special))]
			if r.IntN(4) == 0 {
				kinds[key] = 0.25 // mixed
			}
		}
		switch k := kinds[key]; {
		case k != 0.25:
			v = append(v, k)
		case r.IntN(2) == 0:
			v = append(v, special[r.IntN(len(special))])
		default:
			v = append(v, float64(r.IntN(9)-4))
		}
	}
	x, err := run(named("CastLike"), nil, tensor.FromSlice(v, shape...).Any(), tensor.EmptyOf(d))
	if err != nil {
		t.Fatal(err)
	}
	return x
}
