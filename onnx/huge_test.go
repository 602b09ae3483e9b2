package onnx

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/confined"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/tensor"
)

// A hugeCase is a graph with a huge number, of nodes whose operands are nearly empty. give makes a value: a weight, or an input.
type hugeCase struct {
	name  string
	long  bool // it is a loop, which a context ends
	build func(b *Builder, n int64, give func(a tensor.Any) string)
}

// hugeCases are graphs whose work or memory a single number may multiply.
func hugeCases() (list []hugeCase) {
	add := func(name string, long bool, build func(b *Builder, n int64, give func(a tensor.Any) string)) {
		list = append(list, hugeCase{name, long, build})
	}
	ints := func(v ...int64) tensor.Any { return tensor.FromSlice(v, len(v)).Any() }
	whole64 := func(shape ...int) tensor.Any { return tensor.New[int64](shape...).Any() }
	none := func(shape ...int) tensor.Any { return tensor.New[float32](shape...).Any() }
	one := func(op string, attrs ...Attribute) func(operands func(n int64) []tensor.Any) {
		return func(operands func(n int64) []tensor.Any) {
			add(op+" "+strconv.Itoa(len(list)), false, func(b *Builder, n int64, give func(a tensor.Any) string) {
				var in []string
				for _, a := range operands(n) {
					if a.IsZero() {
						in = append(in, "")
					} else {
						in = append(in, give(a))
					}
				}
				var own []Attribute
				for _, a := range attrs {
					if v, ok := a.Value.([]int64); ok {
						v = append([]int64{}, v...)
						for i := range v {
							if v[i] == -77 {
								v[i] = n
							}
						}
						a.Value = v
					} else if a.Value == int64(-77) {
						a.Value = n
					}
					own = append(own, a)
				}
				b.OutputOf(b.Node(op, in, own...), Type{})
			})
		}
	}
	const huge = -77 // stands for the number in attributes
	for _, shape := range [][]int64{{0, 1}, {1, 0}, {1}, {1, 1}} {
		with := func(n int64) tensor.Any { // 1 becomes the number
			v := append([]int64{}, shape...)
			for i := range v {
				v[i] *= n
			}
			return ints(v...)
		}
		one("ConstantOfShape")(func(n int64) []tensor.Any { return []tensor.Any{with(n)} })
		one("Expand")(func(n int64) []tensor.Any { return []tensor.Any{none(1), with(n)} })
		one("Tile")(func(n int64) []tensor.Any {
			return []tensor.Any{none(append(make([]int, len(shape)-1), 1)...), with(n)}
		})
		one("Reshape", IntAttr("allowzero", 1))(func(n int64) []tensor.Any { return []tensor.Any{none(0), with(n)} })
		one("CenterCropPad")(func(n int64) []tensor.Any {
			return []tensor.Any{none(append(make([]int, len(shape)-1), 1)...), with(n)}
		})
		one("Resize")(func(n int64) []tensor.Any {
			return []tensor.Any{none(append(make([]int, len(shape)-1), 1)...), {}, {}, with(n)}
		})
	}
	for _, x := range []tensor.Any{none(0), none(0, 1), none(1), none(0, 1<<40), none(1<<40, 0)} {
		rank := x.Rank()
		one("Pad")(func(n int64) []tensor.Any {
			pads := make([]int64, 2*rank)
			pads[0] = n
			return []tensor.Any{x, ints(pads...)}
		})
		one("Pad", StringAttr("mode", "edge"))(func(n int64) []tensor.Any {
			pads := make([]int64, 2*rank)
			pads[2*rank-1] = n
			return []tensor.Any{x, ints(pads...)}
		})
		one("OneHot")(func(n int64) []tensor.Any {
			return []tensor.Any{whole64(x.Shape()...), count(n), tensor.New[float32](2).Any()}
		})
		one("TopK")(func(n int64) []tensor.Any { return []tensor.Any{x, ints(n)} })
		one("Slice")(func(n int64) []tensor.Any { return []tensor.Any{x, ints(-n), ints(n), ints(0), ints(n)} })
		one("NonZero")(func(int64) []tensor.Any { return []tensor.Any{x} })
		one("Unique")(func(int64) []tensor.Any { return []tensor.Any{x} })
		one("EyeLike", IntAttr("k", huge))(func(int64) []tensor.Any { return []tensor.Any{x} })
		one("CumSum")(func(int64) []tensor.Any { return []tensor.Any{x, count(0)} })
		one("Gather")(func(n int64) []tensor.Any { return []tensor.Any{x, whole64(0, int(n))} })
		one("GatherND")(func(n int64) []tensor.Any { return []tensor.Any{x, whole64(int(n), 0)} })
		one("ScatterND")(func(int64) []tensor.Any {
			return []tensor.Any{x, whole64(0, 1), none(append([]int{0}, x.Shape()[1:]...)...)}
		})
		one("Compress")(func(int64) []tensor.Any { return []tensor.Any{x, tensor.New[bool](0).Any()} })
		one("Compress", IntAttr("axis", 0))(func(int64) []tensor.Any { return []tensor.Any{x, tensor.New[bool](0).Any()} })
		one("Split", IntAttr("num_outputs", huge))(func(int64) []tensor.Any { return []tensor.Any{x} })
		one("DFT")(func(n int64) []tensor.Any { return []tensor.Any{none(1, 0, 1), count(n), count(1)} })
		one("Multinomial", IntAttr("sample_size", huge))(func(int64) []tensor.Any { return []tensor.Any{none(0, 3)} })
		one("Unsqueeze")(func(n int64) []tensor.Any { return []tensor.Any{x, ints(n)} })
		for _, parts := range []func(n int64) []tensor.Any{
			func(n int64) []tensor.Any { return []tensor.Any{x} },
			func(n int64) []tensor.Any { return []tensor.Any{x, count(1)} },
			func(n int64) []tensor.Any { return []tensor.Any{x, count(n)} },
			func(n int64) []tensor.Any { return []tensor.Any{x, whole64(int(min(n, 1<<40)), 0).Reshape(0)} },
		} {
			for axis := range rank {
				for keep := range int64(2) {
					one("SplitToSequence", IntAttr("axis", int64(axis)), IntAttr("keepdims", keep))(parts)
				}
			}
		}
		add("ConcatFromSequence", false, func(b *Builder, n int64, give func(a tensor.Any) string) {
			s := b.Node("SequenceConstruct", []string{give(x), give(x)})
			b.OutputOf(b.Node("ConcatFromSequence", []string{s}, IntAttr("axis", 0), IntAttr("new_axis", n&1)), Type{})
		})
		add("SequenceAt", false, func(b *Builder, n int64, give func(a tensor.Any) string) {
			b.OutputOf(b.Node("SequenceAt", []string{b.Node("SequenceConstruct", []string{give(x)}), give(count(n))}), Type{})
		})
	}
	one("Range")(func(n int64) []tensor.Any { return []tensor.Any{count(0), count(n), count(1)} })
	one("Range")(func(n int64) []tensor.Any { return []tensor.Any{count(n), count(0), count(1)} })
	one("Range")(func(n int64) []tensor.Any { return []tensor.Any{count(-n), count(n), count(1)} })
	for _, op := range []string{"HannWindow", "HammingWindow", "BlackmanWindow"} {
		one(op)(func(n int64) []tensor.Any { return []tensor.Any{count(n)} })
	}
	for at := range 3 {
		one("MelWeightMatrix")(func(n int64) []tensor.Any {
			v := []int64{8, 16, 8192}
			v[at] = n
			return []tensor.Any{count(v[0]), count(v[1]), count(v[2]), tensor.Scalar[float32](0).Any(), tensor.Scalar[float32](4000).Any()}
		})
	}
	one("STFT")(func(n int64) []tensor.Any { return []tensor.Any{none(1, 0, 1), count(n), {}, count(n)} })
	one("STFT")(func(n int64) []tensor.Any { return []tensor.Any{none(0, 8, 1), count(1), {}, count(n)} })
	one("RandomNormal", IntsAttr("shape", huge))(func(int64) []tensor.Any { return nil })
	one("RandomUniform", IntsAttr("shape", 0, huge))(func(int64) []tensor.Any { return nil })
	one("Col2Im")(func(n int64) []tensor.Any { return []tensor.Any{none(0, 1, 1), ints(n, 1), ints(1, 1)} })
	one("Col2Im", IntsAttr("pads", huge, 0, 0, 0))(func(n int64) []tensor.Any { return []tensor.Any{none(0, 1, 0), ints(1, 1), ints(n, n)} })
	one("MaxUnpool", IntsAttr("kernel_shape", 1, 1))(func(n int64) []tensor.Any {
		return []tensor.Any{none(0, 1, 1, 1), whole64(0, 1, 1, 1), ints(0, 1, n, 1)}
	})
	one("MaxPool", IntsAttr("kernel_shape", huge), IntsAttr("pads", huge, huge))(func(int64) []tensor.Any { return []tensor.Any{none(0, 1, 1)} })
	one("MaxPool", IntsAttr("kernel_shape", 1), IntsAttr("pads", 0, 0), IntsAttr("strides", huge), IntsAttr("dilations", huge))(func(int64) []tensor.Any { return []tensor.Any{none(1, 1, 1)} })
	one("Conv", IntsAttr("pads", 0, huge))(func(int64) []tensor.Any { return []tensor.Any{none(0, 1, 1), none(1, 1, 1)} })
	one("ConvTranspose", IntsAttr("strides", huge))(func(int64) []tensor.Any { return []tensor.Any{none(0, 1, 2), none(1, 1, 1)} })
	one("ConvTranspose", IntsAttr("output_shape", huge))(func(int64) []tensor.Any { return []tensor.Any{none(0, 1, 2), none(1, 1, 1)} })
	one("DepthToSpace", IntAttr("blocksize", huge))(func(int64) []tensor.Any { return []tensor.Any{none(0, 4, 1, 1)} })
	one("SpaceToDepth", IntAttr("blocksize", huge))(func(int64) []tensor.Any { return []tensor.Any{none(0, 4, 0, 0)} })
	one("AffineGrid")(func(n int64) []tensor.Any { return []tensor.Any{none(0, 2, 3), ints(0, 1, n, 1)} })
	one("RoiAlign", IntAttr("output_height", huge))(func(int64) []tensor.Any {
		return []tensor.Any{none(1, 1, 1, 1), none(0, 4), whole64(0)}
	})
	one("RoiAlign", IntAttr("sampling_ratio", huge))(func(int64) []tensor.Any {
		return []tensor.Any{none(1, 0, 1, 1), none(1, 4), whole64(1)}
	})
	one("NonMaxSuppression")(func(n int64) []tensor.Any { return []tensor.Any{none(1, 0, 4), none(1, 0, 0), count(n)} })
	one("NonMaxSuppression")(func(n int64) []tensor.Any { return []tensor.Any{none(0, int(n), 4), none(0, 1, int(n)), count(n)} })
	one("LRN", IntAttr("size", huge))(func(int64) []tensor.Any { return []tensor.Any{none(1, 1, 1)} })
	one("Trilu")(func(n int64) []tensor.Any { return []tensor.Any{none(0, 1<<40), count(n)} })
	one("BitShift", StringAttr("direction", "LEFT"))(func(n int64) []tensor.Any {
		return []tensor.Any{tensor.New[uint64](1).Any(), tensor.FromSlice([]uint64{uint64(n)}, 1).Any()}
	})
	one("ai.onnx.ml.OneHotEncoder", IntsAttr("cats_int64s", 0, huge))(func(n int64) []tensor.Any { return []tensor.Any{whole64(0, int(n))} })
	for _, text := range []string{"a", strings.Repeat("a", 100)} {
		add("StringSplit", false, func(b *Builder, n int64, _ func(a tensor.Any) string) {
			b.OutputOf(b.Nodes("StringSplit", 2, []string{b.Strings("s", []int{1}, text)}, StringAttr("delimiter", "a"), IntAttr("maxsplit", n))[0], Type{})
		})
		for _, op := range []string{"Expand", "Tile"} {
			for _, zero := range []int64{0, 1} {
				add(op+" of text", false, func(b *Builder, n int64, give func(a tensor.Any) string) {
					b.OutputOf(b.Node(op, []string{b.Strings("s", []int{1, 1}, text), give(ints(zero, n))}), Type{})
				})
			}
		}
		add("SplitToSequence of text", false, func(b *Builder, n int64, give func(a tensor.Any) string) {
			none := b.Node("Expand", []string{b.Strings("s", []int{1, 1}, text), give(ints(n, 0))})
			b.OutputOf(b.Node("SplitToSequence", []string{none, give(count(1))}), Type{})
		})
		add("Cast to text", false, func(b *Builder, n int64, give func(a tensor.Any) string) {
			b.OutputOf(b.Node("Cast", []string{give(whole64(0, int(n)))}, IntAttr("to", int64(ElemString))), Type{})
		})
	}
	for _, carried := range []bool{false, true} {
		add("Loop", true, func(b *Builder, n int64, give func(a tensor.Any) string) {
			in := []string{give(count(n)), ""}
			if carried {
				in = append(in, give(none(0, 1<<40)))
			}
			for _, out := range looped(b, len(in)-2, in, func(_ *Builder, v []string) []string { return v[1:] }) {
				b.OutputOf(out, Type{})
			}
			b.OutputOf(b.Node("Identity", []string{give(none(0))}), Type{})
		})
	}
	add("Loop of results without elements", true, func(b *Builder, n int64, give func(a tensor.Any) string) {
		x := give(none(0))
		b.OutputOf(looped(b, 1, []string{give(count(n)), ""}, func(b *Builder, v []string) []string { return []string{v[1], b.Node("Neg", []string{x})} })[0], Type{})
	})
	add("Loop without an end", true, func(b *Builder, _ int64, give func(a tensor.Any) string) {
		b.OutputOf(looped(b, 1, []string{"", "", give(none(0))}, func(b *Builder, v []string) []string { return v[1:] })[0], Type{})
	})
	for _, shape := range [][]int{{1, 0}, {1, 1, 0}} {
		add("Scan", true, func(b *Builder, n int64, give func(a tensor.Any) string) {
			s := append([]int{int(n)}, shape[1:]...)
			body := b.Body("body")
			body.OutputOf(body.Node("Neg", []string{body.InputOf("row", Type{})}), Type{})
			b.OutputOf(b.Node("Scan", []string{give(none(s...))}, GraphAttr("body", body), IntAttr("num_scan_inputs", 1)), Type{})
		})
	}
	add("SequenceMap", true, func(b *Builder, n int64, give func(a tensor.Any) string) {
		parts := b.Node("SplitToSequence", []string{give(none(int(n), 0)), give(count(1))})
		body := b.Body("body")
		body.OutputOf(body.Node("Neg", []string{body.InputOf("part", Type{})}), Type{})
		b.OutputOf(b.Node("SequenceMap", []string{parts}, GraphAttr("body", body)), Type{})
	})
	return list
}

