// Command layouts compares ways to keep a tile in a memory of banks, and draws them.
//
//	go run ./examples/layouts [-rows 32] [-cols 32] [-bytes 4] [FOLDER]
//
// The layouts are row-major, column-major, rows with one element of padding, and rows under the smallest swizzle without conflicts. A line
// has the cycles that 32 threads take to read the tile by rows and by columns from 32 banks of 4 bytes. FOLDER gets a picture of each layout,
// as SVG.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/judge"
)

const threads = 32

func main() {
	rows := flag.Int("rows", 32, "rows of the tile")
	cols := flag.Int("cols", 32, "columns of the tile")
	bytes := flag.Int("bytes", 4, "bytes of an element")
	flag.Parse()
	if flag.NArg() > 1 {
		fmt.Fprintln(os.Stderr, "usage: layouts [-rows N] [-cols N] [-bytes N] [FOLDER]")
		os.Exit(2)
	}
	if err := run(os.Stdout, *rows, *cols, *bytes, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "layouts:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, rows, cols, bytes int, folder string) error {
	byRows, byColumns := judge.Rows(threads, 1), judge.Columns(threads, 1)
	names := []string{"row-major", "column-major", "padded", "swizzled"}
	texts := []string{
		fmt.Sprintf("(%d,%d):(%d,1)", rows, cols, cols),
		fmt.Sprintf("(%d,%d):(1,%d)", rows, cols, rows),
		fmt.Sprintf("(%d,%d):(%d,1)", rows, cols, cols+1),
	}
	plain, err := judge.Parse(texts[0])
	if err != nil {
		return err
	}
	found, err := judge.SolveSwizzle(context.Background(), plain, judge.NVIDIA, 8*bytes, byRows, byColumns)
	if err != nil {
		return err
	}
	if found.Found {
		texts = append(texts, fmt.Sprintf("%v o %s", found.Swizzle, texts[0]))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "layout\t\tby rows\tby columns")
	for i, text := range texts {
		c, err := judge.Parse(text)
		if err != nil {
			return err
		}
		r, err := judge.Conflicts(c, judge.NVIDIA, 8*bytes, byRows)
		if err != nil {
			return err
		}
		s, err := judge.Conflicts(c, judge.NVIDIA, 8*bytes, byColumns)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\n", names[i], text, r.Cycles, s.Cycles)
		if folder != "" {
			if err := picture(filepath.Join(folder, names[i]+".svg"), text); err != nil {
				return err
			}
		}
	}
	if !found.Found {
		fmt.Fprintf(w, "swizzled\t%s\n", found.Why())
	}
	return w.Flush()
}

// picture writes the offset of each coordinate, and the coordinate at each offset.
func picture(path, text string) error {
	c, err := judge.Parse(text)
	if err != nil {
		return err
	}
	m, err := draw.NewMap(c, nil)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(m.WriteSVG(f), f.Close())
}
