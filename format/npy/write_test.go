package npy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func written(t testing.TB, a tensor.Any) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, a, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWriteBytes compares with files of NumPy 1.24, whose headers are padded to
// 128 bytes for these shapes.
func TestWriteBytes(t *testing.T) {
	numpy := func(dict, elements string) string {
		return magic + "\x01\x00\x76\x00" + dict + strings.Repeat(" ", 117-len(dict)) + "\n" + elements
	}
	for _, c := range []struct {
		a    tensor.Any
		want string
	}{
		{tensor.FromSlice([]int32{0, 1, 2, 3, 4, -1}, 2, 3).Any(),
			numpy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", "\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\xff\xff")},
		{tensor.FromSlice([]int8{1, 2, 3, 4, 5, 6}, 2, 3).Transpose().Any(),
			numpy("{'descr': '|i1', 'fortran_order': False, 'shape': (3, 2), }", "\x01\x04\x02\x05\x03\x06")},
		{tensor.FromSlice([]bool{true, false, true}).Any(), numpy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\x01\x00\x01")},
		{tensor.Scalar(1 + 2i).Any(), numpy("{'descr': '<c16', 'fortran_order': False, 'shape': (), }", "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40")},
		{tensor.New[float32](0, 7).Any(), numpy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }", "")},
	} {
		if got := written(t, c.a); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", tensor.Describe(c.a), got, c.want)
		}
	}
}

func TestWriteFortran(t *testing.T) {
	numpy := func(dict, elements string) string {
		return magic + "\x01\x00\x76\x00" + dict + strings.Repeat(" ", 117-len(dict)) + "\n" + elements
	}
	for _, c := range []struct {
		a    tensor.Any
		want string
	}{
		{tensor.FromSlice([]int8{1, 2, 3, 4, 5, 6}, 2, 3).Any(), numpy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", "\x01\x04\x02\x05\x03\x06")},
		{tensor.FromSlice([]int8{1, 2, 3, 4, 5, 6}, 2, 3).Transpose().Any(), numpy("{'descr': '|i1', 'fortran_order': True, 'shape': (3, 2), }", "\x01\x02\x03\x04\x05\x06")},
		{tensor.FromSlice([]int8{1, 2, 3}, 1, 3).Any(), numpy("{'descr': '|i1', 'fortran_order': False, 'shape': (1, 3), }", "\x01\x02\x03")},
		{tensor.New[int8](0, 3).Any(), numpy("{'descr': '|i1', 'fortran_order': False, 'shape': (0, 3), }", "")},
		{tensor.Scalar[int8](7).Any(), numpy("{'descr': '|i1', 'fortran_order': False, 'shape': (), }", "\x07")},
	} {
		var b bytes.Buffer
		if err := Write(&b, c.a, &WriteOptions{Fortran: true}); err != nil || b.String() != c.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", tensor.Describe(c.a), err, b.String(), c.want)
			continue
		}
		again, err := Read(&b, nil)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(c.a) {
			t.Errorf("%v, written and read again: %v, %v", c.a, again, err)
		}
	}
}

// TestWriteAligned: whatever the shape, the elements begin at a multiple of 64
// and the header ends as NumPy's does, with a space at least and a newline.
func TestWriteAligned(t *testing.T) {
	for rank := range MaxRank + 1 {
		shape := slices.Repeat([]int{1}, rank)
		if rank > 0 {
			shape[rank-1] = 12345
		}
		s := written(t, tensor.New[int8](shape...).Any())
		h, err := ReadHeader(strings.NewReader(s), nil)
		if err != nil || h.Offset%64 != 0 || !strings.HasSuffix(s[:h.Offset], " \n") || !slices.Equal(h.Shape, shape) {
			t.Errorf("rank %d: header %+v, %v", rank, h, err)
		}
	}
}

func TestDescrOf(t *testing.T) {
	var all []string
	for _, d := range dtype.All() {
		all = append(all, descrOf(d))
	}
	const want = "['|b1' '|i1' '<i2' '<i4' '<i8' '|u1' '<u2' '<u4' '<u8' '|V1' '|V1' '<f2' '<V2' '<f4' '<f8' '<c8' '<c16' " +
		"[('fp8x23', '<i4')] [('fp16x16', '<i4')] [('fp32x32', '<i8')] [('fp64x64', [('hi', '<i8'), ('lo', '<u8')])] '|V1' '|V1' '|V1' '|V1' '|V1' '|V1' '|V1' '|V1']"
	if got := fmt.Sprint(all); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := descrOf(dtype.Invalid); got != "" {
		t.Errorf("invalid: %q", got)
	}
}

// drawTensor draws a tensor of any type, of a shape that may be empty, seen
// through a few views.
func drawTensor(t *rapid.T) tensor.Any {
	d := rapid.SampledFrom(dtype.All()).Draw(t, "dtype")
	shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 5).Draw(t, "shape")
	a, err := tensor.Make(d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := tensor.Bytes(a)
	if !ok {
		t.Fatalf("%s is not contiguous", tensor.Describe(a))
	}
	seed := rapid.Uint32().Draw(t, "seed")
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed >> 24)
	}
	d.Mend(b)
	for range rapid.IntRange(0, 3).Draw(t, "views") {
		if a.Rank() == 0 {
			break
		}
		axis := rapid.IntRange(0, a.Rank()-1).Draw(t, "axis")
		idx := slices.Repeat([]tensor.Index{tensor.Colon}, a.Rank())
		switch rapid.IntRange(0, 3).Draw(t, "view") {
		case 0:
			axes := rapid.Permutation(upTo(a.Rank())).Draw(t, "axes")
			a, err = tensor.Permute(a, axes...)
		case 1:
			idx[axis] = tensor.R(tensor.None, tensor.None, rapid.SampledFrom([]int{-2, -1, 2}).Draw(t, "step"))
			a, err = tensor.Slice(a, idx...)
		case 2:
			idx[axis] = tensor.R(min(1, a.Dim(axis)), a.Dim(axis))
			a, err = tensor.Slice(a, idx...)
		case 3:
			a, err = tensor.BroadcastTo(a, append([]int{2}, a.Shape()...)...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// rowMajor returns a's elements in row-major order as bytes, one at a time.
func rowMajor(t testing.TB, a tensor.Any) []byte {
	t.Helper()
	var all []byte
	idx := make([]tensor.Index, a.Rank())
	var walk func(axis int)
	walk = func(axis int) {
		if axis == a.Rank() {
			e, err := tensor.Slice(a, idx...)
			if err != nil {
				t.Fatal(err)
			}
			b, ok := tensor.Bytes(e)
			if !ok {
				t.Fatal("an element is not contiguous")
			}
			all = append(all, b...)
			return
		}
		for i := range a.Dim(axis) {
			idx[axis] = tensor.I(i)
			walk(axis + 1)
		}
	}
	walk(0)
	return all
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := drawTensor(rt)
		s := written(t, a)
		want := rowMajor(t, a)
		b, err := Read(strings.NewReader(s), &Options{As: a.DType()})
		if err != nil {
			rt.Fatal(err)
		}
		if b.DType() != a.DType() || !slices.Equal(b.Shape(), a.Shape()) {
			rt.Fatalf("wrote %s, read %s", tensor.Describe(a), tensor.Describe(b))
		}
		if got := rowMajor(t, b); !bytes.Equal(got, want) {
			rt.Fatalf("%s: wrote % x, read % x", tensor.Describe(a), want, got)
		}
	})
}

// TestReadOrders writes the same elements in the four orders by hand and reads
// them back equal.
func TestReadOrders(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := drawTensor(rt)
		want := rowMajor(t, a)
		code := conv.NumPy[a.DType()]
		if code == "" {
			code = fmt.Sprintf("V%d", a.DType().Size())
		}
		for _, order := range "<>" {
			for _, fortran := range []bool{false, true} {
				v := a
				if fortran { // in column-major order is in row-major order with the axes turned around
					axes := upTo(a.Rank())
					slices.Reverse(axes)
					var err error
					if v, err = tensor.Permute(a, axes...); err != nil {
						rt.Fatal(err)
					}
				}
				data := rowMajor(t, v)
				if order == '>' && !conv.BigEndian || order == '<' && conv.BigEndian {
					conv.Reverse(data, conv.Unit(a.DType()))
				}
				b, err := Read(strings.NewReader(array(string(order)+code, fortran, shapeText(a.Shape()), string(data))), &Options{As: a.DType()})
				if err != nil {
					rt.Fatal(err)
				}
				if got := rowMajor(t, b); !bytes.Equal(got, want) {
					rt.Fatalf("%s %c fortran %v: got % x, want % x", tensor.Describe(a), order, fortran, got, want)
				}
			}
		}
	})
}

