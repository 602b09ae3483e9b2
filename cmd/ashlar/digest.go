package main

import (
	"fmt"

	"github.com/ashlar-go/ashlar/tensor"
)

// printDigest prints a line of a digest, a type and a name. Of a packed tensor it is that of the numbers it stands for.
func (p *program) printDigest(t tensor.Any, name string) error {
	t, err := unpacked(t)
	if err != nil {
		return err
	}
	d, err := tensor.Digest(t)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%x  %s  %s\n", d, tensor.Describe(t), label(name))
	return nil
}

// printDigests prints a line for each tensor of a file, and before them one for a model.
func (p *program) printDigests(s *source) error {
	if s.isModel() {
		m, err := p.model(s)
		if err != nil {
			return err
		}
		d, err := m.Digests()
		if err != nil {
			return s.in(err)
		}
		fmt.Fprintf(p.out, "%v  model  %s\n", d.Digest(), label(s.name))
		for _, w := range d.Weights {
			fmt.Fprintf(p.out, "%v  %s  %s#%s\n", w.Digest, label(w.Type), label(s.name), label(w.Name))
		}
		return nil
	}
	if !s.several() {
		t, err := p.tensor(s)
		if err == nil {
			err = s.in(p.printDigest(t, s.name))
		}
		return err
	}
	f, err := p.file(s)
	if err != nil {
		return err
	}
	names := f.Names()
	if err := p.within(s, f, names, nil); err != nil {
		return err
	}
	var failed failures
	for _, name := range names {
		t, err := f.Tensor(name)
		if err == nil {
			err = p.printDigest(t, s.name+"#"+name)
		}
		if err != nil {
			failed = append(failed, s.in(err))
		}
	}
	if len(failed) > 0 {
		return failed
	}
	return nil
}