// TestHugeNumbers checks, plans and runs graphs with a huge number in a process that has 1 GiB to spare. A run has a limit of 64 MiB,
// or none. The number is a weight, which passes may compute with, or an input. The run has results or an error at once; a loop
// ends with its context.
func TestHugeNumbers(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int has no room for huge extents")
	}
	list, numbers := hugeCases(), []int64{1 << 31, 1 << 40, 1 << 45, 1 << 62}
	ran := 0
	confined.Each(t, 2*len(numbers)*len(list), func(i int) string { return list[i%len(list)].name }, func(i int) string {
		return fmt.Sprintf("%s, number %d, input %v", list[i%len(list)].name, numbers[i/len(list)/2], i/len(list)%2 == 1)
	}, func(i int) {
		c, n, feed := list[i%len(list)], numbers[i/len(list)/2], i/len(list)%2 == 1
		b, given := NewBuilder("g"), map[string]tensor.Any{}
		b.Import("ai.onnx.ml", 3)
		var m *Model
		err := tensor.Try(func() { // no tensor has some shapes
			c.build(b, n, func(a tensor.Any) string {
				name := "v" + strconv.Itoa(len(given))
				if given[name] = a; feed {
					dims := make([]any, a.Rank())
					return b.Input(name, a.DType(), dims...)
				}
				return b.Weight(name, a)
			})
		})
		if err == nil {
			m, err = b.Model(22)
		}
		if err != nil {
			return
		}
		defer m.Close()
		if !feed {
			clear(given)
		}
		before := allocated()
		s, err := NewSession(m)
		if err == nil {
			values := map[string]Value{}
			for name, a := range given {
				values[name] = TensorValue(a)
			}
			_, err = s.RunValues(ended.After(20000), values, &Options{MaxMemory: 64 << 20})
			if n >= 1<<45 && !c.long { // beyond all memory
				_, err = s.RunValues(ended.After(20000), values, &Options{MaxMemory: -1})
			}
		}
		if grew := allocated() - before; grew > 128<<20 {
			t.Errorf("%s, number %d: %d bytes (%v)", c.name, n, grew, err)
		}
		if !c.long && errors.Is(err, context.Canceled) {
			t.Errorf("%s, number %d: %v", c.name, n, err)
		}
		if err == nil {
			ran++
		}
	})
	if ran > 0 {
		t.Logf("%d of %d ran", ran, 2*len(numbers)*len(list))
	}
}
