package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// EmbedLayerNormalization of the domain com.microsoft is LayerNormalization over the last axis of sums of rows: of the table input 2, by the numbers of input 0; of
// the table input 3, by the numbers of input 8 or by positions in the sequence; and, if they are there, of the table input 4, by the numbers of input 1. Inputs 5 and
// 6 are the scale and the bias of the normalization. A second output is the number of ones in each sequence of input 7, a mask, 0 without it;
// a third is the sums. They are rounded as Add rounds them. Typed programs call Gather, Add and LayerNormalization. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var embedLayerNormalization = plan.Operator{About: plan.About{Name: "EmbedLayerNormalization", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"epsilon", "mask_index_type"}, Why: whyAttended},
	Least: 1, Most: 9, By: 2, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "EmbedLayerNormalization"
		batch, long, width := embeddedOf(c)
		allThere(name, c)
		n, epsilon := min(max(c.Outputs, 1), 3), float64(c.Attrs.Float("epsilon", 1e-12))
		if !p.Brief {
			sum := plan.Spec(name, c.In(2).DType(), batch, long, width)
			p.Out = []tensor.Any{sum, plan.Spec(name, dtype.Int32, batch), sum}[:n]
			p.Takes(0, 24*float64(width))
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) {
			if batch == 0 || long == 0 { // the tables have no part in it
				empty := tensor.EmptyOf(c.In(2).DType(), batch, long, width)
				if copy(to, []tensor.Any{empty, {}, empty}); n > 1 {
					to[1] = tensor.New[int32](batch).Any()
				}
				return
			}
			var sum, at tensor.Any
			gathered(&sum, c.Or(2), c.Or(0), 0, opts)
			if ids := c.Or(8); ids.IsZero() {
				at = sliceable(c.In(3)).Slice(tensor.R(0, long)).Reshape(1, long, width)
			} else {
				gathered(&at, c.Or(3), ids, 0, opts)
			}
			add.Call(&sum, onto(&sum, opts), &sum, &at)
			if segments := c.Or(1); !segments.IsZero() {
				var of tensor.Any
				gathered(&of, c.Or(4), segments, 0, opts)
				add.Call(&sum, onto(&sum, opts), &sum, &of)
			}
			copy(to, []tensor.Any{{}, {}, sum})
			layerNormal(&to[0], &sum, c.Or(5), c.Or(6), -1, epsilon, opts)
			if n > 1 {
				to[1] = tensor.New[int32](batch).Any()
				ones := move.ElemsOf[int32](&to[1])
				if mask := c.In(7); !mask.IsZero() {
					for i, v := range move.WordsOf(mask).Int64s(name) {
						if v == 1 {
							ones[i/long]++
						}
					}
				}
			}
		})
	}}

// embeddedOf checks a node. Inputs may be Specs.
func embeddedOf(c *plan.Use) (batch, long, width int) {
	const name = "EmbedLayerNormalization"
	ids, words, places := c.In(0), c.In(2), c.In(3)
	if move.WantInt(name, 0, ids); ids.Rank() != 2 || words.Rank() != 2 || places.Rank() != 2 || places.Dim(1) != words.Dim(1) {
		panic(plan.Fail(name, tensor.ErrShape, "inputs 0, 2 and 3 are %s, %s and %s; want [batch, sequence], [words, width] and [positions, width]", operandText(&ids), operandText(&words), operandText(&places)))
	}
	batch, long, width = ids.Dim(0), ids.Dim(1), words.Dim(1)
	for i := 3; i < 7; i++ {
		if a := c.In(i); !a.IsZero() && a.DType() != words.DType() {
			panic(plan.NotHeld(name, &a, i, words.DType()))
		}
	}
	if c.In(1).IsZero() != c.In(4).IsZero() || !c.In(4).IsZero() && (c.In(4).Rank() != 2 || c.In(4).Dim(1) != width) {
		panic(plan.Fail(name, tensor.ErrShape, "inputs 1 and 4 are %s and %s; want the segments [%d,%d] and a table of rows of %d, or neither", operandText(c.Or(1)), operandText(c.Or(4)), batch, long, width))
	}
	for _, i := range []int{1, 7, 8} {
		a := c.In(i)
		if a.IsZero() {
			continue
		}
		if move.WantInt(name, i, a); !plan.SameShape(a.LayoutRef(), []int{batch, long}) && !(i == 8 && plan.SameShape(a.LayoutRef(), []int{1, long})) {
			panic(plan.Fail(name, tensor.ErrShape, "input %d is %s; want [%d,%d]", i, operandText(&a), batch, long))
		}
	}
	if c.In(8).IsZero() && places.Dim(0) < long {
		panic(plan.Fail(name, tensor.ErrShape, "input 3 has %d positions, and sequences are %d long", places.Dim(0), long))
	}
	for i := 5; i < 7; i++ {
		if a := c.In(i); !plan.SameShape(a.LayoutRef(), []int{width}) {
			panic(plan.Fail(name, tensor.ErrShape, "input %d is %s; want [%d], the width of a row", i, operandText(&a), width))
		}
	}
	return batch, long, width
}
