package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// demo is the steps of ashlar demo: a sentence or two, and the command that shows it.
var demo = []struct {
	says string
	args []string
}{
	{"A model says the inputs that it takes, the outputs that it gives, and the work of a run.", []string{"info", "digits.onnx", "--shape", "image=1x1x8x8"}},
	{"It looks at a picture, and gives a probability for each digit.", []string{"run", "digits.onnx", "seven.png"}},
	{"A file has an array of 540 pictures. This is the first of them.", []string{"show", "digits-test.npy", "--slice", "0"}},
	{"Arrays may be larger than memory. Here the mean of all pictures is computed part by part.", []string{"compute", "round(mean(x, axis=0))", "-i", "x=digits-test.npy"}},
	{"A layout maps coordinates to offsets. This one cuts a matrix into tiles of 2 by 4.", []string{"layout", "(8,8):(8,1) / <2:1,4:1>"}},
	{"Threads that read a column of a tile wait for one memory bank.", []string{"layout", "check", "(32,32):(32,1)", "--access", "column"}},
	{"The smallest swizzle without such conflicts, for rows and columns:", []string{"layout", "solve", "(32,32):(32,1)", "--access", "row", "--access", "column"}},
	{"Kernels give the same bits on every processor. These are in use here:", []string{"version"}},
}

func (p *program) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo [FOLDER]",
		Short: "Run the commands on examples, in two minutes",
		Long: `Demo runs commands on the files of FOLDER, and prints each before its output. The
folder is testdata, which a checkout of the repository has. On a terminal it waits
for Enter after each command; the end of the input ends it.`,
		Example: `  ashlar demo
  ashlar demo ashlar/testdata`,
		Args: arguments(0, 1, "FOLDER"),
		RunE: func(c *cobra.Command, args []string) error {
			folder := "testdata"
			if len(args) > 0 {
				folder = args[0]
			}
			if _, err := os.Stat(filepath.Join(folder, "digits.onnx")); err != nil {
				return fmt.Errorf("%s: there is no digits.onnx; name the folder testdata of the repository, as in ashlar demo ashlar/testdata", folder)
			}
			keys := bufio.NewReader(p.stdin)
			waits := p.terminal(p.stdin) && p.terminal(p.stdout)
			for i, step := range demo {
				var line []string
				words := make([]string, len(step.args))
				for k, w := range step.args {
					if before, name, _ := strings.Cut(w, "="); strings.HasPrefix(w, "x=") {
						w = before + "=" + filepath.Join(folder, name)
					} else if ext := filepath.Ext(w); ext == ".onnx" || ext == ".png" || ext == ".npy" {
						w = filepath.Join(folder, w)
					}
					if words[k] = w; strings.ContainsAny(w, " ()") {
						w = `"` + w + `"`
					}
					line = append(line, w)
				}
				fmt.Fprintf(p.out, "%d of %d. %s\n\n$ ashlar %s\n", i+1, len(demo), step.says, strings.Join(line, " "))
				p.out.Flush()
				q := program{stdin: strings.NewReader(""), stdout: p.stdout, stderr: p.stderr, getenv: p.getenv, terminal: p.terminal, cpuErr: p.cpuErr, patience: p.patience}
				if code := q.run(c.Context(), words); c.Context().Err() != nil {
					return c.Context().Err()
				} else if code > 1 { // 1 is the answer of a check
					return fmt.Errorf("ashlar %s ended with status %d", words[0], code)
				}
				fmt.Fprintln(p.out)
				if waits && i < len(demo)-1 {
					fmt.Fprint(p.out, "Enter goes on. ")
					p.out.Flush()
					if _, err := keys.ReadString('\n'); err != nil {
						return nil
					}
				}
			}
			return nil
		},
	}
}
