package onnx

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sampled returns a receipt's entry for tokens that a program drew by a model's outputs, for its field Sampling. It is the
// SHA-256 of the settings, a text of the program's own, and the digest of the tokens as a tensor int64[n]. The program that verifies
// such a receipt draws again, and compares by receipt.Compare; Verify can't.
func Sampled(settings string, tokens ...int64) *receipt.Sampling {
	d, _ := tensor.Digest(tensor.FromSlice(tokens, len(tokens)).Any()) // only closed tensors and descriptions have none
	return &receipt.Sampling{Settings: sha256.Sum256([]byte(settings)), Tokens: d}
}

// A writer fills in the receipt of a run.
type writer struct {
	s      *Session
	to     *receipt.Receipt
	inputs chan error // gets the error of hashing the inputs; nil afterwards
}

// beside runs f, which may read mapped memory, in another goroutine if the run has a second thread, else at once. It sends the
// error of f.
func beside(ctx context.Context, f func() error) chan error {
	done := make(chan error, 1)
	if op.Threads(ctx) > 1 {
		go func() { done <- ram.Guard(f) }()
	} else {
		done <- ram.Guard(f)
	}
	return done
}

// digests returns the digests of the model, which are computed once.
func (s *Session) digests() (receipt.Program, error) {
	s.names.Do(func() { s.program, s.why = s.c.m.Digests() })
	return s.program, s.why
}

// receipt begins the receipt of a run on inputs, which are hashed beside it: see close.
func (s *Session) receipt(ctx context.Context, to *receipt.Receipt, inputs map[string]Value) (*writer, error) {
	*to = receipt.Receipt{}
	if _, err := s.digests(); err != nil {
		return &writer{s: s, to: to}, err
	}
	p := s.profile()
	for _, o := range s.c.m.Opsets {
		p.Opsets = append(p.Opsets, receipt.Opset{Domain: domainOf(o.Domain), Version: max(o.Version, 0)})
	}
	slices.SortStableFunc(p.Opsets, func(a, b receipt.Opset) int { return cmp.Compare(a.Domain, b.Domain) })
	*to = receipt.Receipt{Kind: receipt.Model, Rules: receipt.Rules, Program: s.program, Profile: p}
	s.c.all(func(b *compiled) bool {
		for i := range b.steps {
			if st := &b.steps[i]; st.own {
				to.Profile.Operators = append(to.Profile.Operators, opName(st.node.Domain, st.node.Op))
			} else if o := b.ops[i]; o != nil && slices.Contains(o.Attributes(), "seed") {
				to.Seeds = append(to.Seeds, seedIn(st.node, b.place+b.label(st)))
			}
		}
		return true
	})
	slices.Sort(to.Profile.Operators)
	to.Profile.Operators = slices.Compact(to.Profile.Operators)
	var list []Value
	for i := range s.c.g.Inputs {
		if v, ok := inputs[s.c.g.Inputs[i].Name]; ok && counts(&v) {
			list = append(list, v)
			to.Inputs = append(to.Inputs, receipt.Item{Name: s.c.g.Inputs[i].Name, Type: v.String()})
		}
	}
	items := to.Inputs
	return &writer{s, to, beside(ctx, func() error {
		for i := range items {
			if err := digestInto(&items[i], &list[i]); err != nil {
				return in(fmt.Sprintf("input %q", items[i].Name), err)
			}
		}
		return nil
	})}, nil
}

// profile returns the mode of the session and its fixed-point format.
func (s *Session) profile() receipt.Profile {
	p := receipt.Profile{Mode: receipt.Exact}
	if s.integers {
		p.Mode = receipt.Integers
	}
	if s.fixed != dtype.Invalid {
		p.Fixed = s.fixed.String()
	}
	return p
}

// counts reports whether an input stands in a receipt. To give nothing is as to leave an optional input out.
func counts(v *Value) bool { return v.known() && v.seq != nothing }

func digestInto(item *receipt.Item, v *Value) (err error) {
	item.Digest, err = v.Digest()
	return err
}

// seedIn returns the seed of a node at a place.
func seedIn(n *Node, place string) receipt.Seed {
	if a := n.Attr("seed"); a != nil {
		switch v := a.Value.(type) {
		case float32:
			return receipt.Seed{Node: place, From: "attribute", Seed: strconv.FormatFloat(float64(v), 'g', -1, 32)}
		case int64:
			return receipt.Seed{Node: place, From: "attribute", Seed: strconv.FormatInt(v, 10)}
		}
	}
	return receipt.Seed{Node: place, From: "output name", Seed: strconv.FormatInt(seedOf(n), 10)}
}

// close waits for the inputs. The receipt is empty after an error, which comes before one about the inputs.
func (w *writer) close(err error) error {
	if w.inputs != nil {
		if late := <-w.inputs; err == nil {
			err = late
		}
		w.inputs = nil
	}
	if err != nil {
		*w.to = receipt.Receipt{}
	}
	return err
}

// outputs adds the outputs.
func (w *writer) outputs(out map[string]Value) error {
	seen := make(map[string]bool)
	for i := range w.s.c.g.Outputs {
		name := w.s.c.g.Outputs[i].Name
		v, ok := out[name]
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		item := receipt.Item{Name: name, Type: v.String()}
		if err := digestInto(&item, &v); err != nil {
			return w.close(in(fmt.Sprintf("output %q", name), err))
		}
		w.to.Outputs = append(w.to.Outputs, item)
	}
	return nil
}

// received computes the outputs, by a prepared run or not, and the receipt that o asks for.
func (s *Session) received(ctx context.Context, inputs map[string]Value, o Options, again bool) (out map[string]Value, err error) {
	w, err := s.receipt(ctx, o.Receipt, inputs)
	if err == nil {
		by := s
		switch {
		case !o.ReceiptNodes:
			o.record = nil
		case o.record == nil:
			o.record = new(recorder)
		}
		if o.record != nil {
			defer o.record.begin(ctx, o.Receipt)()
			s.parts.Do(func() { s.whole, s.noWhole = s.c.m.session(form{fixed: s.fixed, integers: s.integers, whole: true}) })
			by, err = s.whole, s.noWhole
		}
		done := false
		if err == nil && again {
			out, done, err = by.again(ctx, inputs, o)
		}
		if err == nil && !done {
			out, err = by.compute(ctx, inputs, o)
		}
	}
	if err = w.close(err); err == nil {
		err = w.outputs(out)
	}
	return out, err
}
