// Command neighbours finds the nearest embeddings of queries: the embeddings with the largest product. It is exact, and
// takes a batch of queries at a time.
//
//	go run ./examples/neighbours [-k 10] [-batch 64] [-cosine] EMBEDDINGS.npy QUERIES.npy
//
// Both files hold float32, a row for each embedding and each query, all of one length. A line of the output has the rows of
// a query's nearest embeddings, the best first; of equally near ones, the first. The time per query goes to standard error.
// With -cosine only the direction of rows counts.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	k := flag.Int("k", 10, "neighbours of each query")
	batch := flag.Int("batch", 64, "queries in one product")
	cosine := flag.Bool("cosine", false, "divide rows by their length first")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: neighbours [-k N] [-batch N] [-cosine] EMBEDDINGS.npy QUERIES.npy")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	each, err := run(out, flag.Arg(0), flag.Arg(1), *k, *batch, *cosine)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "neighbours:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "%v per query\n", each)
}

// run writes the neighbours of the queries in one file among the embeddings in another, and returns the time per query.
func run(out io.Writer, embeddings, queries string, k, batch int, cosine bool) (each time.Duration, err error) {
	x, err := rows(embeddings, cosine)
	if err != nil {
		return 0, err
	}
	q, err := rows(queries, cosine)
	if err != nil {
		return 0, err
	}
	if q.Dim(1) != x.Dim(1) {
		return 0, fmt.Errorf("%s has rows of %d numbers, %s of %d", queries, q.Dim(1), embeddings, x.Dim(1))
	}
	if batch < 1 || k < 1 {
		return 0, fmt.Errorf("-k is %d and -batch %d; both are 1 at least", k, batch)
	}
	n := q.Dim(0)
	k = min(k, x.Dim(0))
	columns := x.Transpose() // a view
	start := time.Now()
	for first := 0; first < n; first += batch {
		var near tensor.Tensor[int64]
		err := tensor.Try(func() {
			scores := op.MatMul(q.Slice(tensor.R(first, min(first+batch, n))), columns)
			_, near = op.TopK(scores, k, 1, op.TopKOptions{})
			scores.Close() // so that the next batch gets its memory
		})
		if err != nil {
			return 0, err
		}
		for i := range near.Dim(0) {
			line := fmt.Sprintln(near.Slice(tensor.I(i)).Elems())
			if _, err := io.WriteString(out, line[1:len(line)-2]+"\n"); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(start) / time.Duration(max(1, n)), nil
}

// rows reads a matrix of float32.
func rows(path string, cosine bool) (tensor.Tensor[float32], error) {
	a, err := npy.Open(path, nil)
	if err != nil {
		return tensor.Tensor[float32]{}, err
	}
	m, ok := tensor.As[float32](a)
	if !ok || m.Rank() != 2 {
		return m, fmt.Errorf("%s holds %s; want float32 with two axes", path, tensor.Describe(a))
	}
	if cosine {
		m = op.Div(m, op.ReduceL2(m, []int{1}, op.KeepDims()))
	}
	return m, nil
}
