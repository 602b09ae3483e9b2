package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// A certification is one call of certify.
type certification struct {
	p      *program
	run    runFlags
	info   infoFlags
	ranges []string // --range
	runs   int64
	seed   int64
	all    bool
	pics   pictureFlags
	named  []string // -i
}

func (p *program) certifyCommand() *cobra.Command {
	v := &certification{p: p}
	c := &cobra.Command{
		Use:   "certify MODEL CERTIFICATE.json [INPUT...]",
		Short: "Write a certificate by which others check their machine",
		Long: `Certify runs a model and writes a certificate: the digests of the model, of the
inputs, of the results of all nodes, and of the outputs. With --certificate, ashlar
serve and ashlar run make these runs again before anything else. If one differs,
they end with an error that names the first node that does. ashlar verify makes
them alone.

The inputs come from a rule, which the certificate holds: numbers at random, the
same on every machine. Floats are from 0 to 1 and integers 0 or 1; --range gives
others. --shape gives sizes that the model leaves open. Or INPUT and -i give the
inputs of one run, as for run. Who checks the certificate needs them too.

Certify names the nodes that ran in no run, as in a branch. With --all-nodes that
is an error, and nothing is written.`,
		Example: `  ashlar certify testdata/digits.onnx digits.json --shape image=1x1x8x8
  ashlar certify encoder.onnx certificate.json --inputs 4 --shape ids=1x128 --range ids=0:30522
  ashlar serve --certificate certificate.json encoder.onnx`,
		Args: arguments(2, -1, "a model and the file to write"),
	}
	f := c.Flags()
	f.Int64Var(&v.runs, "inputs", 4, "make `N` runs")
	f.Int64Var(&v.seed, "seed", 0, "the seed of the rule, from 0 to 2^53 - 1")
	f.StringArrayVar(&v.ranges, "range", nil, "the numbers of an input: `name=FROM:TO`, integers below TO")
	f.StringArrayVar(&v.info.shapes, "shape", nil, "the sizes of an input: `name=1x3x224x224`")
	f.StringArrayVarP(&v.named, "input", "i", nil, "give an input by name: `name=file`")
	f.BoolVar(&v.all, "all-nodes", false, "refuse where a node never ran")
	f.BoolVar(&v.run.integers, "integers", false, "run operators between DequantizeLinear and QuantizeLinear nodes on the integers, as ashlar run does")
	f.StringVar(&v.run.fixed, "fixed", "", "compute in a fixed-point `format`, as ashlar run does")
	v.pics.register(c)
	p.soundFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		v.run.fixedGiven = c.Flags().Changed("fixed")
		if v.run.integers && v.run.fixedGiven {
			return usagef(c, "--integers and --fixed are two ways to run a model: leave one out")
		}
		if err := p.endsIn(".json", "CERTIFICATE", args[1]); err != nil {
			return err
		}
		if err := v.pics.check(p); err != nil {
			return err
		}
		return v.write(c.Context(), args[0], args[1], args[2:])
	}
	return c
}

func (v *certification) write(ctx context.Context, model, file string, files []string) error {
	p := v.p
	s, m, err := p.openModel(model)
	if err != nil {
		return err
	}
	session, err := p.session(m, &v.run)
	if err != nil {
		return s.in(err)
	}
	var rule *receipt.Rule
	var given []map[string]onnx.Value
	if len(files)+len(v.named) > 0 {
		in, err := p.gather(m, s.name, files, v.named, &v.pics)
		if err != nil {
			return err
		}
		given = append(given, in.given())
	} else if rule, err = v.rule(s, m); err != nil {
		return err
	}
	c, err := session.Certify(ctx, rule, given...)
	if err != nil {
		return s.in(err)
	}
	if v.all && len(c.Missed) > 0 {
		return fmt.Errorf("%s: %s ran in no run%s", s.name, counted(len(c.Missed), "node"), listed(c.Missed))
	}
	b, err := c.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	err = p.writeTo(file, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s: %s of %s, %s\n", label(file), counted(len(c.Runs), "run"), label(s.name), &c.Runs[0])
	if len(c.Missed) > 0 {
		fmt.Fprintf(p.out, "nodes that ran in no run: %d%s\n", len(c.Missed), listed(c.Missed))
	}
	return nil
}

// rule returns the rule that the flags describe.
func (v *certification) rule(s *source, m *onnx.Model) (*receipt.Rule, error) {
	sizes, err := v.p.sizes(s, m, &v.info)
	if err != nil {
		return nil, err
	}
	r := &receipt.Rule{Seed: v.seed, Runs: v.runs}
	for _, in := range m.Inputs() {
		x := receipt.Range{Name: in.Name, From: "0", To: "1"}
		d, ok := in.Type.Elem.DType()
		spec := sizes[in.Name]
		if shape, fixed := fixedShape(&in.Type); spec.IsZero() && ok && fixed {
			made, err := tensor.NewSpec(d, shape...)
			if err != nil {
				return nil, fmt.Errorf("%s: input %q: %w", s.name, in.Name, err)
			}
			spec = made.Any()
		}
		switch {
		case !ok || in.Type.Kind != onnx.KindTensor:
			return nil, fmt.Errorf("%s: input %q is %v: a rule makes tensors of numbers; INPUT and -i give others", s.name, in.Name, in.Type)
		case spec.IsZero():
			return nil, fmt.Errorf("%s: input %q is %v, with sizes that the model leaves open: --shape %s=… gives them", s.name, in.Name, in.Type, in.Name)
		case d.IsInteger():
			x.To = "2"
		case !d.IsFloat():
			x.From, x.To = "", ""
		}
		x.Type = tensor.Describe(spec)
		r.Inputs = append(r.Inputs, x)
	}
	for _, text := range v.ranges {
		name, bounds, ok := strings.Cut(text, "=")
		from, to, both := strings.Cut(bounds, ":")
		if !ok || !both {
			return nil, v.p.usagef("--range %s: want name=FROM:TO", text)
		}
		found := false
		for i := range r.Inputs {
			if x := &r.Inputs[i]; x.Name == name {
				x.From, x.To, found = bound(from), bound(to), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: --range %s: there is no input %q", s.name, text, name)
		}
	}
	return r, nil
}

// bound returns a number as a rule has it; other texts stay, and are refused there.
func bound(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return text
}

// fixedShape returns the shape of an input whose sizes the model fixes.
func fixedShape(t *onnx.Type) (shape []int, ok bool) {
	for _, d := range t.Shape {
		if d.Value < 0 || int64(int(d.Value)) != d.Value {
			return nil, false
		}
		shape = append(shape, int(d.Value))
	}
	return shape, t.HasShape
}

// certified checks a session by the certificate in a file, unless that is empty.
func (p *program) certified(ctx context.Context, session *onnx.Session, file string) error {
	if file == "" {
		return nil
	}
	c, err := p.readCertificate(file)
	if err == nil {
		err = session.CheckCertificate(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, disk.Bare(err))
	}
	return nil
}

// readCertificate reads a certificate whose inputs a rule makes.
func (p *program) readCertificate(file string) (*receipt.Certificate, error) {
	b, err := p.readObject(file)
	if err != nil {
		return nil, err
	}
	c, err := receipt.ParseCertificate(b)
	if err == nil && c.Rule == nil {
		err = errors.New("its inputs are of files: ashlar verify takes them")
	}
	return c, err
}

// isCertificate reports whether a file is a certificate, which begins with this name as the first one in its order.
func isCertificate(b []byte) bool { return bytes.HasPrefix(b, []byte(`{"ashlar_certificate":`)) }
