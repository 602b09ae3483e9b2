package beam_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/ashlar-go/ashlar/beam"
	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

var rows = flag.Int("rows", 100, "of the array of TestSame, which has 37 columns in chunks of 7 rows and 10 columns")

// workerPool names the environment variable that makes the test program a worker, in a process of its own.
const workerPool = "ASHLAR_WORKER_POOL"

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetupLogging("error", "text")
	sdk.Init()
	if os.Getenv(workerPool) != "" {
		l, err := extworker.StartLoopback(context.Background(), 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(l.EnvironmentConfig(context.Background()))
		bufio.NewReader(os.Stdin).ReadByte() // until the test is done
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// left is how often the block of "failing" that holds the first element fails yet.
var left atomic.Int64

func init() {
	beam.Register("spread", func(ctx context.Context, dir []byte) (*chunk.Plan, error) { return spread(ctx, string(dir), false) })
	beam.Register("failing", func(ctx context.Context, dir []byte) (*chunk.Plan, error) { return spread(ctx, string(dir), true) })
	beam.Register("changing", func(ctx context.Context, dir []byte) (*chunk.Plan, error) {
		return plan(ctx, string(dir), func(x chunk.Array) chunk.Array { return chunk.Slice(x, tensor.R(0, int(left.Add(1)))) })
	})
	beam.Register("empty", func(ctx context.Context, dir []byte) (*chunk.Plan, error) {
		return plan(ctx, string(dir), func(x chunk.Array) chunk.Array { return chunk.Slice(x, tensor.R(5, 5)) })
	})
	beam.Register("many", func(ctx context.Context, n []byte) (*chunk.Plan, error) { return many(string(n)) })
}

// spread plans (x − mean(x))², in other chunks, and then the variance along the rows.
func spread(ctx context.Context, dir string, failing bool) (*chunk.Plan, error) {
	return plan(ctx, dir, func(x chunk.Array) chunk.Array {
		y := chunk.Map("Sub", nil, x, chunk.Reduce("ReduceMean", x, chunk.Reducing{Axes: []int{0}}))
		f := func(ctx context.Context, at chunk.Block, in []tensor.Any) (tensor.Any, error) {
			if failing && at.From[0]+at.From[1] == 0 && left.Add(-1) >= 0 {
				return tensor.Any{}, errors.New("the disk is gone")
			}
			return square(in[0])
		}
		return chunk.Rechunk(chunk.MapBlocks(f, chunk.Blocks{Name: "square", DType: dtype.Float32}, y), 3, 37)
	})
}

func square(x tensor.Any) (tensor.Any, error) {
	v, ok := tensor.As[float32](x)
	if !ok {
		return x, errors.New("it isn't float32")
	}
	return op.Mul(v, v).Any(), nil
}

// plan plans the result r of a function of the array x in a folder.
func plan(ctx context.Context, dir string, f func(x chunk.Array) chunk.Array) (*chunk.Plan, error) {
	s, err := zarr.Dir(dir)
	if err != nil {
		return nil, err
	}
	x, err := zarr.Open(ctx, s, "x", &zarr.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	return chunk.NewPlan(nil, chunk.Target{Array: f(chunk.From("x", x)), Store: s, Path: "r", Codecs: []zarr.Codec{zarr.Bytes(binary.LittleEndian)}})
}

// folder makes a folder with an array x.
func folder(t testing.TB) string {
	dir := t.TempDir()
	s, err := zarr.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, *rows*37)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	a, err := zarr.Create(t.Context(), s, "x", zarr.Metadata{DType: dtype.Float32, Shape: []int{*rows, 37}, Chunks: []int{7, 10}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), []int{0, 0}, tensor.FromSlice(x, *rows, 37).Any()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// digest is of the names and bytes of all files.
func digest(t testing.TB, dir string) string {
	s, err := zarr.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, k := range keys {
		b, err := s.Get(t.Context(), k, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s %d\n", k, len(b))
		h.Write(b)
	}
	return fmt.Sprintf("%d files, %s", len(keys), hex.EncodeToString(h.Sum(nil)))
}

// receiptOf returns the receipt of the plan "spread" in a folder, as a program makes it that didn't run the plan.
func receiptOf(t testing.TB, dir string) string {
	t.Helper()
	p, err := spread(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Receipt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSame compares the bytes and the receipts of the local executor with those of Beam. Beam's tasks run in this process, then in another
// one. A task fails twice, and is tried again by the worker or by the next run.
func TestSame(t *testing.T) {
	want := ""
	var receipts []string // of the results alone, and with what stands between the stages
	for _, workers := range []int{1, 2, 7} {
		dir := folder(t)
		p, err := spread(t.Context(), dir, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context(), &chunk.RunOptions{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		if got := digest(t, dir); want == "" {
			want = got
			t.Logf("%d tasks, %s", p.Tasks(), want)
		} else if got != want {
			t.Errorf("%d local workers: %s; 1: %s", workers, got, want)
		}
		kept := folder(t)
		q, err := spread(t.Context(), kept, false)
		if err == nil {
			err = q.Run(t.Context(), &chunk.RunOptions{Workers: workers, Keep: true})
		}
		if err != nil {
			t.Fatal(err)
		}
		got := []string{receiptOf(t, dir), receiptOf(t, kept)}
		if receipts == nil {
			receipts = got
			if n := strings.Count(got[1], `"node":"between `); n == 0 || strings.Contains(got[0], `"node":"between `) {
				t.Errorf("the receipts have %d chunks between the stages: %.300s, %.300s", n, got[0], got[1])
			}
		} else if !slices.Equal(got, receipts) {
			t.Errorf("other receipts of %d local workers", workers)
		}
	}
	same := func(what, dir string) {
		t.Helper()
		if got := digest(t, dir); got != want {
			t.Errorf("%s: %s; local: %s", what, got, want)
		}
		if got := receiptOf(t, dir); got != receipts[0] {
			t.Errorf("%s: another receipt", what)
		}
	}
	kept := folder(t)
	if err := beam.Run(t.Context(), "spread", []byte(kept), &beam.Options{Keep: true}); err != nil {
		t.Fatal(err)
	}
	if got := receiptOf(t, kept); got != receipts[1] {
		t.Errorf("Prism: another receipt with what stands between the stages")
	}

	dir := folder(t)
	if err := beam.Run(t.Context(), "spread", []byte(dir), nil); err != nil {
		t.Fatal(err)
	}
	same("Prism", dir)
	if err := beam.Run(t.Context(), "spread", []byte(dir), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second run: %v", err)
	}

	dir = folder(t)
	left.Store(2)
	if err := beam.Run(t.Context(), "failing", []byte(dir), nil); err != nil {
		t.Fatal(err)
	}
	same("a task that fails twice", dir)

	dir = folder(t)
	left.Store(2)
	for i := range 2 {
		err := beam.Run(t.Context(), "failing", []byte(dir), &beam.Options{Attempts: 1, Resume: true})
		for _, part := range []string{"prism", "stage ", "square", "task 0", "[0 0] to [7 10]", "the disk is gone"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Fatalf("run %d of a task that fails: %v; want %q in it", i, err, part)
			}
		}
		s, err := zarr.Dir(dir)
		if err == nil {
			_, err = zarr.Open(t.Context(), s, "r", nil)
		}
		if !errors.Is(err, zarr.ErrUnfinished) {
			t.Fatalf("the target of a run that failed: %v", err)
		}
	}
	if err := beam.Run(t.Context(), "failing", []byte(dir), &beam.Options{Attempts: 1, Resume: true}); err != nil {
		t.Fatal(err)
	}
	same("two runs that fail and one that goes on", dir)

	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	worker := exec.Command(exe)
	worker.Env = append(os.Environ(), workerPool+"=1")
	worker.Stderr = os.Stderr
	in, err := worker.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	kind, config := *jobopts.EnvironmentType, *jobopts.EnvironmentConfig
	dir = folder(t)
	*jobopts.EnvironmentType, *jobopts.EnvironmentConfig = "external", strings.TrimSpace(address)
	*jobopts.WorkerBinary = filepath.Join(dir, "x", "zarr.json") // any file: the worker has its program
	defer func() { *jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary = kind, config, "" }()
	left.Store(1 << 40) // in this process; in the other one it is 0
	if err := beam.Run(t.Context(), "failing", []byte(dir), nil); err != nil {
		t.Fatal(err)
	}
	if left.Load() != 1<<40 {
		t.Error("a task ran in this process")
	}
	same("another process", dir)
	left.Store(5) // the other process makes a plan for another number of rows
	if err := beam.Run(t.Context(), "changing", []byte(folder(t)), nil); err == nil || !strings.Contains(err.Error(), "was submitted") {
		t.Errorf("a plan that differs on the worker: %v", err)
	}
	in.Close()
	if err := worker.Wait(); err != nil {
		t.Error(err)
	}
}

func TestMistakes(t *testing.T) {
	dir := folder(t)
	if err := beam.Run(t.Context(), "unknown", []byte(dir), nil); err == nil || !strings.Contains(err.Error(), `no maker "unknown"`) {
		t.Errorf("a name that isn't registered: %v", err)
	}
	*jobopts.Async = true
	if err := beam.Run(t.Context(), "spread", []byte(dir), nil); err == nil || !strings.Contains(err.Error(), "async") {
		t.Errorf("async: %v", err)
	}
	*jobopts.Async = false
	dir = folder(t)
	if err := beam.Run(t.Context(), "empty", []byte(dir), nil); err != nil {
		t.Errorf("a result without elements: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name was registered twice")
		}
	}()
	beam.Register("spread", nil)
}

// many plans an array of n chunks of one element.
func many(n string) (*chunk.Plan, error) {
	var tasks int
	if _, err := fmt.Sscan(n, &tasks); err != nil {
		return nil, err
	}
	x := chunk.MapBlocks(func(ctx context.Context, at chunk.Block, in []tensor.Any) (tensor.Any, error) { return in[0], nil },
		chunk.Blocks{Name: "ones", Shape: []int{tasks}, Chunks: []int{1}}, chunk.Value(tensor.FromSlice([]int8{1}, 1).Any()))
	return chunk.NewPlan(nil, chunk.Target{Array: x, Store: zarr.Memory(), Path: "r", Codecs: []zarr.Codec{zarr.Bytes(binary.LittleEndian)}})
}

// BenchmarkTasks runs tasks that do almost nothing.
func BenchmarkTasks(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		p, err := many(fmt.Sprint(n))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("local/%d", n), func(b *testing.B) {
			for range b.N {
				if p, err = many(fmt.Sprint(n)); err != nil {
					b.Fatal(err)
				}
				if err := p.Run(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/task")
		})
		b.Run(fmt.Sprintf("prism/%d", n), func(b *testing.B) {
			for range b.N {
				if err := beam.Run(b.Context(), "many", []byte(fmt.Sprint(n)), nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/task")
		})
	}
}
