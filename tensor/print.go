package tensor

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// PrintOptions say how Sprint writes. They are NumPy's printoptions; the zero
// value is NumPy's defaults.
type PrintOptions struct {
	Precision int       // digits after the point of floats: 0 is 8; negative is none
	Threshold int       // with more elements the middle is left out: 0 is 1000; negative is always
	EdgeItems int       // how many are shown at each end of an axis then: 0 is 3
	LineWidth int       // where lines break: 0 is 75
	Suppress  bool      // no exponents because of small numbers or of their range, only from 1e8 up
	Sign      byte      // before positive floats: 0 or '-' nothing, '+' a plus, ' ' a space
	FloatMode FloatMode // how many digits floats get
	NaN, Inf  string    // "" is nan and inf
	Separator string    // between elements: "" is a space
	Indent    int       // the column the text starts at: later lines begin there
}

// FloatMode says how many digits floats get. They are at most as many as tell a
// number from the others of its type.
type FloatMode uint8

const (
	MaxPrec      FloatMode = iota // at most Precision; the rest is padded with spaces
	MaxPrecEqual                  // at most Precision, all as many as the longest needs
	Fixed                         // Precision exactly
	Unique                        // as many as needed, whatever Precision is
)

// Sprint returns the elements as NumPy prints them, in row-major order: brackets nest, rows
// stand under each other, columns have a common width, and beyond Threshold elements only
// the ends of each axis are shown, and read. Floats have the fewest digits that tell them
// from their neighbours, at most Precision after the point. All have an exponent when the
// largest is 1e8 or more, the smallest is below 1e-4, or the largest is more than 1000
// times the smallest. Narrow floats print as their own short decimals, complex numbers with
// j.
//
// A tensor of rank 0 prints its number alone: with the zero options as Python
// prints a number, 2.0, else by the options. A closed tensor, a Spec and others
// without elements print their kind. It panics when a is the zero value.
func Sprint(a Any, opts *PrintOptions) string {
	noNil("tensor.Sprint", a)
	if opts == nil {
		opts = &PrintOptions{}
	}
	return newPrinter(&a, a.DType()).text(*opts)
}

// String returns Sprint with the default options.
func (t Tensor[T]) String() string { return sprint(&t.a, dtype.Of[T]()) }

// String returns Sprint with the default options.
func (a Any) String() string { return sprint(&a, a.DType()) }

func sprint(a *Any, d dtype.DType) string { return newPrinter(a, d).text(PrintOptions{}) }

// A printer is a tensor, its element type and its storage, for printing.
type printer struct {
	a     Any
	dtype dtype.DType
	all   boxed // the storage; nil when there are no elements
}

func newPrinter(a *Any, d dtype.DType) *printer {
	e := &printer{a: *a, dtype: d}
	if a.open() {
		e.all = a.st.boxed()
	}
	return e
}

func (e *printer) text(o PrintOptions) string {
	if s, none := e.nothing(); none {
		return s
	}
	if walk.Ref(&e.a.lay).Rank() == 0 && o == (PrintOptions{}) {
		defer runtime.KeepAlive(e.a.st)
		if s, ok := scalarText(e.dtype, e.all.at(e.a.origin())); ok {
			return s
		}
	}
	o = o.filled()
	return e.page(&o, func(offs []int) func(i int) string { return e.texts(offs, &o) })
}

// nothing describes a tensor whose storage can't be read.
func (e *printer) nothing() (text string, none bool) {
	switch {
	case e.all != nil:
		return "", false
	case e.a.IsZero() && e.dtype == dtype.Invalid:
		return "tensor.Any(zero value)", true
	case e.a.IsZero():
		return "tensor.Tensor[" + e.dtype.String() + "](zero value)", true
	case e.a.IsSpec() || e.a.st.foreign != nil:
		return describe(e.dtype, &e.a.lay), true
	}
	return describe(e.dtype, &e.a.lay) + "(" + noData("", e.a.st).Err.Error() + ")", true
}