// TestWritePieces writes views that are gathered in several pieces.
func TestWritePieces(t *testing.T) {
	const n = 1500
	a := tensor.New[int32](n, n)
	flat := a.Elems()
	for i := range flat {
		flat[i] = int32(i)
	}
	wide := a.Reshape(1, n*n)
	// Ranges of the first axis have no layout unless they fit its leaves.
	nested := tensor.FromLayout(flat, layout.MustParse("((2,5,150),1500):((1125000,225000,1500),1)"))
	row := func(r int) int { return r%2*750 + r/2%5*150 + r/10 }
	for _, c := range []struct {
		name string
		v    tensor.Tensor[int32]
		at   func(i int) int32
	}{
		{"transposed", a.Transpose(), func(i int) int32 { return int32(i%n*n + i/n) }},
		{"flipped", a.Flip(0), func(i int) int32 { return int32((n-1-i/n)*n + i%n) }},
		{"one long row", wide.Flip(1), func(i int) int32 { return int32(n*n - 1 - i) }},
		{"broadcast", a.Slice(tensor.R(0, 1)).BroadcastTo(n, n), func(i int) int32 { return int32(i % n) }},
		{"nested", nested, func(i int) int32 { return int32(row(i/n)*n + i%n) }},
		{"nested, transposed", nested.Transpose(), func(i int) int32 { return int32(row(i%n)*n + i/n) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Read(strings.NewReader(written(t, c.v.Any())), nil)
			got, _ := elements[int32](t, b, err)
			if len(got) != c.v.Len() {
				t.Fatalf("%d elements of %d", len(got), c.v.Len())
			}
			for i, v := range got {
				if v != c.at(i) {
					t.Fatalf("element %d is %d, want %d", i, v, c.at(i))
				}
			}
		})
	}
}

