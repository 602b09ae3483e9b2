package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A recorder writes the nodes of a run into a receipt. With several threads helpers hash the results while the next nodes run.
type recorder struct {
	to    *receipt.Receipt
	want  []receipt.Node  // of the receipt that is verified
	found *Mismatch       // the first node that differs from it
	ran   map[string]bool // if not nil, the nodes that ran, by their labels with places

	threads int
	helpers int
	work    chan *hashing // the results that no goroutine has begun to hash
	late    []*hashing    // the nodes that haven't been compared, in their order
}

// A hashing is the results of a node on their way into a receipt.
type hashing struct {
	at   int // of the node in the receipt
	node receipt.Node
	tick int // of the step in a prepared frame; 0 in another
	held []Value
	done chan struct{} // closed when the digests, or err, are there
	err  error
}

// mostLate is how many nodes may be late. A prepared run keeps the memory of results for as many steps.
const mostLate = 8

// atOnce is how many bytes of results aren't worth a helper. A test changes it.
var atOnce int64 = 4096

// errDiffers ends a run that is verified.
var errDiffers = errors.New("a node differs")

// begin begins a receipt. The function that it returns ends the helpers.
func (c *recorder) begin(ctx context.Context, to *receipt.Receipt) (end func()) {
	c.to, c.threads = to, op.Threads(ctx)
	c.work = make(chan *hashing, mostLate)
	return func() {
		close(c.work)
		for _, h := range c.late { // after a panic
			<-h.done
		}
	}
}

// behind is for how many steps a prepared run keeps the memory of results.
func (c *recorder) behind() int {
	if c == nil || c.threads == 1 {
		return 0
	}
	return mostLate
}

// node begins to hash the results of a step.
func (c *recorder) node(fr *frame, s *step, tick int, outs []Value) error {
	if err := c.settle(fr.run, len(c.late)+1-mostLate); err != nil {
		return err
	}
	if len(c.to.Nodes) == receipt.MaxNodes {
		return failf("%w: the receipt would have more than %d results of nodes; leave Options.ReceiptNodes out", tensor.ErrValue, receipt.MaxNodes)
	}
	if c.ran != nil {
		c.ran[fr.c.place+fr.c.label(s)] = true
	}
	h := &hashing{at: len(c.to.Nodes), tick: tick, node: receipt.Node{Node: fr.around() + fr.c.label(s)}, done: make(chan struct{})}
	bytes := int64(0)
	for j, id := range s.out {
		if id >= 0 && j < len(outs) && outs[j].known() {
			v := outs[j]
			hold(&v)
			h.held = append(h.held, v)
			h.node.Results = append(h.node.Results, receipt.Item{Name: fr.c.names[id], Type: v.String()})
			bytes = add(bytes, max(v.size(), 0))
		}
	}
	c.to.Nodes = append(c.to.Nodes, h.node)
	c.late = append(c.late, h)
	if c.threads == 1 || bytes <= atOnce {
		h.do()
	} else {
		if c.helpers < c.threads-1 {
			c.helpers++
			go func() {
				for h := range c.work {
					h.do()
				}
			}()
		}
		c.work <- h
	}
	return c.settle(fr.run, 0)
}

// do hashes the results, which may be in mapped memory.
func (h *hashing) do() {
	defer close(h.done)
	h.err = ram.Guard(func() error {
		for i := range h.held {
			if err := digestInto(&h.node.Results[i], &h.held[i]); err != nil {
				return in(fmt.Sprintf("%s: result %q", h.node.Node, h.node.Results[i].Name), err)
			}
		}
		return nil
	})
}

// settle compares at least the n oldest of the late nodes with the receipt that is verified, and lets go of their values. It hashes
// results that no helper has begun rather than wait. The error is errDiffers where a node differs.
func (c *recorder) settle(r *run, n int) error {
	for ; len(c.late) > 0; n-- {
		h := c.late[0]
		for hashed := false; !hashed; {
			select {
			case <-h.done:
				hashed = true
				continue
			default:
			}
			if n <= 0 {
				return nil
			}
			select {
			case <-h.done:
				hashed = true
			case other := <-c.work:
				other.do()
			}
		}
		c.late = slices.Delete(c.late, 0, 1)
		err := h.err
		if err == nil && len(c.want) > 0 && c.found == nil {
			err = c.compare(h)
		}
		r.releaseAll(h.held)
		if err != nil {
			return err
		}
	}
	return nil
}

// before settles the nodes whose memory the step of a prepared run at a tick may write to.
func (c *recorder) before(r *run, tick int) error {
	n := len(c.late)
	for n > 0 && c.late[n-1].tick >= tick-mostLate {
		n--
	}
	return c.settle(r, n)
}

// finish settles all nodes after a run that ended with err, and returns the first error.
func (c *recorder) finish(r *run, err error) error {
	for len(c.late) > 0 {
		if late := c.settle(r, len(c.late)); err == nil {
			err = late
		}
	}
	return err
}

// around says which nodes, attributes and iterations a frame stands in.
func (fr *frame) around() string {
	if fr.outer == nil {
		return ""
	}
	o := fr.outer
	text := o.around() + o.c.label(&o.c.steps[o.at]) + ": "
	if fr.c.attr != "" { // else the frame is the body of an operator
		text += fr.c.attr + ": "
	}
	if fr.turn >= 0 {
		text += fmt.Sprintf("iteration %d: ", fr.turn)
	}
	return text
}
