package op

import (
	"context"
	"encoding/binary"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// TfIdfVectorizerOptions is a list of n-grams, which are n integers each, and the way to count them.
type TfIdfVectorizerOptions struct {
	Pool    []int64   // the integers of all n-grams, the shorter ones first
	Starts  []int     // where in Pool the n-grams of 1 integer, 2 integers and so on start
	Outputs []int     // for each n-gram the element of a result that it counts for
	Weights []float32 // of each n-gram; 1 without them
	Mode    string    // "TF": how often; "IDF": the weight, if at all; "TFIDF": how often times the weight
	Least   int       // the fewest integers of an n-gram that counts
	Most    int       // the most
	Skip    int       // how many integers at most may stand between two neighbours in an n-gram
}

// TfIdfVectorizer returns for each row of x, [rows, n] or one row [n], counts of n-grams: float32 [rows, outputs] or
// [outputs], with as many elements as the largest number in Outputs asks for. The integers of an n-gram stand in a row
// with the same distance, 1 to Skip + 1, between neighbours. It panics when lists don't fit each other. ONNX's operator.
func TfIdfVectorizer[T int32 | int64](x tensor.Tensor[T], o TfIdfVectorizerOptions, opts ...Option) (r tensor.Tensor[float32]) {
	plan.Present("TfIdfVectorizer", exec.Ref(&x))
	o.counted(x.Any(), o.table()).Into(exec.Ref(&r), opts)
	return r
}

// A gramTable finds n-grams by the bytes of their integers.
type gramTable struct {
	at   map[string]int
	wide int // of the result
}

// table checks the n-grams.
func (g *TfIdfVectorizerOptions) table() *gramTable {
	const name = "TfIdfVectorizer"
	switch g.Mode {
	case "TF", "IDF", "TFIDF":
	default:
		panic(plan.Fail(name, tensor.ErrValue, "mode is %.40q; want TF, IDF or TFIDF", g.Mode))
	}
	if g.Least < 1 || g.Most < g.Least || g.Most > len(g.Starts) || g.Skip < 0 {
		panic(plan.Fail(name, tensor.ErrValue, "n-grams of %d to %d, with %d skipped, where %d lengths are listed; want 1 ≤ least ≤ most ≤ lengths, and no negative number",
			g.Least, g.Most, g.Skip, len(g.Starts)))
	}
	t := &gramTable{at: make(map[string]int, len(g.Outputs))}
	count := 0
	for i, start := range g.Starts {
		end, n := len(g.Pool), i+1
		if i+1 < len(g.Starts) {
			end = g.Starts[i+1]
		}
		if start < 0 || end < start || end > len(g.Pool) || (end-start)%n != 0 {
			panic(plan.Fail(name, tensor.ErrShape, "the n-grams of %d stand from %d to %d of %d; want whole ones", n, start, end, len(g.Pool)))
		}
		for ; start < end; start += n {
			if key := gramKey(nil, g.Pool[start:start+n]); n >= g.Least && n <= g.Most {
				if _, twice := t.at[string(key)]; twice {
					panic(plan.Fail(name, tensor.ErrValue, "n-gram %v is listed twice", g.Pool[start:start+n]))
				}
				t.at[string(key)] = count
			}
			count++
		}
	}
	if len(g.Outputs) != count || len(g.Weights) != 0 && len(g.Weights) != count {
		panic(plan.Fail(name, tensor.ErrShape, "%d outputs and %d weights for %d n-grams; give one for each", len(g.Outputs), len(g.Weights), count))
	}
	for i, o := range g.Outputs {
		if o < 0 {
			panic(plan.Fail(name, tensor.ErrIndex, "n-gram %d counts for output %d", i, o))
		}
		t.wide = max(t.wide, o+1)
	}
	return t
}

// gramKey appends the bytes of integers to key.
func gramKey(key []byte, v []int64) []byte {
	for _, x := range v {
		key = binary.LittleEndian.AppendUint64(key, uint64(x))
	}
	return key
}

func (g *TfIdfVectorizerOptions) counted(x tensor.Any, t *gramTable) *move.Transfer {
	const name = "TfIdfVectorizer"
	rows, n := plan.Rows(name, x)
	wide, shape := t.wide, []int{rows, t.wide}
	if x.Rank() == 1 {
		shape = shape[1:]
	}
	least, most, skip := g.Least, g.Most, g.Skip
	mode, outputs, weights := g.Mode, g.Outputs, g.Weights
	return &move.Transfer{Name: name, D: dtype.Float32, Shape: shape, In: []tensor.Any{x, plan.ListOf(weights)}, Price: plan.Taking(0, 8*float64(wide+len(outputs))), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split(name, ctx, rows, 50*min(n, 1<<20)*(most-least+1)+4*min(wide, 1<<20), func(from, till int) {
			v, times := plan.RoomFor[float64](name, wide), make([]int, len(outputs))
			var key []byte
			for row := from; row < till; row++ {
				clear(v)
				clear(times)
				for gram := least; gram <= most && gram <= n; gram++ {
					for step := 1; step-1 <= skip && (gram == 1 && step == 1 || gram > 1 && step <= (n-1)/(gram-1)); step++ {
						for first := row * n; first+(gram-1)*step < (row+1)*n; first++ {
							key = key[:0]
							for k := range gram {
								key = binary.LittleEndian.AppendUint64(key, uint64(src.Whole(first+k*step)))
							}
							if i, ok := t.at[string(key)]; ok {
								times[i]++
							}
						}
					}
				}
				for i, times := range times {
					w := 1.0
					if len(weights) > 0 && mode != "TF" {
						w = float64(weights[i])
					}
					switch {
					case times == 0:
					case mode == "IDF":
						v[outputs[i]] = w
					default:
						v[outputs[i]] += float64(float64(times) * w)
					}
				}
				to.SetFloats(row*wide, v)
			}
		})
	}}
}

// gramsOf reads a node.
func gramsOf(c *plan.Use) (g TfIdfVectorizerOptions) {
	const name = "TfIdfVectorizer"
	g.Pool = plan.Labels(name, c, "pool_int64s", "pool_strings")
	g.Starts, _ = plan.AttrInts(c, "ngram_counts")
	g.Outputs, _ = plan.AttrInts(c, "ngram_indexes")
	g.Weights, _ = c.Attrs.Floats("weights")
	g.Mode = c.Attrs.Str("mode", "")
	g.Least, g.Most, g.Skip = plan.AttrInt(c, "min_gram_length", 1), plan.AttrInt(c, "max_gram_length", 1), plan.AttrInt(c, "max_skip_count", 0)
	return g
}

var tfIdfVectorizer = plan.Operator{About: plan.About{Name: "TfIdfVectorizer", Versions: []int{9}, Why: "ONNX gives it int32, int64 and strings alone",
	Attrs: []string{"max_gram_length", "max_skip_count", "min_gram_length", "mode", "ngram_counts", "ngram_indexes", "pool_int64s", "pool_strings", "weights"}},
	Least: 1, Takes: plan.Indices, Move: func(c *plan.Use) plan.Mover {
		type read struct {
			g TfIdfVectorizerOptions
			t *gramTable
		}
		r := plan.Remembered(c, func() any {
			r := &read{g: gramsOf(c)}
			r.t = r.g.table()
			return r
		}).(*read)
		return r.g.counted(c.In(0), r.t)
	}}
