package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/internal/classes"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// A difference is one call of diff.
type difference struct {
	p      *program
	inputs []string // -i
	pics   pictureFlags
	tol    tensortest.Tolerance
	top    int
	values bool // --values

	swapped         bool // b is the model that runs
	tensors, differ int
	failed          failures          // about arrays that can't be compared
	largest         tensortest.Report // of the tolerated differences
}

// A side is the tensors of a file in a comparison.
type side struct {
	file  string
	names []string // nil: a single tensor
	read  func(name string) (tensor.Any, error)
	owned bool // nobody else has the tensor that read returns
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

func (d *difference) run(a, b string) error {
	x, err := d.side(a)
	if err != nil {
		return err
	}
	y, err := d.side(b)
	if err != nil {
		return err
	}
	if x.names == nil || y.names == nil || len(x.names) == 1 && len(y.names) == 1 {
		err = d.single(x, y)
	} else {
		err = d.named(x, y)
	}
	if err != nil {
		return err
	}
	return d.verdict()
}

// verdict says at the end whether all tensors are the same.
func (d *difference) verdict() error {
	out := d.p.out
	if d.differ > 0 {
		if d.tensors > 1 {
			fmt.Fprintf(out, "%d of %d tensors differ\n", d.differ, d.tensors)
		}
		return append(failures{}, d.failed...) // without any nothing went wrong, but the exit code is 1
	}
	text := "the same"
	if d.tensors != 1 {
		text = fmt.Sprintf("%d tensors, the same", d.tensors)
	}
	if d.largest.MaxAbs > 0 {
		text += " within the tolerance: " + largest(d.largest)
	}
	if d.tensors > 0 || d.failed == nil {
		fmt.Fprintln(out, text)
	}
	if d.failed != nil {
		return d.failed
	}
	return nil
}

// side opens a file.
func (d *difference) side(arg string) (side, error) {
	s, err := d.p.open(arg)
	if err != nil {
		return side{}, err
	}
	return d.sideOf(s, arg)
}

func (d *difference) sideOf(s *source, arg string) (side, error) {
	if s.array != "" || !s.isModel() && !s.several() {
		return side{file: arg, read: func(string) (tensor.Any, error) { return d.p.tensor(s) }}, nil
	}
	f, err := d.p.file(s)
	if err != nil {
		return side{}, err
	}
	names := f.Names()
	if names == nil {
		names = []string{}
	}
	return side{file: arg, names: names, owned: s.is("npz"), read: func(name string) (tensor.Any, error) { return s.values(f, name) }}, nil
}

// only reads the one tensor of a file.
func (s side) only() (tensor.Any, error) {
	switch {
	case s.names == nil:
		return s.read("")
	case len(s.names) != 1:
		return tensor.Any{}, fmt.Errorf("%s: it has %d arrays%s; name one: %s#NAME", s.file, len(s.names), listed(s.names), s.file)
	}
	return s.read(s.names[0])
}

// single compares two files of a tensor each.
func (d *difference) single(x, y side) error {
	a, err := x.only()
	if err != nil {
		return err
	}
	b, err := y.only()
	if err != nil {
		return err
	}
	return d.compare("", a, b)
}

// named compares the tensors of two files by name, and says which one of them lacks.
func (d *difference) named(x, y side) error {
	inX, inY := set(x.names), set(y.names)
	for _, name := range x.names {
		if !inY[name] {
			d.only(name, x.file)
			continue
		}
		a, err := x.read(name)
		var b tensor.Any
		if err == nil {
			b, err = y.read(name)
		}
		if noTensor(err) {
			d.failed = append(d.failed, err)
			continue
		}
		if err != nil {
			return err
		}
		if err := d.compare(label(name)+": ", a, b); err != nil {
			return err
		}
		for i, t := range []tensor.Any{a, b} { // arrays of an npz are memory of their own
			if []side{x, y}[i].owned {
				t.Close()
			}
		}
	}
	for _, name := range y.names {
		if !inX[name] {
			d.only(name, y.file)
		}
	}
	return nil
}

func (d *difference) only(name, file string) {
	d.tensors++
	d.differ++
	fmt.Fprintf(d.p.out, "%s: only in %s\n", label(name), label(file))
}

// compare prints how two tensors differ.
func (d *difference) compare(name string, a, b tensor.Any) error {
	d.tensors++
	out := d.p.out
	x, y := tensor.Describe(a), tensor.Describe(b)
	if a.DType() != b.DType() && (d.values || a.DType().IsFixed() || b.DType().IsFixed()) {
		a, b = d.wide(a), d.wide(b)
	}
	if tensor.Describe(a) != tensor.Describe(b) {
		d.differ++
		hint := ""
		floats := func(t tensor.Any) bool { return t.DType().IsFloat() && t.DType().Size() > 1 }
		if !d.values && slices.Equal(a.Shape(), b.Shape()) && floats(a) && floats(b) {
			hint = "; --values compares the numbers"
		}
		fmt.Fprintf(out, "%s%s and %s%s\n", name, x, y, hint)
		return nil
	}
	r, err := tensortest.Compare(a, b, d.tol, d.top)
	if err != nil {
		return err
	}
	if r.Differ == 0 {
		l := &d.largest
		l.MaxAbs, l.MaxRel, l.MaxULP = max(l.MaxAbs, r.MaxAbs), max(l.MaxRel, r.MaxRel), max(l.MaxULP, r.MaxULP)
		return nil
	}
	d.differ++
	fmt.Fprintf(out, "%s%s: %d of %d elements differ, %s\n", name, tensor.Describe(a), r.Differ, r.Len, largest(r))
	for _, e := range r.Largest {
		index := strings.ReplaceAll(fmt.Sprint(e.Index), " ", ",")
		fmt.Fprintf(out, "  %s  %v  %v  abs %s\n", index, e.A, e.B, number(e.Abs))
	}
	return nil
}

// wide returns floats and fixed point as float64, and other tensors as they are.
func (d *difference) wide(t tensor.Any) tensor.Any {
	v, ok := classes.Floats(t)
	if !ok {
		return t
	}
	return tensor.FromSlice(v, t.Shape()...).Any()
}

// largest writes the largest differences of a tensor.
func largest(r tensortest.Report) string {
	ulp := strconv.FormatUint(r.MaxULP, 10)
	if r.MaxULP == math.MaxUint64 {
		ulp = "inf"
	}
	return fmt.Sprintf("at most abs %s, rel %s, ulp %s", number(r.MaxAbs), number(r.MaxRel), ulp)
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
