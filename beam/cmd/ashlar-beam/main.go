// Ashlar-beam evaluates an expression over chunked arrays on a runner of Apache Beam:
//
//	go run ./cmd/ashlar-beam compute 'mean(x, axis=0)' -i x=in.zarr -o out.zarr
//	go run ./cmd/ashlar-beam compute 'mean(x, axis=0)' -i x=gs://bucket/in.zarr -o gs://bucket/out.zarr --runner dataflow --project …
//
// The flags are its own and Beam's; --help lists both. Expressions and files are as for ashlar compute; a
// file may also be a folder gs://bucket/folder. Paths are as the workers see them.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
	"github.com/ashlar-go/ashlar/beam"
	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/chunk/job"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/format/zarr/blobstore"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob"
)

// maker is the name under which workers find the plan of a job.
const maker = "github.com/ashlar-go/ashlar/chunk/job"

func init() {
	beam.Register(maker, func(ctx context.Context, args []byte) (*chunk.Plan, error) {
		j := job.Job{Open: open}
		if err := json.Unmarshal(args, &j); err != nil {
			return nil, err
		}
		return j.Plan(ctx)
	})
}

// open opens a folder of a bucket. The bucket stays open as long as the program runs.
func open(ctx context.Context, address string) (zarr.Store, error) {
	bucket, folder, _ := strings.Cut(strings.TrimPrefix(address, "gs://"), "/")
	b, err := blob.OpenBucket(ctx, "gs://"+bucket)
	if err != nil {
		return nil, err
	}
	if folder = strings.Trim(folder, "/"); folder != "" {
		b = blob.PrefixedBucket(b, folder+"/")
	}
	return blobstore.New(b), nil
}

func main() {
	args := os.Args[1:]
	compute := len(args) > 1 && args[0] == "compute" && !strings.HasPrefix(args[1], "-")
	j := job.Job{Inputs: map[string]string{}}
	if compute {
		j.Expr, args = args[1], args[2:]
	}
	flag.Func("i", "`NAME=FILE`: an array of the expression; once for each", func(s string) error {
		name, file, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("want NAME=FILE")
		}
		j.Inputs[name] = file
		return nil
	})
	flag.StringVar(&j.Out, "o", "", "the Zarr `folder` of the result, which must not be there")
	flag.Func("memory", "`bytes` that one task may take: 512MiB, 2GiB (default 1GiB)", func(s string) (err error) {
		j.Memory, err = bytes(s)
		return err
	})
	flag.StringVar(&j.Codec, "codec", "", "how chunks are stored: zstd, gzip, with a level as in zstd:9, or none (default zstd:3)")
	flag.StringVar(&j.Work, "work", "", "the `folder` of intermediate arrays (default: within the result's)")
	flag.BoolVar(&j.Unfinished, "unfinished", false, "read inputs that aren't finished; what isn't written yet is the fill value")
	resume := flag.Bool("resume", false, "go on with what the same command, or ashlar compute, has left")
	attempts := flag.Int("attempts", 3, "how often a worker tries a task before the runner hears of it")
	level := flag.String("log", "warn", "how much is logged: debug, info, warn or error")
	flag.CommandLine.Parse(args)
	log.SetupLogging(*level, "text")
	sdk.Init() // a worker stays here
	if !compute || flag.NArg() > 0 || j.Out == "" {
		fmt.Fprintln(os.Stderr, "usage: ashlar-beam compute EXPRESSION -i NAME=FILE -o FOLDER [--runner prism|dataflow|flink|spark|universal] [flags]; --help lists the flags")
		os.Exit(2)
	}
	if err := run(j, beam.Options{Runner: *runners.Runner, Resume: *resume, Attempts: *attempts}); err != nil {
		fmt.Fprintln(os.Stderr, "ashlar-beam:", err)
		os.Exit(1)
	}
}

func run(j job.Job, o beam.Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	args, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return beam.Run(ctx, maker, args, &o)
}

// bytes reads a number of bytes.
func bytes(s string) (int64, error) {
	number := strings.TrimRight(s, "KMGTiB")
	shift, ok := map[string]int{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}[s[len(number):]]
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !ok || n < 1 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("want a number of bytes, as 512MiB")
	}
	return n << shift, nil
}
