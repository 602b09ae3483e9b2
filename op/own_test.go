package op_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	errIndex = errors.New("an error of the runtime")
	place    = regexp.MustCompile(`go:\d+`)
)

type ran = func(c *op.Call) ([]tensor.Any, error)

// scaled is a program's operator. It says how much memory it takes, and asks for some.
func scaled(said, asks int, run ran) *op.Op {
	infer := func(c *op.Call) ([]tensor.Any, error) {
		s, err := tensor.NewSpec(dtype.Float32, c.Inputs[0].Shape()...)
		return []tensor.Any{s.Any()}, err
	}
	return op.New(op.Info{Domain: "org.example", Name: "Scaled", Versions: []int{1},
		Supports: func(d dtype.DType) bool { return d == dtype.Float32 },
		FLOPs:    func(c *op.Call, out []tensor.Any) int64 { return 2 * int64(out[0].Len()) },
		Scratch:  func(c *op.Call, out []tensor.Any) int64 { return int64(said) },
	}, infer, func(c *op.Call) ([]tensor.Any, error) {
		if asks > 0 {
			b, err := op.Scratch(c.Context, asks)
			if err != nil {
				return nil, err
			}
			b.Bytes()[asks-1] = 1
		}
		return run(c)
	})
}

// A call of a program's operator that breaks its word is an error that names it, whether it was planned or not.
func TestNewBreaksItsWord(t *testing.T) {
	same := func(c *op.Call) ([]tensor.Any, error) { return c.Inputs[:1], nil }
	give := func(a ...tensor.Any) ran {
		return func(*op.Call) ([]tensor.Any, error) { return a, nil }
	}
	lost := func(c *op.Call) ([]tensor.Any, error) { panic("lost") }
	for name, c := range map[string]struct {
		o    *op.Op
		want string
		is   error
	}{
		"right":     {scaled(64, 64, same), "", nil},
		"panic":     {scaled(0, 0, lost), "its run panics at own_test.go:N: lost", tensor.ErrValue},
		"index":     {scaled(0, 0, func(c *op.Call) ([]tensor.Any, error) { return c.Inputs[9:], nil }), "its run panics at own_test.go:N: runtime error", errIndex},
		"operand":   {scaled(0, 0, func(c *op.Call) ([]tensor.Any, error) { return give(c.Inputs[0].Reshape(7))(c) }), "its run panics at own_test.go:N: tensor.Reshape", tensor.ErrShape},
		"shape":     {scaled(0, 0, give(tensor.New[float32](3).Any())), "result 0 of its run is", tensor.ErrShape},
		"type":      {scaled(0, 0, give(tensor.New[int32](2).Any())), "result 0 of its run is", tensor.ErrShape},
		"absent":    {scaled(0, 0, give(tensor.Any{})), "result 0 of its run is", tensor.ErrShape},
		"none":      {scaled(0, 0, give()), "its run returns 0 results, its infer says 1", tensor.ErrShape},
		"memory":    {scaled(64, 65, same), "its run asks for 65 bytes, and has 64 of its Info.Scratch left", tensor.ErrMemory},
		"no memory": {scaled(-5, 1, same), "its run asks for 1 bytes, and has 0 of its Info.Scratch left", tensor.ErrMemory},
		"infer":     {op.New(op.Info{Name: "Scaled"}, lost, same), "its infer panics at own_test.go:N: lost", tensor.ErrValue},
		"price":     {op.New(op.Info{Name: "Scaled", FLOPs: func(*op.Call, []tensor.Any) int64 { panic("lost") }}, same, give(tensor.New[float32](2).Any())), "", nil},
	} {
		call := &op.Call{Inputs: []tensor.Any{tensor.New[float32](2).Any()}}
		check := func(how string, err error) {
			t.Helper()
			if r := runtime.Error(nil); name == "index" && errors.As(err, &r) {
				err = fmt.Errorf("%w: %w", err, errIndex)
			}
			if c.is == nil && err != nil || c.is != nil && (!errors.Is(err, c.is) || !strings.HasPrefix(place.ReplaceAllString(err.Error(), "go:N"), strings.TrimPrefix(c.o.Domain()+".", ".")+"Scaled: "+c.want)) {
				t.Errorf("%s, %s: %v, want %q", name, how, err, c.want)
			}
		}
		_, err := c.o.Run(call)
		check("run", err)
		p, err := c.o.Plan(call)
		if err == nil {
			_, err = p.Run()
		}
		check("planned", err)
		if p, err = c.o.Plan(call); err == nil && name != "price" && name != "infer" {
			if _, err = p.Results(); err == nil {
				_, err = p.Run()
			}
			check("inferred", err)
		}
	}
	broken := op.New(op.Info{Name: "Scaled", FLOPs: func(*op.Call, []tensor.Any) int64 { panic("lost") }}, same, same)
	if _, err := broken.Infer(&op.Call{Inputs: []tensor.Any{tensor.New[float32](2).Any()}}); err == nil || !strings.Contains(err.Error(), "Scaled: its FLOPs panics at own_test.go:") {
		t.Error(err)
	}
}

