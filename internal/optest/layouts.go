package optest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// An arrangement is a way to lay a shape out in memory.
type arrangement struct {
	name   string
	layout func(shape []int) layout.Layout
	offset int // of the first byte, in elements, from aligned memory
}

var arrangements = []arrangement{
	{"odd alignment", rowMajor, 1},
	{"column-major", func(shape []int) layout.Layout { return strided(shape, false, 1, 0) }, 0},
	{"reversed", func(shape []int) layout.Layout { return strided(shape, true, -1, 0) }, 3},
	{"with gaps", func(shape []int) layout.Layout { return strided(shape, true, 2, 1) }, 0},
	{"column-major, reversed with gaps", func(shape []int) layout.Layout { return strided(shape, false, -3, 2) }, 1},
	{"nested", nested, 0},
	{"nested with gaps", func(shape []int) layout.Layout {
		n := nested(shape)
		return layout.MustParse(doubled(n.String()))
	}, 1},
}

func rowMajor(shape []int) layout.Layout { return strided(shape, true, 1, 0) }

// strided lays axes out from the last, or from the first, to the slowest. Elements are
// step apart, and after each axis gap more of its steps are free. A negative step runs
// backwards.
func strided(shape []int, lastFirst bool, step, gap int) layout.Layout {
	str := make([]int, len(shape))
	run := step
	for k := range shape {
		i := k
		if lastFirst {
			i = len(shape) - 1 - k
		}
		str[i] = run
		run *= max(shape[i], 1) + gap
	}
	l, err := layout.New(shape, str)
	if err != nil {
		panic(err)
	}
	return l
}

// nested splits each axis at its smallest factor. The first parts of all axes run
// faster than all second parts, so that (4,4) becomes
//
//	((2,2),(2,2)):((2,8),(1,4))
func nested(shape []int) layout.Layout {
	if len(shape) == 0 || len(shape) > 4 {
		return rowMajor(shape)
	}
	first, second := make([]int, len(shape)), make([]int, len(shape))
	run := 1
	for i := len(shape) - 1; i >= 0; i-- {
		first[i], second[i] = shape[i], 1
		for f := 2; f*f <= shape[i]; f++ {
			if shape[i]%f == 0 {
				first[i], second[i] = f, shape[i]/f
				break
			}
		}
	}
	var ext, str []string
	fast := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		fast[i] = run
		run *= max(first[i], 1)
	}
	for i := range shape {
		if second[i] == 1 {
			ext, str = append(ext, fmt.Sprint(first[i])), append(str, fmt.Sprint(fast[i]))
			continue
		}
		ext = append(ext, fmt.Sprintf("(%d,%d)", first[i], second[i]))
		str = append(str, fmt.Sprintf("(%d,%d)", fast[i], run))
		run *= second[i]
	}
	return layout.MustParse("(" + strings.Join(ext, ",") + "):(" + strings.Join(str, ",") + ")")
}

// doubled writes a layout with every stride twice as large.
func doubled(text string) string {
	ext, str, _ := strings.Cut(text, ":")
	var b strings.Builder
	for len(str) > 0 {
		n := strings.IndexAny(str, "(),")
		if n == 0 {
			b.WriteByte(str[0])
			str = str[1:]
			continue
		}
		if n < 0 {
			n = len(str)
		}
		var v int
		fmt.Sscan(str[:n], &v)
		fmt.Fprint(&b, 2*v)
		str = str[n:]
	}
	return ext + ":" + b.String()
}

// An arranged tensor is in memory of its own, with poison all around and between its
// elements.
type arranged struct {
	tensor.Any
	intact func() bool // reports whether the memory is unchanged
}

const margin = 40

// arrange copies a to memory with an arrangement.
func arrange(a tensor.Any, w arrangement) arranged {
	t, buf := place(a.DType(), a.Shape(), w)
	if err := tensor.Copy(t, a); err != nil {
		panic(err)
	}
	was := bytes.Clone(buf)
	return arranged{t, func() bool { return bytes.Equal(was, buf) }}
}

// place makes a tensor in buf. Its elements and all of buf around them are poison.
func place(d dtype.DType, shape []int, w arrangement) (t tensor.Any, buf []byte) {
	lay, size := w.layout(shape), d.Size()
	lo, hi := lay.Span()
	buf = make([]byte, (hi-lo+1+2*margin+w.offset)*size)
	poison(buf, d)
	t, err := tensor.FromBytes(d, mem.Borrow(buf, nil), (margin+w.offset-lo)*size, lay)
	if err != nil {
		panic(err)
	}
	return t, buf
}
