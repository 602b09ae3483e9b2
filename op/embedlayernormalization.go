package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// EmbedLayerNormalization of the domain com.microsoft is LayerNormalization over the last axis of sums of rows: of the table input 2, by the numbers of input 0; of
// the table input 3, by those of input 8 or by positions in the sequence; and, if they are there, of the table input 4, by the numbers of input 1. Inputs 5 and
// 6 are the scale and the bias of the normalization. A second output is the number of ones in each sequence of input 7, a mask, 0 without it;
// a third is the sums. They are rounded as Add rounds them. Typed programs call Gather, Add and LayerNormalization. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var embedLayerNormalization = opN{about: about{name: "EmbedLayerNormalization", takesUp: inLastLine, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"epsilon", "mask_index_type"}, why: whyAttended},
	least: 1, most: 9, by: 2, takes: attended,
	planned: func(c *Call, p *Plan) {
		const name = "EmbedLayerNormalization"
		batch, long, width := embeddedOf(c)
		allThere(name, c)
		n, epsilon := min(max(c.Outputs, 1), 3), float64(c.Attrs.Float("epsilon", 1e-12))
		if !p.brief {
			sum := spec(name, c.in(2).DType(), batch, long, width)
			p.out = []tensor.Any{sum, spec(name, dtype.Int32, batch), sum}[:n]
		}
		p.list(c, n, func(to []tensor.Any, opts []Option) {
			var sum, at tensor.Any
			gathered(&sum, c.or(2), c.or(0), 0, opts)
			if ids := c.or(8); ids.IsZero() {
				at = sliceable(c.in(3)).Slice(tensor.R(0, long)).Reshape(1, long, width)
			} else {
				gathered(&at, c.or(3), ids, 0, opts)
			}
			add.call(&sum, onto(&sum, opts), &sum, &at)
			if segments := c.or(1); !segments.IsZero() {
				var of tensor.Any
				gathered(&of, c.or(4), segments, 0, opts)
				add.call(&sum, onto(&sum, opts), &sum, &of)
			}
			copy(to, []tensor.Any{{}, {}, sum})
			layerNormal(&to[0], &sum, c.or(5), c.or(6), -1, epsilon, opts)
			if n > 1 {
				to[1] = tensor.New[int32](batch).Any()
				ones := elemsOf[int32](&to[1])
				if mask := c.in(7); !mask.IsZero() {
					for i, v := range wordsOf(mask).int64s(name) {
						if v == 1 {
							ones[i/long]++
						}
					}
				}
			}
		})
	}}

// embeddedOf checks a node. Inputs may be Specs.
func embeddedOf(c *Call) (batch, long, width int) {
	const name = "EmbedLayerNormalization"
	ids, words, places := c.in(0), c.in(2), c.in(3)
	if wantInt(name, 0, ids); ids.Rank() != 2 || words.Rank() != 2 || places.Rank() != 2 || places.Dim(1) != words.Dim(1) {
		panic(fail(name, tensor.ErrShape, "inputs 0, 2 and 3 are %s, %s and %s; want [batch, sequence], [words, width] and [positions, width]", operandText(&ids), operandText(&words), operandText(&places)))
	}
	batch, long, width = ids.Dim(0), ids.Dim(1), words.Dim(1)
	for i := 3; i < 7; i++ {
		if a := c.in(i); !a.IsZero() && a.DType() != words.DType() {
			panic(notHeld(name, &a, i, words.DType()))
		}
	}
	if c.in(1).IsZero() != c.in(4).IsZero() || !c.in(4).IsZero() && (c.in(4).Rank() != 2 || c.in(4).Dim(1) != width) {
		panic(fail(name, tensor.ErrShape, "inputs 1 and 4 are %s and %s; want the segments [%d,%d] and a table of rows of %d, or neither", operandText(c.or(1)), operandText(c.or(4)), batch, long, width))
	}
	for _, i := range []int{1, 7, 8} {
		a := c.in(i)
		if a.IsZero() {
			continue
		}
		if wantInt(name, i, a); !sameShape(a.LayoutRef(), []int{batch, long}) && !(i == 8 && sameShape(a.LayoutRef(), []int{1, long})) {
			panic(fail(name, tensor.ErrShape, "input %d is %s; want [%d,%d]", i, operandText(&a), batch, long))
		}
	}
	if c.in(8).IsZero() && places.Dim(0) < long {
		panic(fail(name, tensor.ErrShape, "input 3 has %d positions, and sequences are %d long", places.Dim(0), long))
	}
	for i := 5; i < 7; i++ {
		if a := c.in(i); !sameShape(a.LayoutRef(), []int{width}) {
			panic(fail(name, tensor.ErrShape, "input %d is %s; want [%d], the width of a row", i, operandText(&a), width))
		}
	}
	return batch, long, width
}
