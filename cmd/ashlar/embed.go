package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text/vectors"
	"github.com/spf13/cobra"
)

// encoderFlags are the flags about folders of encoders.
type encoderFlags struct{ s vectors.Settings }

func (f *encoderFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.s.File, "model-file", "", "the ONNX `file` in the folder (default: onnx/model.onnx or model.onnx)")
	c.Flags().StringVar(&f.s.Pooling, "pooling", "", "how tokens become a vector where the folder has no modules.json: `cls`, max, mean, mean_sqrt_len_tokens, weightedmean or lasttoken")
	c.Flags().BoolVar(&f.s.Normalize, "normalize", false, "divide vectors by their length, where the folder has no modules.json")
}

// embedFlags are the flags of embed.
type embedFlags struct {
	encoderFlags
	o                   vectors.Options
	lines, output       string
	check, near, nearTo string
	tolerance           float64
	best                int
	asJSON              bool
}

func (p *program) embedCommand() *cobra.Command {
	var f embedFlags
	c := &cobra.Command{
		Use:   "embed MODEL [TEXT...]",
		Short: "Turn texts into vectors",
		Long: `Embed turns texts into vectors with an encoder. MODEL is a folder as Hugging Face
has it: tokenizer.json, an ONNX file, and the files of sentence-transformers. The
texts are arguments, or the lines of a file. A vector has the same bits whatever
texts are beside its own, and on every machine.

It prints the beginning of each vector. With --json each text is an object on a
line: text, tokens and vector. With --output the vectors become an npy file, a
row for each text.

With --check the vectors are compared with recorded ones, a row for each text in
the same order. It exits with 1 where a number differs by more than --tolerance.

With --near each text is a query: of the vectors in a file the nearest are
printed, by their cosine, with the lines of --near-lines.`,
		Example: `  ashlar embed examples/embeddings/encoder "the red house" "a green house"
  ashlar embed examples/embeddings/encoder --lines examples/embeddings/lines.txt -o lines.npy
  ashlar embed examples/embeddings/encoder "music" --near lines.npy --near-lines examples/embeddings/lines.txt
  ashlar embed examples/embeddings/encoder --lines examples/embeddings/lines.txt --check examples/embeddings/lines.npy`,
		Args: arguments(1, -1, "a folder and texts"),
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.lines, "lines", "", "read a text from each line of a `file`; - is standard input")
	flags.StringVarP(&f.output, "output", "o", "", "write the vectors to an npy `file`")
	flags.StringVar(&f.check, "check", "", "compare with the vectors in a `file`")
	flags.Float64Var(&f.tolerance, "tolerance", 1e-5, "the largest `difference` of two numbers that --check lets pass")
	flags.StringVar(&f.near, "near", "", "search the vectors in a `file`")
	flags.StringVar(&f.nearTo, "near-lines", "", "the `file` with the texts of --near, a line each")
	flags.IntVarP(&f.best, "best", "k", 5, "print the `N` nearest vectors")
	flags.StringVar(&f.o.Prompt, "prompt", "", "begin each text with the prompt of this `name` in the folder")
	flags.BoolVar(&f.o.Cut, "cut", false, "cut texts that are too long for the model")
	flags.BoolVar(&f.o.ReplaceInvalid, "replace-invalid", false, "put U+FFFD for each byte that isn't UTF-8, which is an error otherwise")
	flags.IntVar(&f.o.Dimensions, "dimensions", 0, "keep the first `N` numbers, where the folder allows it")
	f.register(c)
	flags.Var(&p.limit, "max-memory", "refuse a run that needs more memory for weights and results: 2GiB, 500MB or none (default 4GiB)")
	flags.BoolVar(&f.asJSON, "json", false, "print a line of JSON for each text")
	p.forceFlag(c)
	p.quietFlag(c, "vectors")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case f.lines != "" && len(args) > 1:
			return usagef(c, "the texts are arguments or lines of a file: leave one out")
		case f.lines == "" && len(args) == 1:
			return usagef(c, "there is no text: give one behind the folder, or a file of lines with --lines")
		case f.check != "" && f.near != "":
			return usagef(c, "--check and --near are two things: leave one out")
		case f.nearTo != "" && f.near == "":
			return usagef(c, "--near-lines are the texts of --near, which isn't given")
		case f.best < 1:
			return usagef(c, "--best can't be %d; it is 1 at least", f.best)
		case f.tolerance < 0 || math.IsNaN(f.tolerance):
			return usagef(c, "--tolerance can't be %v; it is 0 at least", f.tolerance)
		case f.o.Dimensions < 1 && c.Flags().Changed("dimensions"):
			return usagef(c, "--dimensions can't be %d; it is 1 at least", f.o.Dimensions)
		}
		if f.output != "" {
			if err := p.endsIn(".npy", "output", f.output); err != nil {
				return err
			}
		}
		return p.embed(c.Context(), &f, args[0], args[1:])
	}
	return c
}

