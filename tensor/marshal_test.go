package tensor_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// marshalled checks that values of one type come back from JSON, the binary form and
// gob bit for bit, in row-major order of a permuted tensor.
func marshalled[T num.Elem](t *testing.T, v ...T) {
	t.Helper()
	x := tensor.FromSlice(v, len(v), 1, 1).BroadcastTo(len(v), 2, 1).Transpose()
	want, err := x.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	same := func(form string, got tensor.Tensor[T], err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%v by %s: %v", x.DType(), form, err)
			return
		}
		b, err := got.MarshalBinary() // equal bytes: type, shape and bits are the same
		if err != nil || !bytes.Equal(b, want) || !got.IsContiguous() || got.IsReadOnly() {
			t.Errorf("%v by %s: %v, want %v (%v)", x.DType(), form, got, x, err)
		}
	}
	var got tensor.Tensor[T]
	same("binary", got, got.UnmarshalBinary(want))
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	got = tensor.Tensor[T]{}
	err = json.Unmarshal(text, &got)
	same("JSON "+string(text), got, err)
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(struct{ W tensor.Tensor[T] }{x}); err != nil {
		t.Fatal(err)
	}
	var in struct{ W tensor.Tensor[T] }
	err = gob.NewDecoder(&out).Decode(&in)
	same("gob", in.W, err)
}

