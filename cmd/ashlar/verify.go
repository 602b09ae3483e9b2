package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// A verification is one call of verify.
type verification struct {
	p       *program
	model   string
	node    string
	named   []string // -i
	pics    pictureFlags
	threads int
}

func (p *program) verifyCommand() *cobra.Command {
	v := &verification{p: p}
	c := &cobra.Command{
		Use:   "verify RECEIPT [INPUT...]",
		Short: "Run a model again and compare with a receipt",
		Long: `Verify runs a model on inputs, and compares the digests of weights, inputs and
outputs with RECEIPT. ashlar run --receipt wrote that on any machine. Where the receipt has the nodes, their results are compared, too.
It prints the first difference, with the values of this run. Inputs are given as
for run. A receipt names no files, and none is opened for it.

RECEIPT may be a certificate, which ashlar certify wrote. Then its runs are made,
on inputs of its rule.

--node runs one node alone. INPUT is then a file of the values that the node reads,
by name. ashlar run writes them to the file of --all if --receipt-nodes is given,
too. Inputs of the model are given by -i. --node takes the name of the node, or of
one of its results.

It exits with 0 if all is equal, with 1 if something differs, and with 2 if that
can't be decided: without a model, for a receipt of other rules, or where the model
has no weight, input or output that the receipt names.`,
		Example: `  ashlar verify r.json --model testdata/digits.onnx testdata/seven.png
  ashlar verify r.json --model model.onnx -i pixels=photo.jpg
  ashlar verify r.json --model model.onnx --node relu2 results.npz`,
		Args: arguments(1, -1, "a receipt and the inputs of the run"),
	}
	f := c.Flags()
	f.StringVar(&v.model, "model", "", "the `file` of the model")
	f.StringVar(&v.node, "node", "", "verify one node, by its `name`")
	f.StringArrayVarP(&v.named, "input", "i", nil, "give an input by name: `name=file`")
	v.pics.register(c)
	p.soundFlags(c)
	f.Var(&p.limit, "max-memory", "refuse a run that needs more memory for weights and results: 2GiB, 500MB or none (default 4GiB)")
	f.IntVar(&v.threads, "threads", 0, "compute with `N` threads (default: all)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if v.threads < 0 || v.threads > mostThreads {
			return usagef(c, "--threads can't be %d", v.threads)
		}
		if err := v.pics.check(p); err != nil {
			return err
		}
		b, err := p.readObject(args[0])
		if err != nil {
			return &undecided{fmt.Errorf("%s: %w", args[0], disk.Bare(err))}
		}
		if isCertificate(b) {
			return v.certificate(c.Context(), args[0], b, args[1:])
		}
		d, s, r, err := v.run(c.Context(), args[0], b, args[1:])
		if err != nil {
			return &undecided{err}
		}
		if d == nil {
			what := r.String()
			if v.node != "" {
				what = "the node " + label(v.node)
			}
			fmt.Fprintf(p.out, "%s: equal: %s of %s, root %v\n", label(args[0]), what, label(s.name), r.Root())
			return nil
		}
		err = p.differs(args[0], &d.Difference, "receipt", "here")
		switch t := d.Value.Tensor(); {
		case !t.IsZero():
			fmt.Fprintf(p.out, "here it is %s\n%v\n", tensor.Describe(t), t)
		case holdsText(d.Value):
			p.printText(d.Value)
		}
		return err
	}
	return c
}

// run returns the first difference, nil if there is none.
func (v *verification) run(ctx context.Context, file string, b []byte, files []string) (d *onnx.Mismatch, s *source, r *receipt.Receipt, err error) {
	p := v.p
	if r, err = receipt.Parse(b); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if r.Kind == receipt.Plan {
		return nil, nil, nil, fmt.Errorf("%s: it is of a computation over arrays: compute again with --receipt, and compare the two with ashlar diff", file)
	}
	if v.model == "" {
		if wrong := r.Check(); wrong != nil {
			return &onnx.Mismatch{Difference: *wrong}, nil, r, nil
		}
		return nil, nil, nil, fmt.Errorf("%s: its roots are those of its contents: %s; to run it again give --model and the inputs", file, r)
	}
	s, m, err := p.openModel(v.model)
	if err != nil {
		return nil, nil, nil, err
	}
	var given map[string]onnx.Value
	if v.node != "" {
		given, err = v.values(s, m, files)
	} else {
		var in *inputs
		if in, err = p.gather(m, s.name, files, v.named, &v.pics); err == nil {
			given = in.given()
		}
	}
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	bar, done := p.progress()
	defer done()
	o := onnx.Options{MaxMemory: int64(p.limit), Threads: v.threads, Progress: bar}
	if v.node != "" {
		d, err = onnx.VerifyNode(ctx, m, r, v.node, given, &o)
	} else {
		d, err = onnx.Verify(ctx, m, r, given, &o)
	}
	return d, s, r, s.in(err)
}

// values reads the values of files, by name; values of -i come before.
func (v *verification) values(model *source, m *onnx.Model, files []string) (map[string]onnx.Value, error) {
	given := make(map[string]onnx.Value)
	for _, file := range files {
		s, err := v.p.open(file)
		if err != nil {
			return nil, err
		}
		f, err := v.p.file(s)
		if err != nil {
			return nil, err
		}
		for _, name := range f.Names() {
			t, err := s.values(f, name)
			if err != nil {
				return nil, err
			}
			given[name] = onnx.TensorValue(t)
		}
	}
	in := &inputs{p: v.p, m: m, model: model.name, pics: &v.pics, values: make(map[string]*value)}
	for _, arg := range v.named {
		name, file, err := in.named(arg)
		if err != nil {
			return nil, err
		}
		s, err := v.p.open(file)
		if err == nil {
			err = in.give(name, s, file)
		}
		if x := in.values[name]; err == nil && x.pictures != nil {
			x.tensor, err = v.pics.batch(v.p, model.name, in.info(name), x.pictures)
		}
		if err != nil {
			return nil, err
		}
	}
	for name, value := range in.given() {
		given[name] = value
	}
	return given, nil
}

// certificate is verify for a certificate.
func (v *verification) certificate(ctx context.Context, file string, b []byte, files []string) error {
	p := v.p
	c, err := receipt.ParseCertificate(b)
	if err != nil {
		return &undecided{fmt.Errorf("%s: %w", file, err)}
	}
	if v.model == "" || v.node != "" {
		return &undecided{fmt.Errorf("%s: it is a certificate of %s: give --model, and no --node", file, counted(len(c.Runs), "run"))}
	}
	s, m, err := p.openModel(v.model)
	if err != nil {
		return &undecided{err}
	}
	var given []map[string]onnx.Value
	if c.Rule == nil || len(files)+len(v.named) > 0 {
		in, err := p.gather(m, s.name, files, v.named, &v.pics)
		if err != nil {
			return &undecided{err}
		}
		given = append(given, in.given())
	}
	profile := c.Runs[0].Profile
	session, err := p.session(m, &runFlags{integers: profile.Mode == receipt.Integers, fixed: profile.Fixed, fixedGiven: profile.Fixed != ""})
	if err == nil {
		err = session.CheckCertificate(ctx, c, given...)
	}
	var wrong *onnx.CertificateError
	switch {
	case errors.As(err, &wrong):
		return p.differs(fmt.Sprintf("%s: run %d", file, wrong.Run), &wrong.Difference, "certificate", "here")
	case err != nil:
		return &undecided{s.in(err)}
	}
	fmt.Fprintf(p.out, "%s: equal: %s of %s, %s\n", label(file), counted(len(c.Runs), "run"), label(s.name), &c.Runs[0])
	return nil
}
