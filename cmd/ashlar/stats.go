package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

func (p *program) statsCommand() *cobra.Command {
	var asJSON bool
	var picture string
	var bins int
	c := &cobra.Command{
		Use:   "stats FILE[#NAME]",
		Short: "Print the distribution of the elements of tensors",
		Long: `Stats reads every element of the tensors of a file, or of one. For each it prints the
least and the most number, the mean, the standard deviation, and the numbers of zeros
and of NaNs. The histogram has bins of equal width from the least number to the most,
or one bin where they are equal. A number on an edge counts in the upper bin, as in
np.histogram of the elements as float64. Infinite elements are counted on their own;
mean, deviation and histogram are of the finite ones.

Numbers are float64: integers of 64 bits are exact as least and most, and rounded
for the rest. Of complex numbers it is the absolute value. The deviation divides
by the number of elements, as NumPy does.

With --json each tensor is an object on a line: name, dtype, shape, count, least,
most, mean, deviation, zeros, nans, infinite, and histogram (low, high, counts).
--png draws the histograms, a row for each tensor in order, lighter for more.` + zarrHelp,
		Example: `  ashlar stats testdata/digits.onnx
  ashlar stats model.safetensors#layer.0.weight --bins 40
  ashlar stats --json checkpoint.pt
  ashlar stats model.gguf --png model.png`,
		Args: arguments(1, 1, "one file"),
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print a line of JSON for each tensor instead")
	f.StringVar(&picture, "png", "", "write the histograms to a PNG `file`; - is standard output")
	f.IntVar(&bins, "bins", 20, "how many bins a histogram has")
	p.reading.flags(c, "of raw and text files")
	f.Var(&p.limit, "max-memory", "memory that a picture or an array of an npz may take: 2GiB, 500MB or none (default: by the file's size)")
	p.unfinishedFlag(c)
	p.cfFlag(c)
	p.mxFlag(c)
	p.quietFlag(c, "text")
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if bins < 1 || bins > 1<<16 {
			return usagef(c, "--bins %d: want 1 to 65536", bins)
		}
		if picture != "" && picture != "-" {
			if err := p.endsIn(".png", "png", picture); err != nil {
				return err
			}
		}
		if picture == "-" && asJSON {
			return usagef(c, "--json and --png - both want standard output")
		}
		if err := p.reading.parse(c); err != nil {
			return err
		}
		s, err := p.open(args[0])
		if err != nil {
			return err
		}
		return p.stats(s, bins, asJSON, picture)
	}
	return c
}

// A statistic is the line of JSON about one tensor.
type statistic struct {
	Name      string     `json:"name,omitempty"`
	DType     string     `json:"dtype"`
	Shape     []int      `json:"shape"`
	Count     int64      `json:"count"`
	Least     any        `json:"least"` // null: there is no number
	Most      any        `json:"most"`
	Mean      any        `json:"mean"`
	Deviation any        `json:"deviation"`
	Zeros     int64      `json:"zeros"`
	NaNs      int64      `json:"nans"`
	Infinite  int64      `json:"infinite"`
	Histogram *histogram `json:"histogram"` // null: no number is finite

	whole tensor.Any // the tensor, once it is read
}

type histogram struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Counts []int64 `json:"counts"`
}

// stats prints the statistics of the tensors of s.
func (p *program) stats(s *source, bins int, asJSON bool, picture string) error {
	f, err := p.file(s)
	if err != nil {
		return err
	}
	names := []string{""}
	if s.isModel() || s.several() {
		names = f.Names()
		if s.array != "" {
			if !slices.Contains(names, s.array) {
				return s.noArray(names)
			}
			names = []string{s.array}
		}
	} else if s.array != "" {
		return s.single()
	}
	out, text := p.out, new(bytes.Buffer)
	if picture != "" { // it comes before the text, whose reader may leave
		p.out = bufio.NewWriter(text)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	titled := false
	var rows []float64
	var failed failures
	for _, name := range names {
		x, err := statisticOf(s, f, name, bins)
		if err != nil {
			failed = append(failed, s.in(err))
			continue
		}
		if h := x.Histogram; h != nil {
			most := float64(slices.Max(h.Counts))
			for i := range bins {
				rows = append(rows, 0)
				if i < len(h.Counts) {
					rows[len(rows)-1] = float64(h.Counts[i]) / most
				}
			}
		}
		switch {
		case asJSON:
			if err := p.printLine(x); err != nil {
				return err
			}
		case picture == "-" || p.quiet:
		default:
			if !titled {
				fmt.Fprintln(w, "least\tmost\tmean\tdeviation\tzeros\tNaN\tinfinite\t  ")
			}
			titled = true
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t  %s  %s\n", numberText(x.Least), numberText(x.Most), numberText(x.Mean), numberText(x.Deviation),
				x.Zeros, x.NaNs, x.Infinite, x.bars(), strings.TrimSpace(label(name)+" "+formats.Typed(x.DType, x.Shape)))
		}
	}
	w.Flush()
	if picture != "" {
		p.out.Flush()
		p.out = out
		t := tensor.FromSlice(rows, len(rows)/bins, bins)
		if rows == nil {
			failed = append(failed, fmt.Errorf("%s: it has no numbers to draw", s.name))
		} else if err := p.writeTo(picture, func(w io.Writer) error { _, err := draw.HeatmapPNG(w, t.Any()); return err }); err != nil {
			return err
		}
		text.WriteTo(out) // its error is that of the last flush
	}
	if failed != nil {
		return failed
	}
	return nil
}