func TestMarshal(t *testing.T) {
	negZero, inf := math.Copysign(0, -1), math.Inf(1)
	marshalled(t, true, false)
	marshalled[int8](t, -128, 0, 127)
	marshalled[int16](t, math.MinInt16, math.MaxInt16)
	marshalled[int32](t, math.MinInt32, math.MaxInt32)
	marshalled[int64](t, math.MinInt64, math.MaxInt64, 1<<53+1)
	marshalled[uint8](t, 0, 255)
	marshalled[uint16](t, math.MaxUint16)
	marshalled[uint32](t, math.MaxUint32)
	marshalled[uint64](t, math.MaxUint64)
	marshalled[float32](t, 0, float32(negZero), 0.1, math.MaxFloat32, math.SmallestNonzeroFloat32, 1.0/3, float32(inf), -float32(inf), num.NaN32(), 16777216)
	marshalled(t, 0, negZero, 0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0/3, inf, -inf, num.NaN64(), 1e21, 1e-7)
	marshalled[complex64](t, 1-2i, complex(float32(negZero), 0.1), complex(float32(inf), float32(-inf)))
	marshalled(t, 1-2i, complex(negZero, 1.0/3), complex(inf, 5e-324))
	var f16 []num.F16
	var bf16 []num.BF16
	for i := range 1 << 16 {
		if v := num.FromBits[num.F16](uint16(i)); !v.IsNaN() {
			f16 = append(f16, v)
		}
		if v := num.FromBits[num.BF16](uint16(i)); !v.IsNaN() && i%7 == 0 {
			bf16 = append(bf16, v)
		}
	}
	marshalled(t, f16...)
	marshalled(t, bf16...)
	var e4 []num.F8E4M3
	var e5 []num.F8E5M2
	for i := range 256 {
		if v := num.FromBits[num.F8E4M3](uint16(i)); !v.IsNaN() {
			e4 = append(e4, v)
		}
		if v := num.FromBits[num.F8E5M2](uint16(i)); !v.IsNaN() {
			e5 = append(e5, v)
		}
	}
	marshalled(t, e4...)
	marshalled(t, e5...)
}

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		x    json.Marshaler
		want string
	}{
		{tensor.FromSlice([]float64{1, -0.5, 1e6, 1e21}, 2, 2), "[[1,-0.5],[1e+06,1e+21]]"},
		{tensor.Scalar[int8](-3), "-3"},
		{tensor.New[bool](2, 0), "[[],[]]"},
		{tensor.New[bool](0, 2), "[]"},
		{tensor.FromSlice([]float32{0.1, float32(math.NaN()), float32(math.Inf(-1))}), `[0.1,"NaN","-Infinity"]`},
		{tensor.FromSlice([]complex128{1 - 2i}), `["(1-2i)"]`},
		{tensor.FromSlice([]num.F16{num.FromFloat64[num.F16](0.1)}), "[0.099975586]"},
		{tensor.Arange[int32](0, 4, 1).View(2, 2).Transpose(), "[[0,2],[1,3]]"},
	} {
		if got, err := c.x.MarshalJSON(); err != nil || string(got) != c.want || !json.Valid(got) {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
	var x tensor.Tensor[float32]
	if err := x.UnmarshalJSON([]byte(" [ [ 1 , 2.5e0 ] ,\n[ 3, -4 ] ] ")); err != nil || !reflect.DeepEqual(x.Any().Nested(), [][]float32{{1, 2.5}, {3, -4}}) {
		t.Errorf("got %v, %v", x, err)
	}
	if err := json.Unmarshal([]byte("null"), &x); err != nil || x.Len() != 4 {
		t.Errorf("null makes it %v, %v", x, err)
	}
	before := x
	for _, c := range []struct{ text, say string }{
		{"", "the text ends"},
		{"[1,2", "the list doesn't end"},
		{"[[1],[2]", "the list doesn't end"},
		{"[1 2]", "a comma or a bracket is missing"},
		{"[1,]", "entry [1]: an element is missing"},
		{"[1],", "something follows the value"},
		{"[[1,2],[3]]", "entry [1]: a list of 1, others at its level have 2"},
		{"[[[1],[2]],[[3],[4,5]]]", "entry [1][1]: a list of 2, others at its level have 1"},
		{"[1,[2]]", "entry [1]: a list, others at its level are elements"},
		{"[[1],2]", "entry [1]: an element, others at its level are lists"},
		{"[[],2]", "entry [1]: an element, others at its level are lists"},
		{"[1,true]", "entry [1]: true is no float32"},
		{"[01]", "entry [0]: 01 is no float32"},
		{"[+1]", "is no float32"},
		{"[.5]", "is no float32"},
		{"[1.]", "is no float32"},
		{"[0x10]", "is no float32"},
		{"[1_0]", "is no float32"},
		{"[Inf]", "is no float32"},
		{"[1e]", "is no float32"},
		{"[1e39]", "entry [0]: 1e39 is no float32"},
		{`["1"]`, "is no float32"},
		{`["1`, "the string doesn't end"},
		{"{}", "is no float32"},
		{strings.Repeat("[", 2000), "more than 1000 lists in each other"},
	} {
		err := x.UnmarshalJSON([]byte(c.text))
		if !errors.Is(err, tensor.ErrSyntax) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%.20s: %v, want %q", c.text, err, c.say)
		}
	}
	if !x.Any().SameData(before.Any()) || !slices.Equal(x.Elems(), []float32{1, 2.5, 3, -4}) {
		t.Error("a failed UnmarshalJSON changed the tensor")
	}
	refused := func(x json.Unmarshaler, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if err := x.UnmarshalJSON([]byte(text)); !errors.Is(err, tensor.ErrSyntax) {
				t.Errorf("%T takes %s: %v", x, text, err)
			}
		}
	}
	refused(new(tensor.Tensor[int8]), "128", "1.0", "1e0", `"NaN"`)
	refused(new(tensor.Tensor[uint8]), "-1", "256")
	refused(new(tensor.Tensor[num.F16]), "65520", "1e300")
	refused(new(tensor.Tensor[num.F8E4M3]), "1000", `"Infinity"`)
	refused(new(tensor.Tensor[bool]), "1", `"true"`)
	refused(new(tensor.Tensor[complex64]), `"1+2j"`, `""`, `"`, "[")
	closed := tensor.New[int8](1)
	closed.Close()
	if _, err := json.Marshal(closed); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestBinary(t *testing.T) {
	x := tensor.Arange[int16](1, 7, 1).View(2, 3)
	b, err := x.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	want := "ASHLAR\x00\x01\x05int16\x02\x00\x00\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00"
	if string(b) != want {
		t.Errorf("got %q, want %q", b, want)
	}
	before := x
	for n := range b {
		if err := x.UnmarshalBinary(b[:n]); !errors.Is(err, tensor.ErrSyntax) {
			t.Errorf("%d bytes of it: %v", n, err)
		}
	}
	changed := func(at int, v byte) []byte {
		c := slices.Clone(b)
		c[at] = v
		return c
	}
	for i, c := range []struct {
		b    []byte
		want error
	}{
		{append(slices.Clone(b), 0), tensor.ErrSyntax},
		{changed(0, 'B'), tensor.ErrSyntax},
		{changed(7, 2), tensor.ErrSyntax},
		{changed(9, 'j'), tensor.ErrSyntax},
		{[]byte(strings.Replace(want, "\x05int16", "\x06uint16", 1)), tensor.ErrDType},
		{changed(14, 255), tensor.ErrSyntax},    // rank
		{changed(17, 255), tensor.ErrSyntax},    // rank of a billion
		{changed(18, 3), tensor.ErrSyntax},      // extent
		{changed(25, 0x7f), tensor.ErrOverflow}, // an enormous one
		{changed(25, 0x80), tensor.ErrSyntax},
	} {
		if c.want == tensor.ErrOverflow && math.MaxInt == math.MaxInt32 {
			c.want = tensor.ErrSyntax // an extent that is no int is refused as it is read
		}
		if err := x.UnmarshalBinary(c.b); !errors.Is(err, c.want) {
			t.Errorf("case %d: %v, want %v", i, err, c.want)
		}
	}
	if !x.Any().SameData(before.Any()) {
		t.Error("a failed UnmarshalBinary changed the tensor")
	}
	flags, err := tensor.New[bool](2).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	flags[len(flags)-1] = 2
	if err := new(tensor.Tensor[bool]).UnmarshalBinary(flags); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("got %v", err)
	}
	if _, err := (tensor.Tensor[bool]{}).MarshalBinary(); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// Either form writes again the tensor that it reads, and neither panics or hangs.
