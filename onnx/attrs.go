package onnx

import (
	"hash/fnv"
	"sync"

	"github.com/ashlar-go/ashlar/tensor"
)

// attrs gives one call of an operator its attributes. An attribute of another kind than the operator asks for
// counts as absent, and is noted in wrong.
type attrs struct {
	node    *Node
	tensors map[string]Value // the values of the attributes that are tensors
	kept    *memory          // the value that the operator made of the attributes; nil: nothing stays
	wrong   error
}

func value[T any](a *attrs, name, want string) (v T, ok bool) {
	at := a.node.Attr(name)
	if at == nil {
		return v, false
	}
	if v, ok = at.Value.(T); !ok && a.wrong == nil {
		a.wrong = inAttr(name, failf("it holds %v, the operator asks for %s", at.kind(), want))
	}
	return v, ok
}

// Keep returns the value that the operator made of the attributes in an earlier call, and makes it in the first one.
func (a *attrs) Keep(make func() any) any {
	if a.kept == nil {
		return make()
	}
	a.kept.Lock()
	defer a.kept.Unlock()
	if a.kept.v == nil {
		a.kept.v = make()
	}
	return a.kept.v
}

func (a *attrs) Has(name string) bool { return a.node.Attr(name) != nil }

func (a *attrs) Int(name string, def int64) int64 {
	if v, ok := value[int64](a, name, "int"); ok {
		return v
	}
	if name == "seed" {
		return seedOf(a.node)
	}
	return def
}

func (a *attrs) Ints(name string) ([]int64, bool) { return value[[]int64](a, name, "ints") }

func (a *attrs) Float(name string, def float32) float32 {
	if v, ok := value[float32](a, name, "float"); ok {
		return v
	}
	if name == "seed" {
		return float32(seedOf(a.node))
	}
	return def
}

// seedOf returns a seed for a node that has none: the hash FNV-1a of its first output's name in 24 bits, which a float32
// holds. So nodes of a graph differ, and all runs of a model are alike.
func seedOf(n *Node) int64 {
	h := fnv.New32a()
	if len(n.Outputs) > 0 {
		h.Write([]byte(n.Outputs[0]))
	}
	return int64(h.Sum32() >> 8)
}

func (a *attrs) Floats(name string) ([]float32, bool) { return value[[]float32](a, name, "floats") }

func (a *attrs) Str(name, def string) string {
	if v, ok := value[string](a, name, "string"); ok {
		return v
	}
	return def
}

func (a *attrs) Strs(name string) ([]string, bool) { return value[[]string](a, name, "strings") }

func (a *attrs) Tensor(name string) (tensor.Any, bool) {
	if _, ok := value[*TensorProto](a, name, "tensor"); !ok {
		return tensor.Any{}, false
	}
	v := a.tensors[name]
	return v.Tensor(), v.text == nil
}

// stringsIn returns the strings that an attribute holds, one or several.
func stringsIn(a *Attribute) ([]string, bool) {
	if a == nil {
		return nil, false
	}
	switch v := a.Value.(type) {
	case string:
		return []string{v}, true
	case []string:
		return v, true
	}
	return nil, false
}

// memory is the value that an operator made of the attributes of its node.
type memory struct {
	sync.Mutex
	v any
}

// once is something that is made of a node's attributes when it is needed first.
type once struct {
	sync.Once
	v   any
	err error
}