// filled puts the defaults in.
func (o PrintOptions) filled() PrintOptions {
	def := func(v *int, d, least int) {
		if *v == 0 {
			*v = d
		}
		*v = max(*v, least)
	}
	def(&o.Precision, 8, 0)
	def(&o.Threshold, 1000, 0)
	def(&o.EdgeItems, 3, 1)
	def(&o.LineWidth, 75, 0)
	// No number has more digits; the rest keeps a mistake from taking all memory.
	o.Precision, o.EdgeItems, o.Indent = min(o.Precision, 1100), min(o.EdgeItems, 1<<30), min(max(o.Indent, 0), 1<<12)
	if o.Sign == 0 {
		o.Sign = '-'
	}
	if o.NaN == "" {
		o.NaN = "nan"
	}
	if o.Inf == "" {
		o.Inf = "inf"
	}
	if o.Separator == "" {
		o.Separator = " "
	}
	return o
}

// Format writes the tensor for package fmt:
//
//	%v %s    as Sprint; a precision is PrintOptions.Precision, the flags + and
//	         space its Sign, a width the least width of an element
//	%#v      a Go expression that makes the tensor
//	others   each element by that verb, flags, width and precision, where its type
//	         has the verb: %.3f, %8.2e, %x, %t; columns get a common width
func (t Tensor[T]) Format(f fmt.State, verb rune) { newPrinter(&t.a, dtype.Of[T]()).format(f, verb) }

// Format is Tensor.Format. Of a tensor without elements it writes the type and the shape.
func (a Any) Format(f fmt.State, verb rune) { newPrinter(&a, a.DType()).format(f, verb) }

func (e *printer) format(f fmt.State, verb rune) {
	if f == nil {
		panic(&Error{"tensor.Format", "the state is nil; package fmt gives one", fs.ErrInvalid})
	}
	if s, none := e.nothing(); none {
		fmt.Fprint(f, s)
		return
	}
	var o PrintOptions
	switch {
	case verb == 'v' && f.Flag('#'):
		fmt.Fprint(f, e.goSyntax())
		return
	case verb == 'v' || verb == 's':
		if p, ok := f.Precision(); ok {
			if o.Precision = p; p == 0 {
				o.Precision = -1
			}
		}
		if f.Flag('+') {
			o.Sign = '+'
		} else if f.Flag(' ') {
			o.Sign = ' '
		}
		width, ok := f.Width()
		if !ok {
			fmt.Fprint(f, e.text(o))
			return
		}
		o = o.filled()
		fmt.Fprint(f, e.page(&o, func(offs []int) func(i int) string {
			text := e.texts(offs, &o)
			return func(i int) string { return padLeft(text(i), width) }
		}))
	case !hasVerb(e.dtype, verb):
		fmt.Fprintf(f, "%%!%c(%s)", verb, describe(e.dtype, &e.a.lay))
	default:
		format := fmt.FormatString(f, verb)
		o = o.filled()
		fmt.Fprint(f, e.page(&o, func(offs []int) func(i int) string {
			texts, width := make([]string, len(offs)), 0
			for i, off := range offs {
				texts[i] = fmt.Sprintf(format, native(e.all.at(off)))
				width = max(width, utf8.RuneCountInString(texts[i]))
			}
			return func(i int) string { return padLeft(texts[i], width) }
		}))
	}
}

// hasVerb reports whether fmt has a verb for the type of an element.
func hasVerb(d dtype.DType, verb rune) bool {
	switch {
	case d == dtype.Bool:
		return verb == 't'
	case d.IsInteger():
		return strings.ContainsRune("bcdoOqxXU", verb)
	}
	return strings.ContainsRune("beEfFgGxX", verb)
}

// native turns a narrow float into a float32, an integer of less than 8 bits into an int64
// and fixed point into a float64, which fmt knows.
func native(v any) any {
	switch v := v.(type) {
	case fixed.FP8x23:
		return v.Float64()
	case fixed.FP16x16:
		return v.Float64()
	case fixed.FP32x32:
		return v.Float64()
	case fixed.FP64x64:
		return v.Float64()
	}
	switch n := v.(type) {
	case interface{ Float32() float32 }:
		return n.Float32()
	case interface{ Int64() int64 }:
		return n.Int64()
	}
	return v
}

