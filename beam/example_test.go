package beam_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/beam"
	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/chunk/job"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

// A program registers its makers before beam.Init of Beam's SDK.
func init() {
	beam.Register("job", func(ctx context.Context, args []byte) (*chunk.Plan, error) {
		var j job.Job
		if err := json.Unmarshal(args, &j); err != nil {
			return nil, err
		}
		return j.Plan(ctx)
	})
}

func ExampleRun() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := zarr.Dir(dir)
	if err != nil {
		log.Fatal(err)
	}
	x, err := zarr.Create(ctx, store, "x", zarr.Metadata{DType: dtype.Float32, Shape: []int{3, 2}, Chunks: []int{1, 2}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := x.Write(ctx, []int{0, 0}, tensor.FromSlice([]float32{1, 2, 3, 4, 5, 9}, 3, 2).Any()); err != nil {
		log.Fatal(err)
	}

	out := filepath.Join(dir, "mean")
	args, err := json.Marshal(job.Job{Expr: "mean(x, axis=0)", Inputs: map[string]string{"x": filepath.Join(dir, "x")}, Out: out})
	if err != nil {
		log.Fatal(err)
	}
	if err := beam.Run(ctx, "job", args, &beam.Options{Runner: "prism"}); err != nil {
		log.Fatal(err)
	}

	if store, err = zarr.Dir(out); err != nil {
		log.Fatal(err)
	}
	mean, err := zarr.Open(ctx, store, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mean.Read(ctx))
	// Output: [3. 5.] <nil>
}