// encoder opens the folder of an encoder.
func (p *program) encoder(folder string, f *encoderFlags) (*vectors.Model, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, disk.Bare(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: it is a file; give the folder with tokenizer.json and the ONNX file", folder)
	}
	m, err := vectors.Open(folder, f.s)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, m)
	return m, nil
}

// mostLine is the most bytes of a line.
const mostLine = 16 << 20

// readLines reads the lines of a file.
func (p *program) readLines(file string) (list []string, err error) {
	r := p.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, disk.Bare(err))
		}
		defer f.Close()
		r = f
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, mostLine)
	for s.Scan() {
		list = append(list, s.Text())
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", file, len(list)+1, err)
	}
	if list == nil {
		return nil, fmt.Errorf("%s: it has no lines", file)
	}
	return list, nil
}

// inOneCall is how many lines a call gets; the bar moves after each.
const inOneCall = 256

func (p *program) embed(ctx context.Context, f *embedFlags, folder string, texts []string) error {
	m, err := p.encoder(folder, &f.encoderFlags)
	if err != nil {
		return err
	}
	if f.lines != "" {
		if texts, err = p.readLines(f.lines); err != nil {
			return err
		}
	}
	if f.o.ReplaceInvalid {
		for i, t := range texts {
			texts[i] = string([]rune(t))
		}
	}
	session, err := onnx.NewSession(m.ONNX())
	if err != nil {
		return err
	}
	f.o.Run = func(ctx context.Context, in map[string]tensor.Any) (map[string]tensor.Any, error) {
		return session.Run(ctx, in, &onnx.Options{MaxMemory: int64(p.limit)})
	}
	var counts []int
	f.o.Counted = func(n []int) error {
		counts = append(counts, n...)
		return nil
	}
	var rows [][]float32
	step, end := p.bar("embedding", true)
	for first := 0; first < len(texts); first += inOneCall {
		some, err := m.Embed(ctx, texts[first:min(first+inOneCall, len(texts))], f.o)
		if err != nil {
			end()
			if f.lines != "" && first > 0 {
				return fmt.Errorf("lines %d to %d, where text 0 is line %d: %w", first+1, min(first+inOneCall, len(texts)), first+1, err)
			}
			return err
		}
		rows = append(rows, some...)
		step(len(rows), len(texts))
	}
	end()
	if f.output != "" {
		all := tensor.FromSlice(slices.Concat(rows...), len(rows), len(rows[0]))
		if err := p.writeTo(f.output, func(w io.Writer) error { return npy.Write(w, all.Any(), nil) }); err != nil {
			return err
		}
	}
	switch {
	case f.check != "":
		return p.checkVectors(f, rows)
	case f.near != "":
		return p.nearVectors(f, texts, rows)
	case p.quiet || f.output != "" && !f.asJSON:
		return nil
	}
	for i, v := range rows {
		if f.asJSON {
			err = p.printLine(struct {
				Text   string    `json:"text"`
				Tokens int       `json:"tokens"`
				Vector []float32 `json:"vector"`
			}{texts[i], counts[i], v})
			if err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(p.out, "%s  %s, %s:", label(texts[i]), counted(counts[i], "token"), counted(len(v), "number"))
		for _, x := range v[:min(len(v), 6)] {
			fmt.Fprintf(p.out, " %.6g", x)
		}
		if len(v) > 6 {
			fmt.Fprint(p.out, " …")
		}
		fmt.Fprintln(p.out)
	}
	return nil
}

// matrix reads vectors, a row each, of width numbers.
func (p *program) matrix(file string, width int) (tensor.Tensor[float32], error) {
	var none tensor.Tensor[float32]
	s, err := p.open(file)
	if err != nil {
		return none, err
	}
	a, err := p.tensor(s)
	if err != nil {
		return none, err
	}
	t, ok := tensor.As[float32](a)
	if wide, is := tensor.As[float64](a); is {
		t, ok = op.Cast[float32](wide), true
	}
	if !ok || t.Rank() != 2 || t.Dim(1) != width {
		return none, fmt.Errorf("%s: it holds %s; want float32 with rows of %d numbers, as the model gives", s.name, tensor.Describe(a), width)
	}
	return t.Contiguous(), nil
}

// checkVectors compares vectors with recorded ones.
func (p *program) checkVectors(f *embedFlags, rows [][]float32) error {
	want, err := p.matrix(f.check, len(rows[0]))
	if err != nil {
		return err
	}
	if want.Dim(0) != len(rows) {
		return fmt.Errorf("%s: it has %s, there are %s", f.check, counted(want.Dim(0), "row"), counted(len(rows), "text"))
	}
	elems, most, at, least, equal := want.Elems(), 0.0, 0, 1.0, 0
	for i, v := range rows {
		w := elems[i*len(v) : (i+1)*len(v)]
		same := true
		for c, x := range v {
			same = same && math.Float32bits(x) == math.Float32bits(w[c])
			if d := math.Abs(float64(x) - float64(w[c])); d > most || math.IsNaN(d) && !math.IsNaN(most) {
				most, at = d, i
			}
		}
		if same {
			equal++
		}
		if c := cosine(v, w); c < least || math.IsNaN(c) {
			least = c
		}
	}
	if !p.quiet {
		fmt.Fprintf(p.out, "%s: cosine at least %.7f, largest difference %.3g, %d with equal bits\n", counted(len(rows), "vector"), least, most, equal)
	}
	if !(most <= f.tolerance) {
		return fmt.Errorf("text %d: a number of its vector differs by %.3g, the tolerance is %.3g", at, most, f.tolerance)
	}
	return nil
}

// cosine is the cosine of the angle between two vectors.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		ab += float64(float64(x) * float64(b[i]))
		aa += float64(float64(x) * float64(x))
		bb += float64(float64(b[i]) * float64(b[i]))
	}
	return ab / math.Sqrt(float64(aa*bb))
}

