package onnx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// digitsRule makes inputs of testdata/digits.onnx.
func digitsRule(runs int64) *receipt.Rule {
	return &receipt.Rule{Seed: 7, Runs: runs, Inputs: []receipt.Range{{Name: "image", Type: "float32[1,1,8,8]", From: "0", To: "1"}}}
}

func digitsSession(t *testing.T, make func(*Model) (*Session, error)) *Session {
	t.Helper()
	m, err := Open("../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	s, err := make(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A certificate holds in every session of its mode, and goes through a file unchanged. Its bits are the same on every machine.
func TestCertificate(t *testing.T) {
	ctx := context.Background()
	for name, make := range map[string]func(*Model) (*Session, error){"exact": NewSession, "integers": NewIntegerSession,
		"fixed": func(m *Model) (*Session, error) { return NewFixedSession(m, dtype.FP16x16) }} {
		s := digitsSession(t, make)
		c, err := s.Certify(ctx, digitsRule(4))
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := c.Encode()
		if err != nil {
			t.Fatal(name, err)
		}
		read, err := receipt.ParseCertificate(b)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(read.Runs) != 4 || len(read.Runs[3].Nodes) != 10 || read.Missed != nil || read.Runs[0].Root() == read.Runs[1].Root() {
			t.Errorf("%s: %d runs, %q never ran", name, len(read.Runs), read.Missed)
		}
		if name == "exact" {
			if got := read.Runs[3].Root().String(); got != "8bb4a20dfdc1d5475590556454e52385b5a4c78476dbab86fcafa8200a69dd31" {
				t.Errorf("the last run has the root %s", got)
			}
		}
		for other, make := range map[string]func(*Model) (*Session, error){"exact": NewSession, "integers": NewIntegerSession} {
			err := digitsSession(t, make).CheckCertificate(ctx, read)
			if other == name && err != nil || other != name && (err == nil || !strings.Contains(err.Error(), "in the mode")) {
				t.Errorf("%s in a session of %s: %v", name, other, err)
			}
		}
	}
}

// One other bit of any weight is found, and named. So is a node that computes something else.
func TestCertificateFinds(t *testing.T) {
	ctx := context.Background()
	c, err := digitsSession(t, NewSession).Certify(ctx, digitsRule(4))
	if err != nil {
		t.Fatal(err)
	}
	s := digitsSession(t, NewSession)
	for i := range s.c.m.Graph.Initializers {
		m, err := Open("../testdata/digits.onnx")
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		w := &m.Graph.Initializers[i]
		a, err := m.load(w)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := tensor.As[float32](a.Clone())
		last := b.Elems()
		last[len(last)-1] = -last[len(last)-1]
		if *w, err = NewTensorProto(w.Name, b.Any()); err != nil {
			t.Fatal(err)
		}
		changed, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		var e *CertificateError
		if err := changed.CheckCertificate(ctx, c); !errors.As(err, &e) || e.What != `weight "`+w.Name+`"` {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
	for i := range c.Runs { // as a machine whose second convolution is wrong sees it
		r := &c.Runs[i]
		r.Nodes[2].Results[0].Digest[5] ^= 1
		if i == 2 {
			r.Outputs[0].Digest[0] ^= 1
		}
	}
	var e *CertificateError
	if err := s.CheckCertificate(ctx, c); !errors.As(err, &e) || e.Run != 2 || !strings.Contains(e.Error(), `run 2: node 2 "conv2" (Conv, opset 13): result "conv2" differs`) {
		t.Errorf("%v", err)
	}
}

// A kernel that computes something else is found in each place of five models.
func TestCertificateOfKernels(t *testing.T) {
	ctx := context.Background()
	chain := func(ops ...string) *Model {
		b := NewBuilder("chain")
		x := b.Input("x", dtype.Float32, 3, 5)
		for i, name := range ops {
			in := []string{x}
			switch name {
			case "MatMul":
				in = append(in, b.Weight(fmt.Sprint("w", i), tensor.RandomNormal[float32](1, 0, 1, 5, 5).Any()))
			case "Add", "Mul", "Sub":
				in = append(in, b.Weight(fmt.Sprint("w", i), tensor.RandomNormal[float32](2, 0, 1, 5).Any()))
			}
			x = b.Node(name, in)
		}
		b.Output(x, dtype.Float32, "n", "m")
		m, err := b.Model(20)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	digits, err := Open("../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer digits.Close()
	small := &receipt.Rule{Seed: 1, Runs: 4, Inputs: []receipt.Range{{Name: "x", Type: "float32[3,5]", From: "-2", To: "2"}}}
	tried := 0
	for i, m := range []*Model{digits, chain("MatMul", "Relu", "MatMul", "Add", "Softmax"), chain("Sigmoid", "Mul", "Tanh", "Sub"), chain("MatMul", "Gelu", "Softmax"), chain("Exp", "ReduceMax", "Sqrt", "Neg")} {
		rule := small
		if i == 0 {
			rule = digitsRule(4)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Certify(ctx, rule)
		if err != nil {
			t.Fatal(err)
		}
		for k, o := range s.c.ops {
			other, err := NewSession(m)
			if err != nil {
				t.Fatal(err)
			}
			if o == nil {
				continue
			}
			other.c.ops[k] = op.New(op.Info{Name: o.Name()}, o.Infer, func(c *op.Call) ([]tensor.Any, error) {
				out, err := o.Run(c)
				if err == nil {
					x, _ := tensor.As[float32](out[0].Clone())
					x.Elems()[x.Len()-1] += 0.125
					out[0] = x.Any()
				}
				return out, err
			})
			var e *CertificateError
			if err := other.CheckCertificate(ctx, c); !errors.As(err, &e) || !strings.Contains(e.What, "output") {
				t.Errorf("model %d, step %d, %s: %v", i, k, o.Name(), err)
			}
			tried++
		}
	}
	if tried < 10 {
		t.Errorf("%d kernels", tried)
	}
}

// Nodes of a branch that no run takes are named.
func TestCertificateMissed(t *testing.T) {
	m := variedModel()
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	x := func(b bool) map[string]Value {
		return map[string]Value{"x": TensorValue(tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2).Any()), "s": TensorValue(tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2).Any()),
			"c": TensorValue(tensor.Scalar(b).Any())}
	}
	c, err := s.Certify(context.Background(), nil, x(true), x(true))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Missed) != 1 || !strings.Contains(c.Missed[0], "Exp") {
		t.Errorf("%q never ran", c.Missed)
	}
	if err := s.CheckCertificate(context.Background(), c, x(true), x(true)); err != nil {
		t.Error(err)
	}
	if c, err = s.Certify(context.Background(), nil, x(true), x(false)); err != nil || len(c.Missed) != 0 {
		t.Errorf("%v, %q never ran", err, c.Missed)
	}
}

func TestCertificateErrors(t *testing.T) {
	ctx := context.Background()
	s := digitsSession(t, NewSession)
	with := func(change func(r *receipt.Rule)) *receipt.Rule {
		r := digitsRule(1)
		change(r)
		return r
	}
	for want, rule := range map[string]*receipt.Rule{
		"neither inputs nor a rule": nil,
		"0 runs":                    with(func(r *receipt.Rule) { r.Runs = 0 }),
		"seed -1":                   with(func(r *receipt.Rule) { r.Seed = -1 }),
		`the rule's input "image": value: it is from "1" to "0"`: with(func(r *receipt.Rule) { r.Inputs[0].From, r.Inputs[0].To = "1", "0" }),
		`it is from "0" to "NaN"`:                                with(func(r *receipt.Rule) { r.Inputs[0].To = "NaN" }),
		`it is from "0" to "1e400"`:                              with(func(r *receipt.Rule) { r.Inputs[0].To = "1e400" }),
		`it is from "00" to "1"`:                                 with(func(r *receipt.Rule) { r.Inputs[0].From = "00" }),
		`its type is "float32[1"`:                                with(func(r *receipt.Rule) { r.Inputs[0].Type = "float32[1" }),
		`its type is "string[2]"`:                                with(func(r *receipt.Rule) { r.Inputs[0].Type = "string[2]" }),
		"more than 268435456 elements":                           with(func(r *receipt.Rule) { r.Inputs[0].Type = "float32[1000000,1000000]" }),
		`input "image"`:                                          with(func(r *receipt.Rule) { r.Inputs[0].Type = "int64[1,1,8,8]"; r.Inputs[0].To = "9" }),
		"the range isn't within int8": with(func(r *receipt.Rule) {
			r.Inputs[0] = receipt.Range{Name: "image", Type: "int8[64]", From: "0", To: "300"}
		}),
		`no value for`: with(func(r *receipt.Rule) { r.Inputs = nil }),
	} {
		if _, err := s.Certify(ctx, rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c, err := s.Certify(ctx, digitsRule(1))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.CheckCertificate(ended, c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for want, check := range map[string]func() error{
		"no certificate with a run": func() error { return s.CheckCertificate(ctx, nil) },
		"there are given ones":      func() error { return s.CheckCertificate(ctx, c, nil) },
		"the context is nil":        func() error { var none context.Context; return s.CheckCertificate(none, c) },
		"version 2 of the rules": func() error {
			o := *c
			o.Runs = []receipt.Receipt{c.Runs[0]}
			o.Runs[0].Rules = 2
			return s.CheckCertificate(ctx, &o)
		},
	} {
		if err := check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