func numberText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case float64:
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprint(v)
}

// bars draws the histogram with a character for one bin or for several.
func (x *statistic) bars() string {
	const most = 20
	if x.Histogram == nil {
		return strings.Repeat(" ", most)
	}
	levels := []rune(" ▁▂▃▄▅▆▇█")
	c := x.Histogram.Counts
	cells := make([]int64, min(most, len(c)))
	for i, n := range c {
		cells[i*len(cells)/len(c)] += n
	}
	text := make([]rune, len(cells), most)
	for i, n := range cells {
		level := int(float64(n) / float64(slices.Max(cells)) * 8)
		if text[i] = levels[level]; level == 0 && n > 0 {
			text[i] = levels[1]
		}
	}
	for len(text) < most {
		text = append(text, ' ')
	}
	return string(text)
}

// A tally is the sums over the elements of a tensor.
type tally struct {
	count, zeros, nans, infinite int64
	least, most                  float64 // of all but NaNs
	low, high                    float64 // of the finite ones
	signed                       [2]int64
	unsigned                     [2]uint64
	sum, rest                    float64 // of the finite ones; rest is the part that sum lost in rounding (Neumaier)
}

// add adds to the sum.
func (t *tally) add(v float64) {
	v = float64(v) // rounded before it is added
	s := t.sum + v
	if math.Abs(t.sum) >= math.Abs(v) {
		t.rest += t.sum - s + v
	} else {
		t.rest += v - s + t.sum
	}
	t.sum = s
}

// first counts elements, and finds the least and the most.
func (t *tally) first(values []float64) {
	for _, v := range values {
		if v != v {
			t.nans++
			continue
		}
		t.least, t.most = min(t.least, v), max(t.most, v)
		switch {
		case v == 0:
			t.zeros++
		case math.IsInf(v, 0):
			t.infinite++
			continue
		}
		t.low, t.high = min(t.low, v), max(t.high, v)
	}
}

// statisticOf reads all elements of an array three times: for their range, their mean, and their deviations from the mean and bins.
func statisticOf(s *source, f format.File, name string, bins int) (*statistic, error) {
	inf := math.Inf(1)
	t := tally{least: inf, most: -inf, low: inf, high: -inf, signed: [2]int64{math.MaxInt64, math.MinInt64}, unsigned: [2]uint64{math.MaxUint64, 0}}
	x := &statistic{Name: name}
	var d dtype.DType
	each := func(do func(values []float64)) error {
		return readParts(s, f, name, x, func(part tensor.Any) error {
			values, err := float64s(part)
			if err == nil {
				do(values)
			}
			return err
		})
	}
	err := readParts(s, f, name, x, func(part tensor.Any) error {
		d = part.DType()
		if d == dtype.Int64 {
			t.signed = extremes(part, t.signed)
		} else if d == dtype.Uint64 {
			t.unsigned = extremes(part, t.unsigned)
		}
		values, err := float64s(part)
		t.count += int64(len(values))
		t.first(values)
		return err
	})
	if err != nil {
		return nil, err
	}
	x.Count, x.Zeros, x.NaNs, x.Infinite = t.count, t.zeros, t.nans, t.infinite
	switch {
	case t.count == t.nans:
		return x, nil
	case d == dtype.Int64:
		x.Least, x.Most = t.signed[0], t.signed[1]
	case d == dtype.Uint64:
		x.Least, x.Most = t.unsigned[0], t.unsigned[1]
	default:
		x.Least, x.Most = jsonFloat(t.least), jsonFloat(t.most)
	}
	n := float64(t.count - t.nans - t.infinite)
	if n == 0 {
		return x, nil
	}
	// The largest number becomes about 1, so that neither sums nor squares leave the range of float64.
	_, exp := math.Frexp(max(math.Abs(t.low), math.Abs(t.high)))
	scale := math.Ldexp(1, min(max(-exp, -1000), 1000))
	finite := func(values []float64, do func(v float64)) {
		for _, v := range values {
			if v-v == 0 {
				do(v * scale)
			}
		}
	}
	if err := each(func(values []float64) { finite(values, t.add) }); err != nil {
		return nil, err
	}
	mean := min(max((t.sum+t.rest)/n, t.low*scale), t.high*scale)
	h := &histogram{Low: t.low, High: t.high, Counts: []int64{int64(n)}}
	count := func([]float64) {}
	if t.low < t.high {
		h.Counts = make([]int64, bins)
		count = t.counter(h.Counts)
	}
	t.sum, t.rest = 0, 0
	if err := each(func(values []float64) {
		finite(values, func(v float64) { t.add((v - mean) * (v - mean)) })
		count(values)
	}); err != nil {
		return nil, err
	}
	x.Mean, x.Deviation, x.Histogram = jsonFloat(mean/scale), jsonFloat(math.Sqrt((t.sum+t.rest)/n)/scale), h
	return x, nil
}