// nearVectors prints the nearest of the vectors in a file for each text.
func (p *program) nearVectors(f *embedFlags, texts []string, rows [][]float32) error {
	all, err := p.matrix(f.near, len(rows[0]))
	if err != nil {
		return err
	}
	var lines []string
	if f.nearTo != "" {
		if lines, err = p.readLines(f.nearTo); err != nil {
			return err
		}
		if len(lines) != all.Dim(0) {
			return fmt.Errorf("%s: it has %s, %s has %s", f.nearTo, counted(len(lines), "line"), f.near, counted(all.Dim(0), "row"))
		}
	}
	unit := func(a tensor.Tensor[float32]) tensor.Tensor[float32] {
		return op.Div(a, op.ReduceL2(a, []int{1}, op.KeepDims()))
	}
	var scores tensor.Tensor[float32]
	var at tensor.Tensor[int64]
	err = tensor.Try(func() {
		products := op.MatMul(unit(tensor.FromSlice(slices.Concat(rows...), len(rows), len(rows[0]))), unit(all).Transpose())
		scores, at = op.TopK(products, min(f.best, all.Dim(0)), 1, op.TopKOptions{})
	})
	if err != nil {
		return err
	}
	for i, query := range texts {
		if !f.asJSON && len(texts) > 1 {
			fmt.Fprintln(p.out, label(query))
		}
		for j := range at.Dim(1) {
			row := int(at.At(i, j))
			line := ""
			if lines != nil {
				line = lines[row]
			}
			if f.asJSON {
				err = p.printLine(struct {
					Query string  `json:"query"`
					Row   int     `json:"row"`
					Score float32 `json:"cosine"`
					Text  string  `json:"text,omitempty"`
				}{query, row, scores.At(i, j), line})
				if err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(p.out, strings.TrimRight(fmt.Sprintf("%.4f  %d  %s", scores.At(i, j), row, printable(line)), " "))
		}
	}
	return nil
}

// folderName is the name of a folder that is served, and its path.
func folderName(arg string) (name, folder string, err error) {
	if _, e := os.Stat(arg); e != nil {
		if name, folder, ok := strings.Cut(arg, "="); ok {
			return name, folder, nil
		}
	}
	abs, err := filepath.Abs(arg)
	return filepath.Base(abs), arg, err
}
