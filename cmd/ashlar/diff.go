package main

import (
	"math"

	"github.com/spf13/cobra"
)

func (p *program) diffCommand() *cobra.Command {
	d := &difference{p: p}
	c := &cobra.Command{
		Use:   "diff A[#NAME] B[#NAME]",
		Short: "Compare the tensors of two files",
		Long: `Diff compares the tensors of two files, whatever their formats. It compares them by
name where both have several. It prints the tensors that differ, the places where
they differ most, and the distance there:

  abs  the absolute value of a - b
  rel  abs divided by the absolute value of b
  ulp  steps from one number of the type to the next

Two elements are the same if abs is at most --atol + --rtol times the absolute
value of b, or ulp at most --ulp. -0 equals 0, and NaN equals NaN. Complex numbers
are measured by their absolute value. Other types or shapes are a difference too.
With --values floats of different types are compared as float64.

With -i the files are models, which run on these inputs. One may be a file with
the results of a run instead, as run --all writes them or another program does. The
results of all nodes are compared by name, in the order of the graph, and diff says
which is the first that differs. Floats of different types are compared as float64.
A file of one tensor is compared with the model's output, if it has one. Results
that only one side has are counted. Outputs that only one has are a difference.
--layout, --size, --scale, --mean, --std, --invert, --bgr and --background turn the
pictures among the inputs into numbers, as for run.

Two receipts, of ashlar run --receipt, are compared without a run. Diff names the
first thing in which they differ: an input, a weight, the graph, a node, if both
have the nodes, or an output.

It exits with 0 if all are the same, and with 1 if not. It exits with 1 where a file
can't be read, and with 2 when the command line makes no sense.`,
		Example: `  ashlar diff testdata/digits-test.npy testdata/digits-test.npy
  ashlar diff weights.npz weights.safetensors --rtol 1e-5 --atol 1e-8
  ashlar diff single.safetensors half.safetensors --values --rtol 0.01
  ashlar diff model.onnx#conv1.bias bias.npy --ulp 2 --top 3
  ashlar diff model.onnx optimized.onnx -i photo.png --rtol 1e-4
  ashlar diff model.onnx results.npz -i pixels=pixels.npy
  ashlar diff here.json there.json
  ashlar diff model.onnx output_0.pb -i input_0.pb --rtol 1e-4`,
		Args: arguments(2, 2, "two files"),
	}
	f := c.Flags()
	f.StringArrayVarP(&d.inputs, "input", "i", nil, "run models on this input: `name=file`, or a file as run takes it")
	f.Float64Var(&d.tol.Rtol, "rtol", 0, "the relative tolerance")
	f.Float64Var(&d.tol.Atol, "atol", 0, "the absolute tolerance")
	f.Uint64Var(&d.tol.ULP, "ulp", 0, "the tolerance in units in the last place")
	f.IntVar(&d.top, "top", 5, "how many of the largest differences of a tensor are printed")
	f.BoolVar(&d.values, "values", false, "compare floats of different types, as float64")
	p.unfinishedFlag(c)
	d.pics.register(c)
	p.soundFlags(c)
	p.reading.flags(c, "of raw and text files")
	p.cfFlag(c)
	p.mxFlag(c)
	f.Var(&p.limit, "max-memory", "memory that a run, a picture or an array of an npz may take: 2GiB, 500MB or none (default: 4GiB, or by the file's size)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := p.reading.parse(c); err != nil {
			return err
		}
		for _, t := range []struct {
			flag string
			v    float64
		}{{"rtol", d.tol.Rtol}, {"atol", d.tol.Atol}, {"top", float64(d.top)}} {
			if !(t.v >= 0) || math.IsInf(t.v, 0) {
				return usagef(c, "--%s can't be %v", t.flag, t.v)
			}
		}
		if err := d.pics.check(p); err != nil {
			return err
		}
		if flag := d.pics.given(); flag != "" && d.inputs == nil {
			return usagef(c, "%s is about inputs of models: give them with -i", flag)
		}
		if receipts, err := p.bothReceipts(args); receipts || err != nil {
			return err
		}
		if d.inputs != nil {
			return d.runs(c.Context(), args[0], args[1])
		}
		return d.run(args[0], args[1])
	}
	return c
}