// TestOtherMachine writes and reads as a machine of the other byte order would:
// the bytes in memory are the wrong way around, those in the file too, and
// reading turns them back.
func TestOtherMachine(t *testing.T) {
	a := tensor.FromSlice([]complex64{1 + 2i, 3 - 4i}, 2)
	big := tensor.New[int16]((1 << 20)) // more than is turned around at a time
	big.Set(0x102, (1<<20)-1)
	as := written(t, a.Any())
	conv.BigEndian = !conv.BigEndian
	defer func() { conv.BigEndian = !conv.BigEndian }()
	s := written(t, a.Any())
	for i := 128; i < len(s); i += 4 {
		if s[i] != as[i+3] || s[i+1] != as[i+2] || s[i+2] != as[i+1] || s[i+3] != as[i] {
			t.Fatalf("% x and % x", s[128:], as[128:])
		}
	}
	b, err := Read(strings.NewReader(s), nil)
	if got, _ := elements[complex64](t, b, err); !slices.Equal(got, a.Elems()) {
		t.Errorf("got %v", got)
	}
	b, err = Open(save(t, written(t, big.Any())), nil)
	if got, _ := elements[int16](t, b, err); !slices.Equal(got, big.Elems()) {
		t.Error("the elements differ")
	}
	if err := Write(full{errors.New("the disk is full")}, big.Any(), nil); err == nil {
		t.Error("no error")
	}
}

func TestWriteErrors(t *testing.T) {
	spec, err := tensor.NewSpec(dtype.Float32, 2)
	if err != nil {
		t.Fatal(err)
	}
	closed := tensor.New[int8](3)
	closed.Close()
	noSpace := errors.New("the disk is full")
	for _, c := range []struct {
		a    tensor.Any
		w    interface{ Write([]byte) (int, error) }
		is   error
		want string
	}{
		{spec.Any(), &bytes.Buffer{}, tensor.ErrDType, "npy: writing float32[2]: "},
		{closed.Any(), &bytes.Buffer{}, tensor.ErrClosed, "npy: writing int8[3]: "},
		{tensor.New[int8](slices.Repeat([]int{1}, MaxRank+1)...).Any(), &bytes.Buffer{}, format.ErrLimit, "npy: rank 65; NumPy's largest is 64: reshape the tensor"},
		{tensor.New[int8](3).Any(), full{noSpace}, noSpace, "npy: writing int8[3]: the disk is full"},
		{tensor.New[int8](300_000).Any(), full{noSpace}, noSpace, "npy: writing int8[300000]: the disk is full"},
	} {
		if err := Write(c.w, c.a, nil); !errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }
