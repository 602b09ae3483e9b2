package op_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
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
		"panic":     {scaled(0, 0, lost), "its run panics: lost", tensor.ErrValue},
		"index":     {scaled(0, 0, func(c *op.Call) ([]tensor.Any, error) { return c.Inputs[9:], nil }), "its run panics: runtime error", tensor.ErrValue},
		"operand":   {scaled(0, 0, func(c *op.Call) ([]tensor.Any, error) { return give(c.Inputs[0].Reshape(7))(c) }), "its run panics: tensor.Reshape", tensor.ErrShape},
		"shape":     {scaled(0, 0, give(tensor.New[float32](3).Any())), "result 0 of its run is", tensor.ErrShape},
		"type":      {scaled(0, 0, give(tensor.New[int32](2).Any())), "result 0 of its run is", tensor.ErrShape},
		"absent":    {scaled(0, 0, give(tensor.Any{})), "result 0 of its run is", tensor.ErrShape},
		"none":      {scaled(0, 0, give()), "its run returns 0 results, its infer says 1", tensor.ErrShape},
		"memory":    {scaled(64, 65, same), "its run asks for 65 bytes, and has 64 of its Info.Scratch left", tensor.ErrMemory},
		"no memory": {scaled(-5, 1, same), "its run asks for 1 bytes, and has 0 of its Info.Scratch left", tensor.ErrMemory},
		"infer":     {op.New(op.Info{Name: "Scaled"}, lost, same), "its infer panics: lost", tensor.ErrValue},
		"price":     {op.New(op.Info{Name: "Scaled", FLOPs: func(*op.Call, []tensor.Any) int64 { panic("lost") }}, same, give(tensor.New[float32](2).Any())), "", nil},
	} {
		call := &op.Call{Inputs: []tensor.Any{tensor.New[float32](2).Any()}}
		check := func(how string, err error) {
			t.Helper()
			if c.is == nil && err != nil || c.is != nil && (!errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), "op.Scaled: "+c.want)) {
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
	if _, err := broken.Infer(&op.Call{Inputs: []tensor.Any{tensor.New[float32](2).Any()}}); err == nil || !strings.Contains(err.Error(), "op.Scaled: its FLOPs panics: lost") {
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