func padLeft(s string, width int) string {
	if n := width - utf8.RuneCountInString(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// texts returns how the elements at the given offsets are written; NumPy's formatters
// look at all of them before the first is written.
func (e *printer) texts(offs []int, o *PrintOptions) func(i int) string {
	real := func(i int) float64 { return number(e.all.ref(offs[i])) }
	switch d := e.dtype; {
	case d == dtype.Bool:
		return func(i int) string {
			switch {
			case real(i) == 0:
				return "False"
			case walk.Ref(&e.a.lay).Rank() == 0:
				return "True"
			}
			return " True"
		}
	case d.IsInteger():
		width := 0
		for _, off := range offs {
			width = max(width, len(fmt.Sprint(e.all.at(off))))
		}
		return func(i int) string { return padLeft(fmt.Sprint(e.all.at(offs[i])), width) }
	case d.IsComplex():
		return complexTexts(kindOf(d), o, len(offs), func(i int) complex128 { return complexOf(e.all.at(offs[i])) })
	case d.IsFixed():
		return fixedTexts(o, len(offs), func(i, precision int) string { return fixedText(e.all.at(offs[i]), precision) })
	default:
		return newColumn(kindOf(d), o, o.Sign, len(offs), real).text
	}
}

func complexOf(v any) complex128 {
	if c, ok := v.(complex64); ok {
		return complex128(c)
	}
	return v.(complex128)
}

func fixedText(v any, precision int) string {
	switch v := v.(type) {
	case fixed.FP8x23:
		return fixed.Format(v, precision)
	case fixed.FP16x16:
		return fixed.Format(v, precision)
	case fixed.FP32x32:
		return fixed.Format(v, precision)
	}
	return fixed.Format(v.(fixed.FP64x64), precision)
}

// fixedTexts writes fixed point as decimals, points below each other: the fewest digits
// that tell the numbers apart, at most o.Precision after the point unless o.FloatMode is
// Unique, and just so many if it is Fixed.
func fixedTexts(o *PrintOptions, n int, format func(i, precision int) string) func(i int) string {
	split := func(i int) (whole, frac string) {
		text := format(i, -1)
		if _, frac, _ = strings.Cut(text, "."); o.FloatMode == Fixed || o.FloatMode != Unique && len(frac) > o.Precision {
			text = format(i, o.Precision)
		}
		if whole, frac, _ = strings.Cut(text, "."); o.FloatMode != Fixed {
			frac = strings.TrimRight(frac, "0")
		}
		if o.Sign != '-' && text[0] != '-' {
			whole = string(o.Sign) + whole
		}
		return whole, frac
	}
	left, right := 0, 0
	for i := range n {
		whole, frac := split(i)
		left, right = max(left, len(whole)), max(right, len(frac))
	}
	return func(i int) string {
		whole, frac := split(i)
		if o.FloatMode == MaxPrecEqual {
			frac += strings.Repeat("0", right-len(frac))
		}
		return padLeft(whole, left) + "." + frac + strings.Repeat(" ", right-len(frac))
	}
}

func complexTexts(k kind, o *PrintOptions, n int, at func(i int) complex128) func(i int) string {
	re := newColumn(k, o, o.Sign, n, func(i int) float64 { return real(at(i)) })
	im := newColumn(k, o, '+', n, func(i int) float64 { return imag(at(i)) })
	return func(i int) string {
		s := im.text(i)
		bare := strings.TrimRight(s, " ")
		return re.text(i) + bare + "j" + s[len(bare):]
	}
}

// scalarText writes a number as Python's str of a NumPy scalar does; false for
// integers and bools, which print alike everywhere.
func scalarText(d dtype.DType, v any) (string, bool) {
	switch v := v.(type) {
	case fixed.FP8x23, fixed.FP16x16, fixed.FP32x32, fixed.FP64x64:
		return v.(fmt.Stringer).String(), true
	case complex64:
		return single.complex(complex128(v)), true
	case complex128:
		return double.complex(v), true
	case float32:
		return single.scalar(float64(v)), true
	case float64:
		return double.scalar(v), true
	case interface{ Float64() float64 }:
		return kindOf(d).scalar(v.Float64()), true
	}
	return "", false
}
