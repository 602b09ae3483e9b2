package onnx

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A CertificateError says the first thing in which a run here differs from a certificate.
type CertificateError struct {
	Run int // of the certificate, counted from 0
	Mismatch
}

func (e *CertificateError) Error() string {
	return fmt.Sprintf("onnx: the certificate doesn't hold here: run %d: %v", e.Run, &e.Mismatch.Difference)
}

// Certify runs the session on the inputs of a rule, or, where rule is nil, on the given ones, and returns the certificate of these
// runs: the digests of the model, the inputs, the results of all nodes, and the outputs. A program that has it calls CheckCertificate before it answers
// anyone. Certificate.Missed has the nodes that ran in none of the runs, as those of a branch. It fails for inputs that the model refuses, and
// for a rule that names other inputs than the model has, types of strings, or ranges without numbers.
func (s *Session) Certify(ctx context.Context, rule *receipt.Rule, inputs ...map[string]Value) (*receipt.Certificate, error) {
	if ctx == nil {
		return nil, noContext()
	}
	n, err := runsOf(rule, inputs)
	if err != nil {
		return nil, err
	}
	c := &receipt.Certificate{Rule: rule}
	ran := make(map[string]bool)
	for i := range n {
		in, err := s.inputsOf(rule, inputs, i)
		if err != nil {
			return nil, err
		}
		var r receipt.Receipt
		o := Options{Receipt: &r, ReceiptNodes: true, record: &recorder{ran: ran}}
		if _, err = s.RunValues(ctx, in, &o); err != nil {
			return nil, inRun(i, err)
		}
		c.Runs = append(c.Runs, r)
	}
	s.whole.c.all(func(b *compiled) bool {
		for i := range b.steps {
			st := &b.steps[i]
			if label := b.place + b.label(st); !ran[label] && !(st.node.Op == "Constant" && isDefault(st.node.Domain)) {
				c.Missed = append(c.Missed, label)
			}
		}
		return true
	})
	return c, nil
}

func inRun(run int, err error) error { return in(fmt.Sprintf("run %d", run), err) }

// CheckCertificate makes the runs of a certificate on this machine, on the inputs of its rule, or, where it has none, on the given ones. It
// returns nil where the weights, the graph, the inputs and the outputs are equal. A difference is a *CertificateError. It names the first node whose
// result differs, if one does where each node runs by itself. Other errors say why nothing can be decided, as those of Verify do. The
// session has to be of the certificate's mode. Each call of the session's methods has the bits that this one saw.
func (s *Session) CheckCertificate(ctx context.Context, c *receipt.Certificate, inputs ...map[string]Value) error {
	if ctx == nil {
		return noContext()
	}
	if c == nil || len(c.Runs) == 0 {
		return failf("%w: there is no certificate with a run", tensor.ErrValue)
	}
	n, err := runsOf(c.Rule, inputs)
	if err != nil {
		return err
	}
	if n != len(c.Runs) {
		return failf("%w: the certificate is of %d runs, and there are inputs of %d", tensor.ErrValue, len(c.Runs), n)
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		if p := s.profile(); p.Mode != r.Profile.Mode || p.Fixed != r.Profile.Fixed {
			return failf("%w: the certificate is of runs in the mode %.40s, and the session's is %s", tensor.ErrValue, cmp.Or(r.Profile.Fixed, r.Profile.Mode), cmp.Or(p.Fixed, p.Mode))
		}
		in, err := s.inputsOf(c.Rule, inputs, i)
		if err != nil {
			return err
		}
		d, err := s.c.m.isOf(r, in, s.digests)
		if d == nil && err == nil {
			d, err = s.holds(ctx, r, in)
		}
		if err != nil {
			return inRun(i, err)
		}
		if d != nil {
			return &CertificateError{i, *d}
		}
	}
	return nil
}

// holds compares the outputs of a run as any caller makes it, and looks for the first node only where they differ.
func (s *Session) holds(ctx context.Context, r *receipt.Receipt, inputs map[string]Value) (*Mismatch, error) {
	plain := *r
	plain.Nodes = nil
	d, err := s.verify(ctx, &plain, inputs, Options{})
	if d == nil || err != nil || len(r.Nodes) == 0 {
		return d, err
	}
	first, err := s.verify(ctx, r, inputs, Options{})
	return cmp.Or(first, d), err
}

// runsOf returns the number of runs of a rule or of given inputs.
func runsOf(rule *receipt.Rule, inputs []map[string]Value) (int, error) {
	switch {
	case rule == nil && len(inputs) == 0:
		return 0, failf("%w: there are neither inputs nor a rule that makes them", tensor.ErrValue)
	case rule == nil:
		return len(inputs), nil
	case len(inputs) > 0:
		return 0, failf("%w: the rule makes the inputs, and there are given ones", tensor.ErrValue)
	case rule.Runs < 1 || rule.Runs > receipt.MaxNodes || rule.Seed < 0 || rule.Seed >= 1<<53:
		return 0, failf("%w: the rule has the seed %d and %d runs; want a seed from 0 to 2^53 - 1, and 1 to %d runs", tensor.ErrValue, rule.Seed, rule.Runs, receipt.MaxNodes)
	}
	return int(rule.Runs), nil
}