// A list beside an error counts for nothing, and infer is asked again.
func TestNewListBesideError(t *testing.T) {
	known := false
	infer := func(c *op.Call) ([]tensor.Any, error) {
		if !known {
			return make([]tensor.Any, 1), fmt.Errorf("later: %w", op.ErrUnknown)
		}
		return c.Inputs[:1], nil
	}
	asks := 0
	o := op.New(op.Info{Name: "Late", Scratch: func(c *op.Call, out []tensor.Any) int64 { return int64(4 * out[0].Len()) }}, infer, func(c *op.Call) ([]tensor.Any, error) {
		_, err := op.Scratch(c.Context, asks)
		return c.Inputs[:1], err
	})
	call := &op.Call{Inputs: []tensor.Any{tensor.New[float32](3).Any()}}
	p, err := o.Plan(call)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n := p.Scratch(); n != 0 {
			t.Errorf("%d bytes of results that aren't known", n)
		}
		if out, err := p.Results(); out != nil || !errors.Is(err, op.ErrUnknown) {
			t.Errorf("%v, %v", out, err)
		}
	}
	asks = 1 << 16 // there is no bound
	if _, err := p.Run(); err != nil {
		t.Error(err)
	}
	known, asks = true, 12
	for range 2 {
		if out, err := p.Results(); len(out) != 1 || err != nil || p.Scratch() != 12 {
			t.Errorf("%v, %v, %d bytes", out, err, p.Scratch())
		}
	}
	if _, err := p.Run(); err != nil {
		t.Error(err)
	}
}

// Memory of a run ends with it, and no row of requests gets around the bound.
func TestScratchEnds(t *testing.T) {
	var kept context.Context
	var b *mem.Buffer
	o := scaled(64, 0, func(c *op.Call) (out []tensor.Any, err error) {
		kept = c.Context
		for range 3 {
			if _, err := op.Scratch(kept, math.MaxInt); !errors.Is(err, tensor.ErrMemory) {
				t.Error(err)
			}
		}
		b, err = op.Scratch(kept, 64)
		return c.Inputs[:1], err
	})
	if _, err := o.Run(&op.Call{Inputs: []tensor.Any{tensor.New[float32](2).Any()}}); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Scratch(kept, 0); !errors.Is(err, tensor.ErrClosed) || !b.Closed() {
		t.Errorf("after the run: %v, closed %v", err, b.Closed())
	}
}

