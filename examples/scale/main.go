// Command scale computes the variation of handwritten digits: the standard deviation of each pixel over all pictures. The
// array is in chunks, and each task holds only a part of it.
//
//	go run ./examples/scale testdata/digits-test.npy
//
// The array could be larger than memory. Chunks have only 20 pictures, so that the example uses several.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/chunk/job"
	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/format/zarr"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: scale FILE.npy")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, npy string) error {
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	// The first job cuts the file into chunks, and converts the pixels; the second one reduces them.
	pictures, spread := filepath.Join(dir, "pictures.zarr"), filepath.Join(dir, "spread.zarr")
	for _, j := range []job.Job{
		{Expr: "cast(x, 'float32')", Inputs: map[string]string{"x": npy}, Out: pictures, Chunks: []int{20, 8, 8}, Memory: 64 << 20},
		{Expr: "std(x, axis=0)", Inputs: map[string]string{"x": pictures}, Out: spread, Memory: 64 << 20},
	} {
		plan, err := j.Plan(ctx)
		if err != nil {
			return err
		}
		for i, s := range plan.Stages() {
			fmt.Fprintf(w, "%s: stage %d, %s, %d tasks\n", j.Expr, i, s.Name, s.Tasks)
		}
		if err := plan.Run(ctx, nil); err != nil {
			return err
		}
	}

	store, err := zarr.Dir(spread)
	if err != nil {
		return err
	}
	a, err := zarr.Open(ctx, store, "", nil)
	if err != nil {
		return err
	}
	t, err := a.Read(ctx)
	if err != nil {
		return err
	}
	picture, err := draw.Heatmap(t, nil)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, picture)
	return err
}
