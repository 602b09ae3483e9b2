package npy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestNumPyFiles reads the files that NumPy 1.24 made, where the collection
// stands beside the repository.
func TestNumPyFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "conformance", "numpy")
	text, err := os.ReadFile(filepath.Join(dir, "npy.json"))
	if err != nil {
		if os.Getenv("ASHLAR_SUITES") == "required" {
			t.Fatal(err)
		}
		t.Skip("no NumPy files: ", err)
	}
	type array struct {
		DType string
		Shape []int
		Data  []any
	}
	var suite struct {
		Cases []struct {
			File    string
			Ok      bool
			Version []int
			Descr   string
			Fortran bool `json:"fortran_order"`
			Array   *array
			Arrays  map[string]*array
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&suite); err != nil {
		t.Fatal(err)
	}
	compare := func(t *testing.T, a tensor.Any, want *array) {
		t.Helper()
		got, ok := values(a)
		if !ok || a.DType().String() != want.DType || !slices.Equal(a.Shape(), want.Shape) || !slices.Equal(got, flat(t, a, want.Data)) {
			t.Errorf("got %s %v, want %s %v %v", tensor.Describe(a), got, want.DType, want.Shape, want.Data)
		}
	}
	read, refused, same := 0, 0, 0
	for _, c := range suite.Cases {
		t.Run(filepath.Base(c.File), func(t *testing.T) {
			path := filepath.Join(dir, filepath.FromSlash(c.File))
			if strings.HasSuffix(c.File, ".npz") {
				z, err := OpenZip(path, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer z.Close()
				if len(z.Names()) != len(c.Arrays) {
					t.Fatalf("names %q", z.Names())
				}
				for name, want := range c.Arrays {
					a, err := z.Tensor(name)
					if err != nil {
						t.Fatal(err)
					}
					compare(t, a, want)
				}
				return
			}
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Read(bytes.NewReader(file), nil)
			mapped, openErr := Open(path, nil)
			if (err == nil) != (openErr == nil) {
				t.Fatalf("Read: %v, Open: %v", err, openErr)
			}
			if err != nil {
				exotic := c.Ok && (c.Array == nil || strings.ContainsAny(c.Descr, "SU")) && errors.Is(err, format.ErrType)
				if c.Ok && !exotic {
					t.Fatal(err)
				}
				refused++
				return
			}
			if !c.Ok {
				t.Fatalf("read %s, NumPy refuses the file", tensor.Describe(a))
			}
			read++
			compare(t, a, c.Array)
			compare(t, mapped, c.Array)
			mapped.Close()
			// What is written as we write it must come out byte for byte.
			if slices.Equal(c.Version, []int{1, 0}) && !c.Fortran && !strings.HasPrefix(c.Descr, ">") {
				same++
				if got := written(t, a); got != string(file) {
					t.Errorf("written again\n%q\nNumPy wrote\n%q", got, file)
				}
			}
		})
	}
	t.Logf("%d files read, %d refused, %d written as NumPy does", read, refused, same)
	if read < 100 || refused < 19 || same < 20 {
		t.Errorf("too few cases")
	}
}

// values returns a's elements in row-major order as numbers that compare, NaNs
// too: integers and floats as their bits.
func values(a tensor.Any) ([]any, bool) {
	d := a.DType()
	if d == dtype.Invalid || d.IsFixed() || d == dtype.BFloat16 || d == dtype.Float8E4M3 || d == dtype.Float8E5M2 {
		return nil, false
	}
	list := []any{}
	for v := range a.Values() {
		switch v := v.(type) {
		case bool:
			list = append(list, v)
		case num.F16:
			list = append(list, floatBits(v.Float64()))
		case float32:
			list = append(list, floatBits(float64(v)))
		case float64:
			list = append(list, floatBits(v))
		case complex64:
			list = append(list, [2]uint64{floatBits(float64(real(v))), floatBits(float64(imag(v)))})
		case complex128:
			list = append(list, [2]uint64{floatBits(real(v)), floatBits(imag(v))})
		default:
			list = append(list, fmt.Sprint(v))
		}
	}
	return list, true
}

// floatBits makes all NaNs one.
func floatBits(f float64) uint64 {
	if f != f {
		f = math.NaN()
	}
	return math.Float64bits(f)
}

// flat turns the collection's JSON into what values returns for a's type.
func flat(t *testing.T, a tensor.Any, data []any) []any {
	float := func(v any) uint64 {
		s, ok := v.(string)
		if n, isNumber := v.(json.Number); isNumber {
			s, ok = n.String(), true
		}
		width := 64
		if n := conv.Unit(a.DType()); n == 4 {
			width = 32
		}
		f, err := strconv.ParseFloat(s, width)
		if !ok || err != nil {
			t.Fatalf("%v is no float: %v", v, err)
		}
		if conv.Unit(a.DType()) == 2 {
			f = num.FromFloat64[num.F16](f).Float64()
		}
		return floatBits(f)
	}
	all := []any{}
	for _, v := range data {
		switch d := a.DType(); {
		case d.IsComplex():
			pair := v.([]any)
			all = append(all, [2]uint64{float(pair[0]), float(pair[1])})
		case d.IsFloat():
			all = append(all, float(v))
		case d.IsInteger():
			all = append(all, v.(json.Number).String())
		default:
			all = append(all, v)
		}
	}
	return all
}