func FuzzUnmarshal(f *testing.F) {
	b, err := tensor.Arange[float32](0, 6, 1).View(2, 3).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	for _, s := range []string{"[[1,2],[3,4]]", "[]", "[[],[]]", `["NaN",-0]`, "7", "[1,[2]]", "[[[", `["`, " [ 1e9 ] "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var x, y tensor.Tensor[float32]
		if x.UnmarshalBinary(b) == nil {
			if again, err := x.MarshalBinary(); err != nil || !bytes.Equal(again, b) {
				t.Errorf("%x becomes %x, %v", b, again, err)
			}
		}
		if y.UnmarshalJSON(b) != nil || y.IsZero() {
			return
		}
		text, err := y.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b) {
			t.Errorf("%q isn't JSON", b)
		}
		var z tensor.Tensor[float32]
		if err := z.UnmarshalJSON(text); err != nil || !slices.Equal(z.Shape(), y.Shape()) {
			t.Errorf("%q becomes %q, %v", b, text, err)
		}
	})
}

// The types that are only stored print, and are read again, as their numbers.
func TestStoredText(t *testing.T) {
	four := tensor.FromSlice([]num.Int4{num.FromBits[num.Int4](0x8), num.FromBits[num.Int4](7)}, 2)
	text, err := json.Marshal(four)
	if err != nil || string(text) != "[-8,7]" {
		t.Errorf("got %s, %v", text, err)
	}
	var back tensor.Tensor[num.Int4]
	if err := json.Unmarshal(text, &back); err != nil || fmt.Sprint(back) != "[-8  7]" {
		t.Errorf("got %v, %v", back, err)
	}
	for _, wrong := range []string{"[8]", "[-9]", "[0.5]"} {
		if err := json.Unmarshal([]byte(wrong), &back); err == nil {
			t.Errorf("%s is read as %v", wrong, back)
		}
	}
	var u tensor.Tensor[num.Uint2]
	if err := json.Unmarshal([]byte("[3,0]"), &u); err != nil || fmt.Sprint(u) != "[3 0]" {
		t.Errorf("got %v, %v", u, err)
	}
	var f tensor.Tensor[num.F4E2M1]
	if err := json.Unmarshal([]byte("[0.5,-6,2.4]"), &f); err != nil || fmt.Sprint(f) != "[ 0.5 -6.   2. ]" {
		t.Errorf("got %v, %v", f, err)
	}
	for _, wrong := range []string{"[7]", `["NaN"]`, `["Infinity"]`} {
		if err := json.Unmarshal([]byte(wrong), &f); err == nil {
			t.Errorf("%s is read as %v", wrong, f)
		}
	}
	e := tensor.FromNested[num.F8E8M0]([]float64{0.5, 4})
	if got := fmt.Sprintf("%v %#v", e, e); got != "[0.5 4. ] tensor.FromSlice([]num.F8E8M0{num.FromBits[num.F8E8M0](0x7e), num.FromBits[num.F8E8M0](0x81)}, 2)" {
		t.Errorf("got %s", got)
	}
	if err := tensor.Try(func() { tensor.FromNested[num.F8E8M0]([]float64{3}) }); err == nil {
		t.Error("3 is no power of two")
	}
	if got := fmt.Sprintf("%d", four); got != "[-8  7]" {
		t.Errorf("got %s", got)
	}
}
