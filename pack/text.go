package pack

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// Profile is the choice of elements that Text writes.
type Profile uint8

const (
	Short   Profile = iota // all, but of more than four along an axis only the first two and the last two
	Full                   // all
	Nothing                // none
)

// Notation is the form in which Text writes floats.
type Notation uint8

const (
	ByValue    Notation = iota // as Scientific if a finite value other than 0 is above 1e8 or below 1e-4, or over 1000 times another
	Scientific                 // 1.2500e-01
	Positional                 // 0.1250
)

// TextOptions are the options of Text. The zero value gives TT-NN's default form.
type TextOptions struct {
	Profile   Profile
	Notation  Notation
	Precision int // digits behind the point; 0: four; negative: none; no float has more than 1074
}

// Text writes a as TT-NN prints tensors:
//
//	ttnn.Tensor([[ 0.0758, -1.1728]], shape=Shape([1, 2]), dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)
//
// Layout is TILE for a Tensor in tiles. Text ignores padding; TT-NN takes it into account
// for ByValue, and prints it in some cases. Floats are rounded to the precision by their
// exact value. Text fails for complex numbers, and for a tensor whose elements can't be
// read.
func Text(a tensor.Any, opts *TextOptions) (string, error) {
	const op = "pack.Text"
	o := TextOptions{}
	if opts != nil {
		o = *opts
	}
	if a.IsZero() {
		return "", fail(op, tensor.ErrDType, "there is no tensor: it is the zero value")
	}
	name, order := strings.ToUpper(a.DType().String()), "ROW_MAJOR"
	if p, ok := a.Foreign().(Tensor); ok {
		name = strings.ToUpper(p.TypeName())
		if p.tile != (Tile{}) {
			order = "TILE"
		}
		t, err := p.unpack(op)
		if err != nil {
			return "", err
		}
		a = t
	}
	at := tensor.Float64s(a)
	if at == nil || a.DType().IsComplex() {
		return "", fail(op, tensor.ErrDType, "%s can't be written as text", tensor.Describe(a))
	}
	const most = 1 << 20 // the most brackets without an element in them
	for i, n := 0, 1; o.Profile == Full && i < a.Rank(); i++ {
		if e := a.Dim(i); e == 0 && n > most {
			return "", fail(op, tensor.ErrShape, "%s has no elements and more than %d brackets; print it with Short", tensor.Describe(a), most)
		} else if e > most {
			n = most + 1
		} else {
			n = min(n*e, most+1)
		}
	}
	t := &text{at: at, shape: a.Shape(), full: o.Profile == Full, verb: -1, precision: min(max(o.Precision, 0), 1074)}
	if d := a.DType(); d == dtype.Int64 || d == dtype.Uint64 { // a float64 doesn't hold all of these
		t.whole = func(idx ...int) string { return fmt.Sprint(a.At(idx...)) }
	}
	if o.Precision == 0 {
		t.precision = 4
	}
	err := tensor.Try(func() {
		switch {
		case o.Profile == Nothing:
			t.out.WriteString("...")
			return
		case a.DType().IsFloat():
			t.verb, t.width = 'f', t.precision+3
			if o.Notation == Scientific || o.Notation == ByValue && t.uneven() {
				t.verb, t.width = 'e', t.precision+7
			}
		default:
			t.width = 5
		}
		t.axis(nil)
	})
	if err != nil {
		return "", tensor.Wrap(op, err)
	}
	return fmt.Sprintf("ttnn.Tensor(%s, shape=%s, dtype=DataType::%s, layout=Layout::%s)", t.out.String(), shapeText(t.shape), name, order), nil
}

// text writes the text of a tensor.
type text struct {
	at               func(idx ...int) float64
	whole            func(idx ...int) string // writes integers that at would round; else nil
	shape            []int
	full             bool
	verb             int // of a float; -1 for integers
	width, precision int
	out              strings.Builder
}

// uneven reports whether ByValue means Scientific.
func (t *text) uneven() bool {
	least, most := math.Inf(1), 0.0
	idx := make([]int, len(t.shape))
	for _, n := range t.shape {
		if n == 0 {
			return false
		}
	}
	for {
		if v := math.Abs(t.at(idx...)); v > 0 && !math.IsInf(v, 0) {
			least, most = min(least, v), max(most, v)
		}
		i := len(idx) - 1
		for ; i >= 0; i-- {
			if idx[i]++; idx[i] < t.shape[i] {
				break
			}
			idx[i] = 0
		}
		if i < 0 {
			break
		}
	}
	return most > 0 && (most/least > 1000 || most > 1e8 || least < 1e-4)
}

// axis writes the elements whose first indices are idx.
func (t *text) axis(idx []int) {
	k := len(idx)
	if k == len(t.shape) {
		if t.whole != nil {
			fmt.Fprintf(&t.out, "%*s", t.width, t.whole(idx...))
			return
		}
		t.number(t.at(idx...))
		return
	}
	between := ", "
	if rest := len(t.shape) - 1 - k; rest > 0 {
		between = "," + strings.Repeat("\n", min(rest, 2)) + strings.Repeat(" ", len("ttnn.Tensor(")+k+1)
	}
	t.out.WriteByte('[')
	n := t.shape[k]
	for i := 0; i < n; i++ {
		if i > 0 {
			t.out.WriteString(between)
		}
		if !t.full && n > 4 && i == 2 {
			if k == len(t.shape)-1 {
				t.out.WriteByte(' ')
			}
			t.out.WriteString("..." + between)
			i = n - 2
		}
		t.axis(append(idx[:k:k], i))
	}
	t.out.WriteByte(']')
}

func (t *text) number(v float64) {
	var s string
	switch {
	case t.verb < 0:
		s = strconv.FormatFloat(v, 'f', 0, 64)
	case v != v:
		s = "nan"
	case math.IsInf(v, 0):
		s = strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	default:
		s = strconv.FormatFloat(v, byte(t.verb), t.precision, 64)
	}
	fmt.Fprintf(&t.out, "%*s", t.width, s)
}

// shapeText writes Shape([14, 28]).
func shapeText(shape []int) string {
	return "Shape([" + strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]") + "])"
}

// ShapeStyle is one of the forms in which versions of TT-NN write shapes.
type ShapeStyle uint8

const (
	Current  ShapeStyle = iota // without padding: Shape([14, 28])
	Sum                        // with the padding that is added: ttnn.Shape([14 + 18])
	Brackets                   // with the padded extents: ttnn.Shape([14[32]])
)

// ShapeText writes the shape of s. If the padded shape has more axes, Sum and Brackets
// write extents of 1 in front.
func ShapeText(s tensor.Spec, style ShapeStyle) string {
	if style == Current {
		return shapeText(s.Shape())
	}
	padded := s.Padded().Shape()
	var parts []string
	for i, n := range padded {
		have := 1
		if k := i - (len(padded) - s.Rank()); k >= 0 {
			have = s.Dim(k)
		}
		part := fmt.Sprint(have)
		switch {
		case n == have:
		case style == Sum:
			part += fmt.Sprintf(" + %d", n-have)
		default:
			part += fmt.Sprintf("[%d]", n)
		}
		parts = append(parts, part)
	}
	return "ttnn.Shape([" + strings.Join(parts, ", ") + "])"
}

// Extent returns shape[i] as TT-NN counts: from 0 up, below the rank, and from -1 down.
// TT-NN's shapes have at least four extents, the first of which are 1, so i may go down to
// -4 for a smaller rank. Otherwise i may go down to minus the rank. Extent fails beyond.
func Extent(s tensor.Spec, i int) (int, error) {
	rank := s.Rank()
	switch {
	case i >= rank || i < -max(rank, 4):
		return 0, fail("pack.Extent", tensor.ErrAxis, "no extent %d of shape %s; there are %d to %d", i, ints(s.Shape()), -max(rank, 4), rank-1)
	case i < -rank:
		return 1, nil
	}
	return s.Dim(i), nil
}
