package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestJSON(t *testing.T) {
	inRoot(t)
	c := newCall(nil).with("run", "testdata/digits.onnx", "testdata/seven.png", "testdata/nine.png", "--json", "--top", "2")
	if c.code != 0 || c.err.Len() != 0 {
		t.Fatalf("exit %d: %s", c.code, c.err.String())
	}
	var r report
	d := json.NewDecoder(&c.out)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if r.Model != "testdata/digits.onnx" || len(r.Inputs) != 1 || len(r.Outputs) != 1 {
		t.Fatalf("%+v", r)
	}
	wantIn := reportInput{"image", "float32", []int{2, 1, 8, 8}, []string{"testdata/seven.png", "testdata/nine.png"}}
	if !reflect.DeepEqual(r.Inputs[0], wantIn) {
		t.Errorf("input %+v, want %+v", r.Inputs[0], wantIn)
	}
	o := r.Outputs[0]
	if o.Name != "probability" || o.DType != "float32" || !reflect.DeepEqual(o.Shape, []int{2, 10}) || o.Omitted != 0 || o.Probabilities == nil || !*o.Probabilities {
		t.Errorf("output %+v", o)
	}
	if len(o.Values) != 20 || len(o.Top) != 2 || len(o.Top[0]) != 2 || len(o.Top[1]) != 2 {
		t.Fatalf("%d values, top %v", len(o.Values), o.Top)
	}
	for row, want := range []reportClass{{7, "seven", o.Values[7]}, {9, "nine", o.Values[19]}} {
		if o.Top[row][0] != want {
			t.Errorf("row %d: best %+v, want %+v", row, o.Top[row][0], want)
		}
	}
	m, err := onnx.Open("testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := tensor.NewSpec(dtype.Float32, 2, 1, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Plan(map[string]tensor.Any{"image": spec.Any()})
	if err != nil {
		t.Fatal(err)
	}
	mem := r.Memory
	if mem.Weights != plan.Weights || mem.Live != plan.Live || !mem.Exact || mem.InPlace+mem.Copied != 4*29914 {
		t.Errorf("memory %+v, the plan says %+v", mem, plan)
	}
	if runtime.GOOS == "linux" && mem.Peak < mem.Weights+mem.Live {
		t.Errorf("peak memory %d is below weights and live set", mem.Peak)
	}
	if r.Seconds.Run <= 0 || r.Seconds.Load <= 0 || r.Seconds.Inputs <= 0 {
		t.Errorf("times %+v", r.Seconds)
	}
}

func TestJSONOfMuchAndOfWhatHasNoNumber(t *testing.T) {
	inRoot(t)
	tmp := makeFiles(t)
	get := func(args ...string) reportOutput {
		t.Helper()
		c := newCall(nil).with(append([]string{"run", "--json"}, args...)...)
		var r report
		if err := json.Unmarshal(c.out.Bytes(), &r); err != nil || c.code != 0 {
			t.Fatalf("exit %d, %v: %s", c.code, err, c.err.String())
		}
		return r.Outputs[0]
	}
	if o := get(tmp+"/many.onnx", tmp+"/many.npy"); len(o.Values) != 10000 || o.Omitted != 5000 || o.Values[251] != 1.0 || o.Top != nil {
		t.Errorf("%d values, %d omitted, [251] %v, top %v", len(o.Values), o.Omitted, o.Values[251], o.Top)
	}
	if o := get(tmp+"/scores.onnx", tmp+"/nan.npy"); !reflect.DeepEqual(o.Values, []any{"NaN", 1.0, "+Inf"}) || o.Top != nil {
		t.Errorf("values %v, top %v", o.Values, o.Top)
	}
}

func TestValues(t *testing.T) {
	inf := math.Inf(1)
	for _, tc := range []struct {
		in   tensor.Any
		want string
	}{
		{tensor.FromSlice([]bool{true, false}).Any(), "[true,false]"},
		{tensor.FromSlice([]int8{-128, 127}).Any(), "[-128,127]"},
		{tensor.FromSlice([]int16{-1, 1}).Any(), "[-1,1]"},
		{tensor.FromSlice([]int32{-1, 1}).Any(), "[-1,1]"},
		{tensor.FromSlice([]int64{math.MinInt64, 1}).Any(), "[-9223372036854775808,1]"},
		{tensor.FromSlice([]uint8{1, 255}).Any(), "[1,255]"},
		{tensor.FromSlice([]uint16{1, 65535}).Any(), "[1,65535]"},
		{tensor.FromSlice([]uint32{1, 1 << 31}).Any(), "[1,2147483648]"},
		{tensor.FromSlice([]uint64{math.MaxUint64, 0}).Any(), "[18446744073709551615,0]"},
		{tensor.FromSlice([]num.F8E4M3{num.FromFloat64[num.F8E4M3](1.5)}).Any(), "[1.5]"},
		{tensor.FromSlice([]num.F8E5M2{num.FromFloat64[num.F8E5M2](1.5)}).Any(), "[1.5]"},
		{tensor.FromSlice([]num.F16{num.FromFloat64[num.F16](0.5)}).Any(), "[0.5]"},
		{tensor.FromSlice([]num.BF16{num.FromFloat64[num.BF16](-2)}).Any(), "[-2]"},
		{tensor.FromSlice([]float32{0.1, float32(inf)}).Any(), `[0.1,"+Inf"]`},
		{tensor.FromSlice([]float64{0.1, -inf}).Any(), `[0.1,"-Inf"]`},
		{tensor.FromSlice([]complex64{complex(1, 2)}).Any(), "[[1,2]]"},
		{tensor.FromSlice([]complex128{complex(0.1, -inf)}).Any(), `[[0.1,"-Inf"]]`},
		{tensor.Arange[int32](0, 6, 1).Reshape(2, 3).Transpose().Any(), "[0,3]"},
		{tensor.Scalar[int8](3).Any(), "[3]"},
		{tensor.New[float32](0, 3).Any(), "[]"},
	} {
		b, err := json.Marshal(values(tc.in, 2))
		if err != nil || string(b) != tc.want {
			t.Errorf("%s: %s, %v; want %s", tensor.Describe(tc.in), b, err, tc.want)
		}
	}
}

func TestOutputs(t *testing.T) {
	inRoot(t)
	tmp := makeFiles(t)
	model, pair := tmp+"/add.onnx", tmp+"/pair.npz"
	sum := []float32{11, 22}
	check := func(a tensor.Any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got := held[float32](t, a).Elems(); !reflect.DeepEqual(got, sum) {
			t.Errorf("got %v, want %v", got, sum)
		}
	}
	ok := func(args ...string) *call {
		t.Helper()
		c := newCall(nil).with(append([]string{"run", model, pair}, args...)...)
		if c.code != 0 || c.err.Len() > 0 {
			t.Fatalf("exit %d: %s", c.code, c.err.String())
		}
		return c
	}

	ok("-o", "sum="+tmp+"/sum.npy", "-o", tmp+"/all.npz")
	check(npy.Open(tmp+"/sum.npy", nil))
	z, err := npy.OpenZip(tmp+"/all.npz", nil)
	if err != nil {
		t.Fatal(err)
	}
	if names := z.Names(); !reflect.DeepEqual(names, []string{"sum", "difference"}) {
		t.Errorf("the npz has %v", names)
	}
	check(z.Tensor("sum"))
	z.Close()

	check(npy.Read(&ok("-o", "sum=-").out, nil))
	all := ok("-o", "-").out.Bytes()
	if z, err = npy.NewZip(bytes.NewReader(all), int64(len(all)), nil); err != nil {
		t.Fatal(err)
	}
	check(z.Tensor("sum"))

	// An earlier file keeps its mode, and a link stays a link.
	if err := os.Chmod(tmp+"/sum.npy", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sum.npy", tmp+"/link.npy"); err != nil {
		t.Skip("no links here:", err)
	}
	ok("-o", "sum="+tmp+"/link.npy")
	info, err := os.Lstat(tmp + "/sum.npy")
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err = os.Lstat(tmp + "/link.npy"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link has become %v, %v", info.Mode(), err)
	}
	if err := os.Symlink("new.npy", tmp+"/dangling.npy"); err != nil {
		t.Fatal(err)
	}
	ok("-o", "sum="+tmp+"/dangling.npy")
	check(npy.Open(tmp+"/new.npy", nil))
	if parts, _ := filepath.Glob(tmp + "/*.part*"); len(parts) > 0 {
		t.Errorf("left behind: %v", parts)
	}
}

func TestFailedOutputLeavesWhatWasThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.npy")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := newCall(nil)
	spec, err := tensor.NewSpec(dtype.Float32, 3)
	if err != nil {
		t.Fatal(err)
	}
	err = p.write(target{[]string{"y"}, path, false}, &result{outputs: map[string]tensor.Any{"y": spec.Any()}, parts: map[string][]string{"y": {"y"}}})
	if err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("error %v doesn't name the file", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "before" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

func TestInterrupt(t *testing.T) {
	inRoot(t)
	out := filepath.Join(t.TempDir(), "out.npy")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := newCall(nil)
	c.code = c.run(ctx, []string{"run", "testdata/digits.onnx", "testdata/seven.png", "-o", out})
	if c.code != 130 || c.out.Len() != 0 || !strings.HasPrefix(c.err.String(), "ashlar: interrupted: onnx: testdata/digits.onnx: ") || strings.Count(c.err.String(), "\n") != 1 {
		t.Errorf("exit %d, printed %q, said %q", c.code, c.out.String(), c.err.String())
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it wrote the output all the same")
	}
}

func TestThreadsAreSetBack(t *testing.T) {
	inRoot(t)
	before := runtime.GOMAXPROCS(0)
	c := newCall(nil).with("run", "testdata/digits.onnx", "testdata/seven.png", "--threads", "1")
	if got := runtime.GOMAXPROCS(0); c.code != 0 || got != before {
		t.Errorf("exit %d, %d threads, before %d", c.code, got, before)
	}
}

func TestErrorAboutTheLevel(t *testing.T) {
	inRoot(t)
	for _, args := range [][]string{{"run", "testdata/digits.onnx", "testdata/seven.png"}, {"version"}, {"ops"}} {
		c := newCall(nil)
		c.cpuErr = func() error { return os.ErrInvalid }
		c.with(args...)
		if c.code != 1 || c.err.String() != "ashlar: invalid argument\n" || c.out.String() != "" {
			t.Errorf("%q: exit %d, printed %q, said %q", args, c.code, c.out.String(), c.err.String())
		}
	}
}

// A pipe that isn't standard input, such as a shell's <(...).
func TestPipe(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("no /dev/fd here")
	}
	inRoot(t)
	b, err := os.ReadFile("testdata/seven.png")
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		w.Write(b)
		w.Close()
	}()
	path := filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd())))
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /dev/fd here:", err)
	}
	c := newCall(nil).with("run", "testdata/digits.onnx", path, "--top", "0")
	if c.code != 0 || c.out.String() != "seven (100.00 %)\n" {
		t.Errorf("exit %d, printed %q, said %q", c.code, c.out.String(), c.err.String())
	}
}

