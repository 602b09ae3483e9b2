package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A loss counts the numbers that conversions changed.
type loss struct {
	lossy          bool // numbers out of range are allowed
	tensors        int  // that changed
	changed, count int64
	beyond         int64   // of those changed, whose distance isn't counted: they are out of range
	most           float64 // the largest distance
	where          string  // the tensor that has it
	squares        float64 // sum of the squared distances
}

func (l *loss) String() string {
	text := fmt.Sprintf("%s of %s numbers changed, in %s", grouped(l.changed), grouped(l.count), counted(l.tensors, "tensor"))
	if l.most > 0 {
		text += fmt.Sprintf(": by %.4g at most, in %s, root mean square %.4g", l.most, label(l.where), math.Sqrt(l.squares/float64(l.count)))
	}
	if l.beyond > 0 {
		text += fmt.Sprintf("; %s out of range", grouped(l.beyond))
	}
	return text
}

// measure compares a tensor with that it became. Numbers that are out of the range of the type are an error, unless they are
// allowed.
func (l *loss) measure(name string, before, after tensor.Any) (err error) {
	_, packed := after.Foreign().(pack.Tensor)
	if before, err = unpacked(before); err == nil {
		after, err = unpacked(after)
	}
	from, to := before.DType(), after.DType()
	if err != nil || from == to && !packed {
		return err
	}
	limit := math.Inf(1) // of numbers that saturate
	if to.IsFloat() && !packed {
		if top, err := cast(tensor.FromSlice([]float64{math.MaxFloat64}, 1).Any(), to); err == nil {
			limit = tensor.Float64s(top)(0)
		}
	}
	exact := from == dtype.Int64 || from == dtype.Uint64 // float64 has no room for all of them
	top := 0x1p63                                        // behind the last of them
	if from == dtype.Uint64 {
		top = 0x1p64
	}
	var changed, lost int64
	var example float64
	err = pieces([]tensor.Any{before, after}, func(parts []tensor.Any) error {
		a, err := float64s(parts[0])
		if err != nil {
			return err
		}
		b, err := float64s(parts[1])
		if err != nil {
			return err
		}
		same := make([]bool, len(a))
		if exact {
			back, err := cast(parts[1], from)
			if err != nil {
				return err
			}
			if from == dtype.Int64 {
				err = compare[int64](parts[0], back, same)
			} else {
				err = compare[uint64](parts[0], back, same)
			}
			if err != nil {
				return err
			}
		}
		for i, v := range a {
			w := b[i]
			d := math.Abs(v - w)
			if v == w || v != v && w != w {
				d = 0
			}
			if exact { // the way back hides a sign that went, and saturates
				if same[i] && (v < 0) == (w < 0) && !(to.IsFloat() && w >= top) {
					continue
				}
			} else if d == 0 {
				continue
			}
			changed++
			out := math.Abs(v) > limit
			switch {
			case to.IsInteger():
				out = !(d < 1) || from.IsInteger()
			case to == dtype.Bool:
			case math.IsInf(w, 0) || w != w:
				out = true
			}
			if out {
				if lost++; lost == 1 {
					example = v
				}
				continue
			}
			if d > l.most {
				l.most, l.where = d, name
			}
			l.squares += float64(d * d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if lost > 0 && !l.lossy {
		return fmt.Errorf("%s: %s of %s numbers are out of the range of %v, such as %v: --allow-lossy writes them nevertheless",
			label(name), grouped(lost), grouped(int64(before.Len())), to, example)
	}
	l.add(before.Len(), changed, lost)
	return nil
}

// add counts the numbers of a tensor, the changed ones, and of these the ones out of range.
func (l *loss) add(n int, changed, beyond int64) {
	if l.count += int64(n); changed > 0 {
		l.changed += changed
		l.beyond += beyond
		l.tensors++
	}
}

// pictured measures the loss of floats from 0 to 1 in a picture, which has 256 levels. Numbers outside are an error, unless they are
// allowed.
func (l *loss) pictured(name string, t tensor.Any) error {
	if !t.DType().IsFloat() {
		return nil
	}
	var changed, lost int64
	var example float64
	err := pieces([]tensor.Any{t}, func(parts []tensor.Any) error {
		a, err := float64s(parts[0])
		if err != nil {
			return err
		}
		levels := make([]float64, len(a))
		for i, v := range a {
			levels[i] = math.RoundToEven(v*255) / 255
		}
		rounded, err := cast(tensor.FromSlice(levels, len(levels)).Any(), t.DType())
		if err != nil {
			return err
		}
		b, err := float64s(rounded)
		if err != nil {
			return err
		}
		for i, v := range a {
			switch d := math.Abs(v - levels[i]); {
			case !(v >= 0 && v <= 1):
				if lost++; lost == 1 {
					example = v
				}
				changed++
			case v != b[i]:
				changed++
				if d > l.most {
					l.most, l.where = d, name
				}
				l.squares += float64(d * d)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if lost > 0 && !l.lossy {
		return fmt.Errorf("%s: %s of %s numbers are outside of 0 to 1, such as %v: --allow-lossy writes the nearest of them, and NaN as 0",
			label(name), grouped(lost), grouped(int64(t.Len())), example)
	}
	l.add(t.Len(), changed, lost)
	return nil
}

// compressed measures the change of a picture's levels by JPEG: it encodes it as PNG, which keeps them, and as JPEG.
func (v *conversion) compressed(x *format.Array) (l loss, err error) {
	var levels [2][]byte
	for i, name := range []string{"png", "jpeg"} {
		var file bytes.Buffer
		if err := format.Named(name).Write(&file, []format.Array{*x}, format.WriteOptions{Axes: v.axes}); err != nil {
			return l, err
		}
		t, err := image.Read(&file, &image.Options{MaxPixels: max(x.Tensor.Len(), 1)})
		if err != nil {
			return l, err
		}
		levels[i], _ = tensor.Bytes(t)
	}
	var changed int64
	for i, a := range levels[0] {
		if d := math.Abs(float64(a) - float64(levels[1][i])); d > 0 {
			changed++
			l.squares += float64(d * d)
			if d > l.most {
				l.most, l.where = d, x.Name
			}
		}
	}
	l.add(len(levels[0]), changed, 0)
	return l, nil
}

// compare says which elements of two tensors are the same.
func compare[T int64 | uint64](a, b tensor.Any, same []bool) (err error) {
	if a, err = tensor.Contiguous(a); err == nil {
		b, err = tensor.Contiguous(b)
	}
	if err != nil {
		return err
	}
	x, y := reach.Run[T](&a, a.LayoutRef()), reach.Run[T](&b, b.LayoutRef())
	for i := range same {
		same[i] = x[i] == y[i]
	}
	return nil
}

// leaves says whether --dtype leaves a type as it is where no tensor is named: a type of floats leaves integers.
func (v *conversion) leaves(d dtype.DType) bool {
	as := v.p.reading.as
	return as != dtype.Invalid && as != dtype.Bool && !as.IsInteger() && (d == dtype.Bool || d.IsInteger())
}

// carried is the metadata that OUT gets. Where it has no place, a warning says so.
func (v *conversion) carried() []format.Meta {
	list := slices.DeleteFunc(slices.Clone(v.metadata), func(m format.Meta) bool {
		switch m.Key { // of GGUF: about elements, or about the file
		case "general.file_type":
			return v.packed || v.p.reading.as != dtype.Invalid
		case "general.quantization_version", "general.alignment":
			return v.to.Name != "gguf"
		}
		return strings.HasPrefix(m.Key, safetensors.PackKey) || strings.HasPrefix(m.Key, safetensors.TypeKey)
	})
	if len(list) > 0 && v.to.Name != "safetensors" && v.to.Name != "gguf" {
		if v.named == nil {
			fmt.Fprintf(v.p.stderr, "ashlar: warning: %s files have no place for metadata; IN has %s of it\n", v.to.Name, counted(len(list), "key"))
		}
		return nil
	}
	return list
}