// The plan of a program's operator says its memory and its operations, and refuses a type.
func TestNewSaysItsPrice(t *testing.T) {
	o := scaled(100, 0, nil)
	spec, _ := tensor.NewSpec(dtype.Float32, 3, 5)
	p, err := o.Plan(&op.Call{Inputs: []tensor.Any{spec.Any()}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Results()
	if err != nil || len(out) != 1 || p.Scratch() != 100 || p.FLOPs() != 30 {
		t.Errorf("%v, %v, %d bytes, %d operations", out, err, p.Scratch(), p.FLOPs())
	}
	if _, err := o.Plan(&op.Call{Inputs: []tensor.Any{tensor.New[int8](2).Any()}}); !errors.Is(err, tensor.ErrDType) {
		t.Error(err)
	}
	if _, err := op.Scratch(context.Background(), 1); err == nil {
		t.Error("there is scratch outside of a run")
	}
}

// A function's own error gets the operator's name once, and is found by errors.Is.
func TestNewOwnErrors(t *testing.T) {
	mine := errors.New("mine")
	fails := func(*op.Call) ([]tensor.Any, error) { return nil, fmt.Errorf("bad: %w", mine) }
	same := func(c *op.Call) ([]tensor.Any, error) { return c.Inputs[:1], nil }
	asks := func(c *op.Call) ([]tensor.Any, error) {
		_, err := op.Scratch(c.Context, 1)
		return nil, err
	}
	panics := func(*op.Call) ([]tensor.Any, error) { panic(mine) }
	in := []tensor.Any{tensor.New[float32](2).Any()}
	for want, o := range map[string]*op.Op{
		"org.example.X: bad: mine": op.New(op.Info{Name: "X", Domain: "org.example"}, same, fails),
		"X: bad: mine":             op.New(op.Info{Name: "X"}, fails, same),
		"X: its run asks for 1 bytes, and has 0 of its Info.Scratch left": op.New(op.Info{Name: "X"}, same, asks),
		"X: its run panics at own_test.go:N: mine":                        op.New(op.Info{Name: "X"}, same, panics),
		"X: is not defined for float32; convert the operand with op.Cast": op.New(op.Info{Name: "X", Supports: dtype.DType.IsInteger}, same, same),
	} {
		_, err := o.Run(&op.Call{Inputs: in})
		if err == nil || place.ReplaceAllString(err.Error(), "go:N") != want || strings.HasSuffix(want, "mine") && !errors.Is(err, mine) {
			t.Errorf("%v, want %s", err, want)
		}
		if v := o.Versions(); len(v) != 1 || v[0] != 1 {
			t.Error("versions", v)
		}
	}
}

// An AttrMap takes Go's own numbers, and refuses another kind of value.
func TestAttrMapKinds(t *testing.T) {
	o, _ := op.Lookup("Transpose")
	a := tensor.Arange[float32](0, 6, 1).Reshape(2, 3)
	out, err := o.Run(&op.Call{Inputs: []tensor.Any{a.Any()}, Attrs: op.AttrMap{"perm": []int{1, 0}}})
	if err != nil || fmt.Sprint(out[0].Shape()) != "[3 2]" {
		t.Error(out, err)
	}
	m := op.AttrMap{"i": 3, "f": 0.1, "fs": []float64{0.1, 2}, "s": "text"}
	if fs, ok := m.Floats("fs"); m.Int("i", 0) != 3 || m.Float("f", 0) != 0.1 || !ok || fs[0] != 0.1 || fs[1] != 2 {
		t.Error(m)
	}
	if _, err := o.Run(&op.Call{Inputs: []tensor.Any{a.Any()}, Attrs: op.AttrMap{"perm": "1, 0"}}); !errors.Is(err, tensor.ErrDType) ||
		err.Error() != `op.AttrMap: attribute "perm" is a string, and the operator asks for a list of integers` {
		t.Error(err)
	}
	for name, ask := range map[string]func(){"Int": func() { m.Int("f", 0) }, "Float": func() { m.Float("i", 0) }, "Ints": func() { m.Ints("i") }, "Floats": func() { m.Floats("s") },
		"large": func() { op.AttrMap{"f": 1e300}.Float("f", 0) }, "Str": func() { m.Str("i", "") }, "Strs": func() { m.Strs("s") }, "Tensor": func() { m.Tensor("s") }} {
		if err := tensor.Try(ask); !errors.Is(err, tensor.ErrDType) && name != "large" || !errors.Is(err, tensor.ErrValue) && name == "large" {
			t.Error(name, err)
		}
	}
}
