package show

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	tableRows, tableColumns = 32, 16
	bins                    = 48
)

// A View is the part of a tensor that the page shows.
type View struct {
	Entry   *entry     `json:"entry"`
	Read    int        `json:"read"` // the number of elements read
	Rows    int        `json:"rows"` // the number of all rows
	Have    int        `json:"have"` // the number of rows read
	Table   [][]string `json:"table"`
	Columns int        `json:"columns"` // the number of all columns
	Heat    string     `json:"heat,omitempty"`
	Legend  string     `json:"legend,omitempty"`
	Bytes   []byteCell `json:"bytes,omitempty"`
	Stats   Stats      `json:"stats"`
}

// A byteCell is an element in memory: the offset, the coordinate and the bytes.
type byteCell struct {
	Offset string `json:"offset"`
	Coord  string `json:"coord"`
	Hex    string `json:"hex"`
	Value  string `json:"value"`
}

// Stats has statistics of the elements that were read. Complex numbers count by their
// absolute value, bools as 0 and 1. Least, most, mean and deviation (of the whole
// population) cover the finite elements, and are empty if there are none.
type Stats struct {
	Count     int    `json:"count"`
	NaN       int    `json:"nan"`
	Infinite  int    `json:"infinite"`
	Zero      int    `json:"zero"`
	Least     string `json:"least,omitempty"`
	Most      string `json:"most,omitempty"`
	Mean      string `json:"mean,omitempty"`
	Deviation string `json:"deviation,omitempty"`
	Histogram []int  `json:"histogram,omitempty"` // from Least to Most, in equal steps
}

// Tensor shows a tensor: its last two axes at coordinates of the axes before.
func (f *File) Tensor(name string, at []int) (*View, error) {
	t, rows, err := f.part(name, at)
	if err != nil {
		return nil, err
	}
	e := f.entries[name]
	v := &View{Entry: e, Read: t.Len(), Rows: rows, Columns: 1}
	err = tensor.Try(func() {
		v.Stats = statsOf(t)
		v.table(t)
		v.bytes(t, e, at)
		v.heat(t)
	})
	return v, err
}

func (v *View) table(t tensor.Any) {
	switch shape := t.Shape(); len(shape) {
	case 0:
		v.Rows, v.Have = 1, 1
		v.Table = [][]string{{text(t)}}
	case 1:
		v.Have = shape[0]
		for i := range min(shape[0], tableRows) {
			v.Table = append(v.Table, []string{text(t, i)})
		}
	default:
		v.Have, v.Columns = shape[0], shape[1]
		for i := range min(shape[0], tableRows) {
			var row []string
			for j := range min(shape[1], tableColumns) {
				row = append(row, text(t, i, j))
			}
			v.Table = append(v.Table, row)
		}
	}
}

// text returns an element as tensor.Sprint writes it.
func text(t tensor.Any, idx ...int) string {
	at := make([]tensor.Index, len(idx))
	for i, x := range idx {
		at[i] = tensor.I(x)
	}
	one, err := tensor.Slice(t, at...)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(tensor.Sprint(one, nil))
}

// bytes shows the first elements in the order of memory, with their coordinates.
func (v *View) bytes(t tensor.Any, e *entry, lead []int) {
	const most = 64
	lay := t.Layout()
	n := t.Len()
	if n == 0 || t.DType().Bits()%8 != 0 {
		return
	}
	shape := t.Shape()
	at := make([]int, len(shape))
	for i := range at { // the first offsets have small coordinates
		at[i] = min(shape[i], most)
	}
	held := map[int][]int{}
	coord := make([]int, len(shape))
	for count := 0; count < 1<<14; count++ {
		if off, bad := lay.At(coord); bad < 0 && off < most {
			held[off] = append([]int{}, coord...)
		}
		k := len(coord) - 1
		for ; k >= 0; k-- {
			if coord[k]++; coord[k] < at[k] {
				break
			}
			coord[k] = 0
		}
		if k < 0 {
			break
		}
	}
	prefix := make([]string, 0, len(lead))
	for i := range max(len(e.Shape)-2, 0) {
		x := 0
		if i < len(lead) {
			x = lead[i]
		}
		prefix = append(prefix, fmt.Sprint(x))
	}
	for off := range most {
		c, ok := held[off]
		if !ok {
			continue
		}
		full := prefix[:len(prefix):len(prefix)]
		idx := make([]tensor.Index, len(c))
		for i, x := range c {
			full = append(full, fmt.Sprint(x))
			idx[i] = tensor.I(x)
		}
		one, err := tensor.Slice(t, idx...)
		if err != nil {
			continue
		}
		b, _ := tensor.Bytes(one.Clone())
		v.Bytes = append(v.Bytes, byteCell{fmt.Sprint(off), "(" + strings.Join(full, ",") + ")", fmt.Sprintf("% x", b), text(t, c...)})
	}
}

func (v *View) heat(t tensor.Any) {
	if t.Rank() == 0 || t.Len() == 0 {
		return
	}
	if t.Rank() == 1 { // a vector as rows of a near square
		side := int(math.Sqrt(float64(t.Len())))
		for side > 1 && t.Len()%side != 0 {
			side--
		}
		if r, err := tensor.Reshape(t, side, t.Len()/side); err == nil {
			t = r
		}
	}
	var b strings.Builder
	legend, err := draw.HeatmapPNG(&b, t)
	if err != nil {
		return
	}
	v.Heat, v.Legend = base64.StdEncoding.EncodeToString([]byte(b.String())), legend
}

// statsOf reads the elements twice: for the ends and the mean, then for the rest.
func statsOf(t tensor.Any) (s Stats) {
	values := tensor.Float64s(t)
	if values == nil {
		return s
	}
	each := func(f func(float64)) {
		for idx := range t.Indices() {
			f(values(idx...))
		}
	}
	least, most := math.Inf(1), math.Inf(-1)
	sum, finite := 0.0, 0
	each(func(x float64) {
		s.Count++
		switch {
		case x != x:
			s.NaN++
		case math.IsInf(x, 0):
			s.Infinite++
		default:
			if x == 0 {
				s.Zero++
			}
			least, most = min(least, x), max(most, x)
			sum += x
			finite++
		}
	})
	if finite == 0 {
		return s
	}
	mean := sum / float64(finite)
	squares := 0.0
	s.Histogram = make([]int, bins)
	counts, edges := make([]int64, bins), reduce.Edges(bins, least, most)
	each(func(x float64) {
		if x != x || math.IsInf(x, 0) {
			return
		}
		d := x - mean
		squares += float64(d * d)
		if least < most {
			reduce.Count(counts, edges, []float64{x})
		} else {
			counts[0]++
		}
	})
	for i, n := range counts {
		s.Histogram[i] = int(n)
	}
	number := func(x float64) string { return fmt.Sprintf("%.6g", x) }
	s.Least, s.Most, s.Mean, s.Deviation = number(least), number(most), number(mean), number(math.Sqrt(squares/float64(finite)))
	return s
}