// FuzzFile gives the command files of any contents: it ends with 0 or 1, a line when it fails, and no panic.
func FuzzFile(f *testing.F) {
	for _, s := range []string{"", "\x93NUMPY", "PK\x03\x04", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "\x08\x07", "\x02\x00\x00\x00\x00\x00\x00\x00{}", "\x08\x08:\x00", "text"} {
		f.Add([]byte(s))
	}
	b := onnx.NewBuilder("small") // a large one would be minimized for minutes
	b.Output(b.Node("Relu", []string{b.Weight("x", tensor.FromSlice([]float32{1, -2}, 2).Any())}), dtype.Float32, 2)
	m, err := b.Model(13)
	if err != nil {
		f.Fatal(err)
	}
	small, err := onnx.Encode(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	for _, name := range []string{"digits-test-labels.npy", "seven.png"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, args := range [][]string{{"info", "-"}, {"show", "-"}, {"show", "--", "-#x"}, {"run", "-"}} {
			c := newCall(bytes.NewReader(b)).with(args...)
			if c.code != 0 && c.code != 1 || (c.code == 1) != strings.HasPrefix(c.err.String(), "ashlar: ") {
				t.Errorf("%v: exit %d, said %q", args, c.code, c.err.String())
			}
			if strings.ContainsAny(c.out.String()+c.err.String(), "\x1b\x00\x07") {
				t.Errorf("%v: control characters in %q%q", args, c.out.String(), c.err.String())
			}
		}
	})
}

// held returns a as a tensor of T, which it must hold.
func held[T num.Elem](t *testing.T, a tensor.Any) tensor.Tensor[T] {
	t.Helper()
	x, ok := tensor.As[T](a)
	if !ok {
		t.Fatalf("%s holds another type", tensor.Describe(a))
	}
	return x
}
