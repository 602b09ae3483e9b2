package onnx

// A valueOp is an operator that package op doesn't have, because it runs graphs or takes other values than tensors of numbers; or the
// form for strings of one that it has.
type valueOp struct {
	name     string
	domain   string
	versions []int
	graphs   []string // the attributes that hold graphs; all are needed
	attrs    []string // the others, of a form for strings the attributes that the operator hasn't
	least    int      // how many inputs it needs
	most     int      // how many it takes; any number if negative
	chooses  bool     // it runs the first or the second of the graphs, as its only input says
	bodies   func(s *step) error
	asks     func(n *Node) bool // of a form for strings: whether a node has it whatever its inputs are; an input of strings has it, too
	any      bool               // a form for strings takes values that are no tensors, too
	infer    func(f *inference, k *valueCall) ([]Value, account, error)
	run      func(k *valueCall) ([]Value, error) // the values are held for the caller
}

// Name returns the operator's name.
func (f *valueOp) Name() string { return f.name }

// Domain returns the domain that defines the operator.
func (f *valueOp) Domain() string { return f.domain }

// Versions returns the opsets that define it.
func (f *valueOp) Versions() []int { return f.versions }

// valueOps are the operators of this kind.
var valueOps = make(map[opKey]*valueOp)

// simple is computed for one result.
func simple(name string, least, most int, compute func(k *valueCall) (Value, error), attrs []string, versions ...int) *valueOp {
	return computed(name, least, most, func(k *valueCall) ([]Value, error) {
		v, err := compute(k)
		return []Value{v}, err
	}, attrs, versions...)
}

// computed is a valueOp without graphs: compute gives the results, in which new tensors are marked fresh. While inferring its
// inputs hold Specs, and it fails with op.ErrUnknown where it needs more.
func computed(name string, least, most int, compute func(k *valueCall) ([]Value, error), attrs []string, versions ...int) *valueOp {
	return &valueOp{name: name, versions: versions, attrs: attrs, least: least, most: most,
		infer: func(_ *inference, k *valueCall) ([]Value, account, error) {
			for j, id := range k.s.in {
				if id >= 0 && !k.in[j].known() {
					return nil, account{}, nil
				}
			}
			vals, err := compute(k)
			return vals, account{live: k.need, alone: k.need}, err
		},
		run: func(k *valueCall) ([]Value, error) {
			vals, err := compute(k)
			if err != nil {
				return nil, err
			}
			for j := range vals {
				k.own(&vals[j])
			}
			return vals, nil
		}}
}

// check compares the graphs of a step, which have passed their own checks, with the node.
func (f *valueOp) check(s *step) error {
	if f.bodies == nil {
		return nil
	}
	return f.bodies(s)
}