// inputsOf returns the inputs of a run.
func (s *Session) inputsOf(rule *receipt.Rule, inputs []map[string]Value, run int) (map[string]Value, error) {
	if rule == nil {
		return inputs[run], nil
	}
	made := make(map[string]Value)
	for j := range rule.Inputs {
		x := &rule.Inputs[j]
		a, err := drawInput(x, uint32(j), uint32(run), rule.Seed)
		if err != nil {
			return nil, in(fmt.Sprintf("the rule's input %q", x.Name), err)
		}
		made[x.Name] = TensorValue(a)
	}
	return made, nil
}

// mostDrawn is the most elements of an input that a rule makes.
const mostDrawn = 1 << 28

// drawInput returns the tensor that a rule makes, as receipt.Rule says.
func drawInput(x *receipt.Range, input, run uint32, seed int64) (tensor.Any, error) {
	d, shape, err := typed(x.Type)
	if err != nil {
		return tensor.Any{}, err
	}
	n := 1
	for _, e := range shape {
		if e > 0 && n > mostDrawn/e {
			return tensor.Any{}, failf("%w: it has more than %d elements", tensor.ErrShape, mostDrawn)
		}
		n *= e
	}
	word := func(k int) uint64 {
		w := float.Philox4x32([4]uint32{uint32(k), uint32(uint64(k) >> 32), input, run}, [2]uint32{uint32(seed), uint32(seed >> 32)})
		return uint64(w[0]) | uint64(w[1])<<32
	}
	switch {
	case d == dtype.Bool && x.From == "" && x.To == "":
		t := tensor.New[bool](shape...)
		for k := range t.Elems() {
			t.Elems()[k] = word(k)&1 == 1
		}
		return t.Any(), nil
	case d.IsInteger():
		from, err := strconv.ParseInt(x.From, 10, 64)
		to, wrong := strconv.ParseInt(x.To, 10, 64)
		if err != nil || wrong != nil || from >= to || strconv.FormatInt(from, 10) != x.From || strconv.FormatInt(to, 10) != x.To {
			return tensor.Any{}, failf("%w: it is from %.30q to %.30q; want two integers, the second above the first", tensor.ErrValue, x.From, x.To)
		}
		t := tensor.New[int64](shape...)
		for k := range t.Elems() {
			hi, _ := bits.Mul64(word(k), uint64(to)-uint64(from))
			t.Elems()[k] = int64(uint64(from) + hi)
		}
		return within(t.Any(), d)
	case d.IsFloat():
		from, err := strconv.ParseFloat(x.From, 64)
		to, wrong := strconv.ParseFloat(x.To, 64)
		if err != nil || wrong != nil || !(from <= to) || math.IsInf(to-from, 0) || strconv.FormatFloat(from, 'g', -1, 64) != x.From || strconv.FormatFloat(to, 'g', -1, 64) != x.To {
			return tensor.Any{}, failf("%w: it is from %.30q to %.30q; want two finite numbers as Go writes a float64, the second not below the first", tensor.ErrValue, x.From, x.To)
		}
		t := tensor.New[float64](shape...)
		for k := range t.Elems() {
			t.Elems()[k] = from + float64((to-from)*(float64(word(k)>>11)*0x1p-53))
		}
		return converted(t.Any(), d)
	}
	return tensor.Any{}, failf("%w: a rule makes bools, integers and floats, not %v", tensor.ErrDType, d)
}

// within converts integers, and fails where the type doesn't hold one.
func within(a tensor.Any, d dtype.DType) (tensor.Any, error) {
	out, err := converted(a, d)
	if err != nil {
		return out, err
	}
	back, err := converted(out, dtype.Int64)
	if err != nil {
		return out, err
	}
	x, _ := tensor.As[int64](a)
	y, _ := tensor.As[int64](back)
	if !slices.Equal(x.Elems(), y.Elems()) {
		return out, failf("%w: the range isn't within %v", tensor.ErrValue, d)
	}
	return out, nil
}

// typed reads an element type and a shape, as float32[2,3].
func typed(text string) (dtype.DType, []int, error) {
	name, rest, ok := strings.Cut(text, "[")
	list, end := strings.CutSuffix(rest, "]")
	d, err := dtype.Parse(name)
	if err != nil || !ok || !end {
		return d, nil, failf("%w: its type is %.100q; want one as float32[2,3]", tensor.ErrValue, text)
	}
	shape := []int{}
	for _, e := range strings.Split(list, ",") {
		if list == "" {
			break
		}
		n, err := strconv.Atoi(e)
		if err != nil || n < 0 {
			return d, nil, failf("%w: its type is %.100q; want one as float32[2,3]", tensor.ErrValue, text)
		}
		shape = append(shape, n)
	}
	return d, shape, nil
}
