package chunk

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// Receipt returns the receipt of a plan whose tasks are all done, whatever ran them and however often it was interrupted. It
// reads the inputs and the targets, one chunk at a time. The digest of an array is the root of a Merkle tree (receipt.Tree)
// over the digests of its chunks, in row-major order of the chunks. Chunks at the end of an axis are those parts that lie in the
// array. A tensor as input has tensor.Digest. Arrays are named by numbers, in the order in which the stages come to them. The
// nodes are the chunks of the targets. After a run with RunOptions.Keep they are also those between the stages, in the order of
// the stages. Copies into other chunks are left out.
//
// The graph is that of the operations, with the chunks that reductions, products and MapBlocks depend on. Addresses, rechunking
// and memory don't count. A plan with more than receipt.MaxNodes such chunks has the digests of the targets alone.
func (p *Plan) Receipt(ctx context.Context) (*receipt.Receipt, error) {
	if err := needContext("Receipt", ctx); err != nil {
		return nil, err
	}
	w := receiptWriter{ctx: ctx, r: &receipt.Receipt{Kind: receipt.Plan, Rules: receipt.Rules, Profile: receipt.Profile{Mode: receipt.Exact}},
		nodes: make(map[*node]int), sources: make(map[string]int)}
	arrays := make([]*zarr.Array, len(p.stages))
	chunks, between := 0, 0
	for i, s := range p.stages {
		at := w.visit(s.node)
		switch _, copies := s.node.kind.(*rechunked); {
		case s.target:
			w.text = fmt.Appendf(w.text, "output %d\n", at)
		case copies:
			continue
		}
		// One between the stages may be gone since this plan has opened it.
		a, err := zarr.Open(ctx, s.store, s.path, &zarr.Options{Workers: 1, Unfinished: true, Whole: true})
		switch {
		case err == nil:
			arrays[i] = a
			chunks += s.chunksOf()
		case s.target || !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	w.r.Program.Graph = sha256.Sum256(w.text)
	slices.Sort(w.r.Profile.Operators)
	w.r.Profile.Operators = slices.Compact(w.r.Profile.Operators)
	for i, s := range p.stages {
		name := fmt.Sprint(len(w.r.Outputs))
		where := "output " + name
		if _, copies := s.node.kind.(*rechunked); !s.target && !copies {
			name = fmt.Sprint(between)
			where = fmt.Sprintf("between %s, %s", name, s.name)
			between++
		}
		if arrays[i] == nil || !s.target && chunks > receipt.MaxNodes {
			continue
		}
		var each func(b box, d receipt.Digest)
		if chunks <= receipt.MaxNodes {
			each = func(b box, d receipt.Digest) {
				w.r.Nodes = append(w.r.Nodes, receipt.Node{Node: fmt.Sprintf("%s, %v", where, b),
					Results: []receipt.Item{{Name: name, Type: describe(s.node, b.shape()), Digest: d}}})
			}
		}
		whole := *s.node
		whole.kind = &source{array: arrays[i]}
		if d := w.digest(&whole, each); s.target {
			w.r.Outputs = append(w.r.Outputs, receipt.Item{Name: name, Type: describe(s.node, s.node.shape), Digest: d})
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.r, nil
}

// describe writes an element type and a shape, as tensor.Describe.
func describe(n *node, shape []int) string {
	s, err := tensor.NewSpec(n.dtype, shape...)
	if err != nil {
		return fmt.Sprintf("%v%v", n.dtype, shape)
	}
	return tensor.Describe(s.Any())
}

// chunksOf returns the number of chunks of the stage's array.
func (s *stage) chunksOf() int {
	n := 1
	for i, e := range s.node.shape {
		n *= ceil(e, s.node.chunks[i])
	}
	return n
}

// A receiptWriter writes down the operations of a plan.
type receiptWriter struct {
	ctx     context.Context
	r       *receipt.Receipt
	text    []byte
	nodes   map[*node]int  // their numbers
	made    int            // how many have one of their own
	sources map[string]int // the numbers of the inputs, by their names
	err     error
}

// visit writes down a node, after those it is made of, and returns its number.
func (w *receiptWriter) visit(n *node) int {
	if at, ok := w.nodes[n]; ok {
		return at
	}
	text := n.kind.text()
	switch k := n.kind.(type) {
	case *stored:
		w.nodes[n] = w.visit(k.stage.node)
		return w.nodes[n]
	case *rechunked:
		w.nodes[n] = w.visit(n.in[0])
		return w.nodes[n]
	case *blocks:
		w.r.Profile.Operators = append(w.r.Profile.Operators, text)
		for _, of := range append(n.in[:len(n.in):len(n.in)], n) {
			text += fmt.Sprint(" in chunks of ", of.chunks)
		}
	case *folded:
		text += fmt.Sprint(" in chunks of ", gathered(k.step, k.axes))
	case *contracted:
		of := n.in[0].chunks
		text += fmt.Sprint(" in chunks of ", of[len(of)-k.inner:])
	case *source:
		at, ok := w.sources[k.label]
		if !ok {
			at = len(w.sources)
			w.sources[k.label] = at
			w.r.Inputs = append(w.r.Inputs, receipt.Item{Name: fmt.Sprint(at), Type: describe(n, n.shape), Digest: w.digest(n, nil)})
		}
		text = fmt.Sprintf("input %d", at)
	}
	var in []int
	for _, from := range n.in {
		in = append(in, w.visit(from))
	}
	w.text = fmt.Appendf(w.text, "%q %v %v %v\n", text, n.dtype, n.shape, in)
	w.nodes[n] = w.made
	w.made++
	return w.nodes[n]
}

// digest returns the digest of an array that is read, and tells each the digests of its chunks, unless it is nil.
func (w *receiptWriter) digest(n *node, each func(b box, d receipt.Digest)) receipt.Digest {
	s := n.kind.(*source)
	if w.err != nil {
		return receipt.Digest{}
	}
	if s.array == nil {
		d, err := tensor.Digest(s.tensor)
		w.err = err
		return d
	}
	var t receipt.Tree
	grid := stage{node: n}
	w.err = grid.chunks(all(n.shape), func(index []int) error {
		b := newBox(len(index))
		for i, k := range index {
			b.from[i] = k * n.chunks[i]
			b.to[i] = min(b.from[i]+n.chunks[i], n.shape[i])
		}
		part, err := s.array.Slice(w.ctx, b.from, b.to)
		if err != nil {
			return err
		}
		defer part.Close()
		d, err := tensor.Digest(part)
		if err != nil {
			return err
		}
		t.Add(d[:])
		if each != nil {
			each(b, d)
		}
		return w.ctx.Err()
	})
	return t.Root()
}
