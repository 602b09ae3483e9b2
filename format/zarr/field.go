package zarr

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/tensor"
)

// Field returns the array of a field, by its name in Metadata.Fields. It is read only.
func (a *Array) Field(name string) (*Array, error) {
	i := slices.IndexFunc(a.meta.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		var names []string
		for _, f := range a.meta.Fields {
			names = append(names, f.Name)
		}
		return nil, at(a.path, fail(fs.ErrNotExist, "there is no field %.100q; there are %.500q", name, names))
	}
	f := a.meta.Fields[i]
	m := a.meta
	b, _ := tensor.Bytes(a.fill)
	axes := len(m.Shape) - 1
	m.DType, m.Type, m.Fields, m.chars = f.d, f.name, nil, f.chars
	m.Shape, m.Chunks = m.Shape[:axes:axes], m.Chunks[:axes:axes]
	if m.Inner != nil {
		m.Inner = m.Inner[:axes:axes]
	}
	if m.DimensionNames != nil {
		m.DimensionNames = m.DimensionNames[:axes:axes]
	}
	m.view = &element{d: f.d, stored: dtype.Uint8, chars: f.chars, field: &f, whole: a.meta.chars}
	m.deepen()
	var err error
	if own := slices.Clone(b[f.off : f.off+f.size()]); f.chars > 0 {
		m.Fill, err = rowOf(own, f.kind)
	} else {
		m.Fill, err = scalar(append(ram.Make(len(own))[:0], own...), f.d)
	}
	if err != nil {
		return nil, err
	}
	return newArray(a.store, a.path, m, &a.set)
}

// Text returns the elements of a tensor from Slice or Index as text, the last axis fastest: strings without the zeros at their ends,
// times as NumPy writes them. ok is false for arrays of other elements.
func (a *Array) Text(t tensor.Any) (list []string, ok bool) {
	c, err := tensor.Contiguous(t)
	if err != nil || t.DType() != a.meta.DType {
		return nil, false
	}
	switch form := timeName.FindStringSubmatch(a.meta.Type); {
	case form != nil:
		v, _ := tensor.As[int64](c)
		for x := range v.Values() {
			list = append(list, timeText(x, form[1] == "datetime64", cmp.Or(form[2], "1"), form[3]))
		}
	case !a.text() || t.Rank() == 0 || t.Dim(t.Rank()-1) != a.meta.chars:
		return nil, false
	default:
		var one []rune
		var raw []byte
		end := func(n int) {
			if n == a.meta.chars {
				list = append(list, strings.TrimRight(string(one)+string(raw), "\x00"))
				one, raw = one[:0], raw[:0]
			}
		}
		if v, ok := tensor.As[uint32](c); ok {
			for x := range v.Values() {
				one = append(one, rune(min(x, 0x110000))) // beyond the code points: U+FFFD
				end(len(one))
			}
		} else if v, ok := tensor.As[uint8](c); ok {
			for x := range v.Values() {
				raw = append(raw, x)
				end(len(raw))
			}
		}
	}
	return list, true
}

// timeText writes a time of count units since 1970, or a duration. Times beyond the range of Go's package time are written as numbers.
func timeText(v int64, date bool, count, unit string) string {
	n, _ := strconv.ParseInt(count, 10, 64)
	if v == math.MinInt64 {
		return "NaT"
	}
	number := fmt.Sprintf("%d %s", v, unit)
	if n > 1 {
		number = fmt.Sprintf("%d × %d %s", v, n, unit)
	}
	const far = 1 << 50
	per := map[string]int64{"W": 7 * 86400, "D": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
	if !date || v > math.MaxInt64/n || v < math.MinInt64/n {
		return number
	}
	v *= n
	var t time.Time
	form := "2006-01-02T15:04:05"
	switch unit {
	case "Y", "M":
		if v > 1e6 || v < -1e6 {
			return number
		}
		if form = "2006-01"; unit == "Y" {
			form, v = "2006", v*12
		}
		t = time.Date(1970, time.Month(1+v), 1, 0, 0, 0, 0, time.UTC)
	case "W", "D", "h", "m", "s":
		if v > far/per || v < -far/per {
			return number
		}
		form = form[:map[string]int{"W": 10, "D": 10, "h": 13, "m": 16, "s": 19}[unit]]
		t = time.Unix(v*per, 0).UTC()
	case "ms", "us", "ns":
		form += "." + strings.Repeat("0", 3*slices.Index([]string{"", "ms", "us", "ns"}, unit))
		sec := v / per
		if v%per < 0 {
			sec--
		}
		if sec > far || sec < -far {
			return number
		}
		t = time.Unix(sec, (v-sec*per)*(1e9/per)).UTC()
	default:
		return number
	}
	return t.Format(form)
}

// text reports whether the elements are strings.
func (a *Array) text() bool {
	return strings.HasPrefix(a.meta.Type, "str") && !strings.HasPrefix(a.meta.Type, "struct") || strings.HasPrefix(a.meta.Type, "bytes")
}
