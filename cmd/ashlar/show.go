package main

import (
	"fmt"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

func (p *program) showCommand() *cobra.Command {
	var text string
	c := &cobra.Command{
		Use:   "show FILE[#NAME]",
		Short: "Print the elements of a tensor",
		Long: `Show prints the type, the shape and the elements of a tensor as NumPy does,
shortened beyond 1000 elements: of an npy file, of the array #NAME of an npz or
safetensors file, of the weight #NAME of an ONNX model, or of a picture, which
is uint8 of (channels, height, width). Of a file that can be mapped only what is
printed is read.

FILE may be -, standard input; -#NAME needs -- before it, as it looks like a flag.

--slice takes what stands between NumPy's brackets: numbers, start:stop:step,
..., None.`,
		Example: `  ashlar show testdata/digits-test.npy --slice "0, ::2"
  ashlar show testdata/digits.onnx#conv1.bias
  ashlar show testdata/seven.png --slice "0, 28:36, 28:36"
  ashlar show -- -#bias < weights.npz`,
		Args: arguments(1, 1, "one file"),
	}
	c.Flags().StringVar(&text, "slice", "", "the `part` to print, as in \"0, ::2\"")
	c.Flags().Var(&p.limit, "max-memory", "memory that a picture or an array of an npz may take: 2GiB, 500MB or none (default: by the file's size)")
	c.RunE = func(c *cobra.Command, args []string) error {
		idx, err := layout.ParseSlice(text)
		if err != nil {
			return usagef(c, "--slice: %v", err)
		}
		s, err := p.open(args[0])
		if err != nil {
			return err
		}
		t, err := p.tensor(s)
		if err != nil {
			return err
		}
		if t, err = tensor.Slice(t, idx...); err != nil {
			return fmt.Errorf("%s: --slice %q: %w", args[0], text, err)
		}
		fmt.Fprintf(p.out, "%s\n%v\n", tensor.Describe(t), t)
		return nil
	}
	return c
}