// counter returns a function that adds elements to the histogram of the finite ones.
func (t *tally) counter(n []int64) func(values []float64) {
	scale := 1.0
	if t.high-t.low < math.Ldexp(1, -800) {
		scale = math.Ldexp(1, 200) // else edges were among the subnormal numbers, which are few
	}
	edges := reduce.Edges(len(n), t.low*scale, t.high*scale)
	return func(values []float64) {
		if scale != 1 {
			values = slices.Clone(values)
			for i := range values {
				values[i] *= scale
			}
		}
		reduce.Count(n, edges, values)
	}
}

// extremes returns the least and the most of r and the elements of t.
func extremes[T int64 | uint64](t tensor.Any, r [2]T) [2]T {
	for v := range tensor.ValuesOf[T](t) {
		r[0], r[1] = min(r[0], v), max(r[1], v)
	}
	return r
}

// mostRead is how many bytes of a Zarr array stats reads: its metadata may state any number, and absent chunks take none.
const mostRead = 1 << 40

// readParts reads an array, of Zarr by rows of some MiB, and gives it in pieces. It enters type and shape into x.
func readParts(s *source, f format.File, name string, x *statistic, do func(part tensor.Any) error) error {
	const most = 8 << 20 // bytes
	one := func(parts []tensor.Any) error { return do(parts[0]) }
	if i, err := f.Info(name); s.is("zarr") && err == nil && i.Bytes > most && len(i.Shape) > 0 {
		if i.Bytes > mostRead {
			return fmt.Errorf("%s: %v has %s, and stats reads up to %s of an array; ashlar compute takes the mean and the like of larger ones", label(name), i, amount(i.Bytes), amount(mostRead))
		}
		rows := max(int(most/(i.Bytes/int64(i.Shape[0])+1)), 1)
		for at := 0; at < i.Shape[0]; at += rows {
			t, err := f.Tensor(name, tensor.R(at, min(at+rows, i.Shape[0])))
			if err == nil {
				err = pieces([]tensor.Any{t}, one)
			}
			if err != nil {
				return err
			}
		}
		x.DType, x.Shape = i.Type, i.Shape
		return nil
	}
	if x.whole.IsZero() {
		t, err := f.Tensor(name)
		if err == nil {
			x.whole, err = unpacked(t)
		}
		if err != nil {
			return err
		}
	}
	x.DType, x.Shape = x.whole.DType().String(), list(x.whole.Shape())
	return pieces([]tensor.Any{x.whole}, one)
}

// pieces gives tensors of one shape in parts of at most some thousand elements, in row-major order.
func pieces(ts []tensor.Any, do func(parts []tensor.Any) error) error {
	const most = 1 << 16
	t := ts[0]
	n := t.Len()
	if n <= most {
		if n == 0 {
			return nil
		}
		return do(ts)
	}
	axis := slices.IndexFunc(t.Shape(), func(n int) bool { return n > 1 })
	idx := slices.Repeat([]tensor.Index{tensor.Colon}, axis+1)
	rows := max(most/(n/t.Dim(axis)), 1)
	for at := 0; at < t.Dim(axis); at += rows {
		idx[axis] = tensor.R(at, min(at+rows, t.Dim(axis)))
		parts := make([]tensor.Any, len(ts))
		var err error
		for i := range ts {
			if parts[i], err = tensor.Slice(ts[i], idx...); err != nil {
				return err
			}
		}
		if err := pieces(parts, do); err != nil {
			return err
		}
	}
	return nil
}

// float64s returns the elements of a small tensor as float64, of complex numbers the absolute values.
func float64s(t tensor.Any) ([]float64, error) {
	if t.DType().IsComplex() {
		at := tensor.Float64s(t)
		list := make([]float64, 0, t.Len())
		idx, shape := make([]int, t.Rank()), t.Shape()
		for range t.Len() {
			list = append(list, at(idx...))
			for axis := t.Rank() - 1; axis >= 0; axis-- {
				if idx[axis]++; idx[axis] < shape[axis] {
					break
				}
				idx[axis] = 0
			}
		}
		return list, nil
	}
	if t.DType() != dtype.Float64 {
		var err error
		if t, err = cast(t, dtype.Float64); err != nil {
			return nil, err
		}
	}
	t, err := tensor.Contiguous(t)
	if err != nil {
		return nil, err
	}
	return reach.Run[float64](&t, t.LayoutRef()), nil
}
