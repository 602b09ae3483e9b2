package chunk

import (
	"fmt"

	"github.com/ashlar-go/ashlar/tensor"
)

// rechunked has other chunks than its operand.
type rechunked struct{}

func (r *rechunked) text() string { return "Rechunk" }

func (r *rechunked) eval(e *evaluator, n *node, b box) (tensor.Any, error) { return e.eval(n.in[0], b) }

func (r *rechunked) cost(n *node, b box) cost { return n.in[0].kind.cost(n.in[0], b) }

var _ = fmt.Sprint

func (pl *planner) copies(n *node, r *rechunked) (*node, []int, error) { return n, n.chunks, nil }
