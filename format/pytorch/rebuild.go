package pytorch

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/layout"
)

// MaxRank is the largest rank accepted; it is PyTorch's own.
const MaxRank = 64

// An elem is an element type.
type elem struct {
	name string      // as PyTorch has it, without torch.
	d    dtype.DType // dtype.Invalid: no tensor holds it
	size int         // bytes, 0 where they aren't known
}

// elems are the element types by PyTorch's names.
var elems = map[string]elem{}

// storages are the element types of storages, by the names of their classes.
var storages = map[string]elem{}

func init() {
	for _, e := range []struct {
		elem
		storage string
	}{
		{elem{"float64", dtype.Float64, 8}, "Double"}, {elem{"float32", dtype.Float32, 4}, "Float"}, {elem{"float16", dtype.Float16, 2}, "Half"},
		{elem{"bfloat16", dtype.BFloat16, 2}, "BFloat16"}, {elem{"int64", dtype.Int64, 8}, "Long"}, {elem{"int32", dtype.Int32, 4}, "Int"},
		{elem{"int16", dtype.Int16, 2}, "Short"}, {elem{"int8", dtype.Int8, 1}, "Char"}, {elem{"uint8", dtype.Uint8, 1}, "Byte"},
		{elem{"bool", dtype.Bool, 1}, "Bool"}, {elem{"complex128", dtype.Complex128, 16}, "ComplexDouble"},
		{elem{"complex64", dtype.Complex64, 8}, "ComplexFloat"}, {elem{"complex32", dtype.Invalid, 4}, "ComplexHalf"},
		{elem{"quint8", dtype.Invalid, 1}, "QUInt8"}, {elem{"qint8", dtype.Invalid, 1}, "QInt8"}, {elem{"qint32", dtype.Invalid, 4}, "QInt32"},
		{elem{"quint4x2", dtype.Invalid, 1}, "QUInt4x2"}, {elem{"quint2x4", dtype.Invalid, 1}, "QUInt2x4"},
		{elem{"uint8", dtype.Uint8, 1}, "Untyped"}, {elem{"uint8", dtype.Uint8, 1}, "_Untyped"},
		{elem{"uint16", dtype.Uint16, 2}, ""}, {elem{"uint32", dtype.Uint32, 4}, ""}, {elem{"uint64", dtype.Uint64, 8}, ""},
		{elem{"float8_e4m3fn", dtype.Float8E4M3, 1}, ""}, {elem{"float8_e5m2", dtype.Float8E5M2, 1}, ""},
		{elem{"float8_e4m3fnuz", dtype.Float8E4M3FNUZ, 1}, ""}, {elem{"float8_e5m2fnuz", dtype.Float8E5M2FNUZ, 1}, ""},
		{elem{"float8_e8m0fnu", dtype.Float8E8M0, 1}, ""},
	} {
		elems[e.name] = e.elem
		if e.storage != "" {
			storages[e.storage+"Storage"] = e.elem
		}
	}
}

// A root is the bytes of a storage in the file.
type root struct {
	off, size int64 // off is -1 until it is known
	wide      int64 // bytes of an element, as its first storage has them
}

// A storage is elements of a root.
type storage struct {
	elem
	root  *root
	begin int64 // in elements
	count int64
}

// An array is a tensor of the file.
type array struct {
	elem
	shape  []int
	lay    layout.Layout
	root   *root
	begin  int64  // byte of the root where offset 0 of the layout is
	reason string // why no tensor holds it
	why    error  // format.ErrType, or format.ErrLimit
	at     int64  // the byte of the pickle, for errors
}

// numberOf is v as an int64, from 0.
func numberOf(v any) (int64, bool) {
	n, ok := v.(int64)
	return n, ok && n >= 0
}

// extents are the numbers of a shape or of strides.
func extents(v any) ([]int, bool) {
	s, ok := v.(*seq)
	if !ok || len(s.items) > MaxRank {
		return nil, false
	}
	list := make([]int, len(s.items))
	for i, x := range s.items {
		n, ok := numberOf(x)
		if list[i] = int(n); !ok || int64(list[i]) != n {
			return nil, false
		}
	}
	return list, true
}

// textOf is v as text.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// persistent finds the storage of an id: ("storage", class, key, location, count) and, in legacy files, a view of it or
// None. of gives the bytes of a key.
func persistent(id []any, of func(key string, wide, count int64) (*root, *format.Error)) (any, *format.Error) {
	if len(id) == 0 {
		return nil, fail(-1, "", format.ErrFormat, "an id without parts")
	}
	kind, _ := textOf(id[0])
	switch {
	case kind == "module" && len(id) > 1: // a class and its source text
		return id[1], nil
	case kind != "storage" || len(id) < 5:
		return nil, fail(-1, "", format.ErrFormat, "an id of %.100q with %d parts; that of a storage has 5 or 6", kind, len(id))
	}
	class, ok1 := id[1].(global)
	key, ok2 := textOf(id[2])
	count, ok3 := numberOf(id[4])
	if !ok1 || !ok2 || !ok3 {
		return nil, fail(-1, "", format.ErrFormat, "the id of a storage wants a class, a key and a count")
	}
	e, ok := storages[string(class[strings.LastIndexByte(string(class), '.')+1:])]
	if !ok || !strings.HasPrefix(string(class), "torch.") {
		return nil, fail(-1, "", format.ErrType, "the storage %.100q has the class %s, which isn't known", key, label(string(class)))
	}
	if count > math.MaxInt64/int64(e.size) {
		return nil, fail(-1, "", format.ErrLimit, "the storage %.100q has %d elements of %s", key, count, e.name)
	}
	r, err := of(key, int64(e.size), count)
	if err != nil {
		return nil, err
	}
	if need := count * int64(e.size); need > r.size {
		return nil, fail(-1, "", format.ErrShort, "the storage %.100q has %d bytes in the file, and %d of %s need %d", key, r.size, count, e.name, need)
	}
	s := &storage{elem: e, root: r, count: count}
	if len(id) > 5 && id[5] != nil {
		view, _ := id[5].(*seq)
		if view == nil || len(view.items) != 3 {
			return nil, fail(-1, "", format.ErrFormat, "a view of the storage %.100q wants a key, an offset and a count", key)
		}
		if s.begin, ok1 = numberOf(view.items[1]); ok1 {
			s.count, ok2 = numberOf(view.items[2])
		}
		if !ok1 || !ok2 || s.begin > count || s.count > count-s.begin {
			return nil, fail(-1, "", format.ErrFormat, "a view of the storage %.100q reaches beyond its %d elements", key, count)
		}
	}
	return s, nil
}

// rebuild makes the tensor of (storage, offset, shape, strides, …) whose type is that of the storage, or e.
func rebuild(args []any, e *elem) (any, *format.Error) {
	if len(args) < 4 {
		return nil, fail(-1, "", format.ErrFormat, "a tensor of %d parts", len(args))
	}
	s, ok := args[0].(*storage)
	if !ok {
		return nil, fail(-1, "", format.ErrFormat, "a tensor in %s, which is no storage", kindOf(args[0]))
	}
	offset, ok1 := numberOf(args[1])
	shape, ok2 := extents(args[2])
	strides, ok3 := extents(args[3])
	if !ok1 || !ok2 || !ok3 || len(shape) != len(strides) {
		return nil, fail(-1, "", format.ErrFormat, "a tensor wants an offset, a shape and a stride for each axis, from 0, and at most %d axes", MaxRank)
	}
	a := &array{elem: s.elem, shape: shape, root: s.root, begin: s.begin * int64(s.size)}
	count := s.count
	if e != nil { // bytes of any type
		a.elem = *e
		if e.size == 0 {
			return refused(a, "elements of "+e.name), nil
		}
		count = s.count * int64(s.size) / int64(e.size)
	}
	var err error
	if slices.Contains(shape, 0) { // their strides may be any
		a.lay, err = layout.RowMajor(shape...)
	} else {
		a.lay, err = layout.New(shape, strides)
	}
	if err != nil {
		return nil, fail(-1, "", format.ErrFormat, "a tensor of shape %v and strides %v: %v", shape, strides, err)
	}
	if _, high := a.lay.Span(); a.lay.Size() > 0 && (offset > count || int64(high) >= count-offset) {
		return nil, fail(-1, "", format.ErrShort, "a tensor of shape %v, strides %v and offset %d in a storage of %d elements of %s", shape, strides, offset, count, a.name)
	}
	if a.lay.Size() > 0 { // else the offset may be any
		a.begin += offset * int64(a.size)
	}
	if a.d == dtype.Invalid {
		refused(a, "elements of "+a.name)
	}
	return a, nil
}

// refused says that no tensor holds a.
func refused(a *array, reason string) *array {
	a.reason, a.why = reason, format.ErrType
	return a
}

// call is the table of calls: the functions that PyTorch rebuilds tensors by (torch/_utils.py), and the classes of plain
// data. Any other name gives an object of it. spend takes the memory of copies, and reports whether there is so much.
func call(name string, args []any, spend func(n int) bool) (any, *format.Error) {
	for range 8 { // a list of arguments may hold itself
		if name != "torch._tensor._rebuild_from_type_v2" || len(args) != 4 { // a tensor of a class of its own: function, class, arguments, state
			break
		}
		f, ok1 := args[0].(global)
		inner, ok2 := args[2].(*seq)
		if !ok1 || !ok2 {
			break
		}
		name, args = string(f), inner.items
	}
	switch strings.Replace(name, "__builtin__.", "builtins.", 1) {
	case "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2":
		a, err := rebuild(args, nil)
		if a, ok := a.(*array); ok && len(args) > 6 {
			marked(a, args[6])
		}
		return a, err
	case "torch._utils._rebuild_tensor_v3":
		if len(args) < 7 {
			break
		}
		d, _ := args[6].(global)
		short, ok := strings.CutPrefix(string(d), "torch.")
		if !ok {
			return nil, fail(-1, "", format.ErrFormat, "a tensor of %s, which is no type", kindOf(args[6]))
		}
		e, ok := elems[short]
		if !ok {
			e = elem{name: short}
		}
		a, err := rebuild(args, &e)
		if a, ok := a.(*array); ok && len(args) > 7 {
			marked(a, args[7])
		}
		return a, err
	case "torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer",
		"torch.jit._pickle.restore_type_tag", "torch.jit._pickle.build_tensorlist", "torch.jit._pickle.build_intlist",
		"torch.jit._pickle.build_doublelist", "torch.jit._pickle.build_boollist",
		"torch.Size", "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.bytearray", "builtins.bytes":
		if len(args) > 0 {
			return args[0], nil
		}
		return &seq{}, nil
	case "collections.OrderedDict", "collections.defaultdict", "collections.Counter", "builtins.dict":
		d := &dict{}
		for _, arg := range args {
			if spend(100 * items(arg)) {
				fill(d, arg)
			}
		}
		return d, nil
	case "_codecs.encode": // bytes, in protocol 2
		if len(args) == 0 {
			break
		}
		if text, ok := textOf(args[0]); ok && spend(2*len(text)) {
			b := make([]byte, 0, len(text))
			for _, r := range text {
				b = append(b, byte(r))
			}
			return b, nil
		}
	case "torch.device", "torch.serialization._get_layout":
		if len(args) > 0 {
			return args[0], nil
		}
	case "torch._utils._rebuild_sparse_tensor":
		return refused(&array{}, "a sparse tensor"), nil
	case "torch._utils._rebuild_qtensor":
		return refused(&array{}, "a quantized tensor"), nil
	case "torch._utils._rebuild_meta_tensor_no_storage":
		return refused(&array{}, "a tensor without elements"), nil
	case "torch._utils._rebuild_nested_tensor":
		return refused(&array{}, "a nested tensor"), nil
	case "torch._utils._rebuild_wrapper_subclass", "torch._utils._rebuild_device_tensor_from_numpy", "torch._utils._rebuild_xla_tensor", "torch._utils._rebuild_device_tensor_from_cpu_tensor":
		return refused(&array{}, "a tensor of another device or program"), nil
	}
	return &object{class: name}, nil
}

// marked refuses a tensor that isn't its elements: {"conj": True} and {"neg": True} stand for others.
func marked(a *array, v any) {
	if d, ok := v.(*dict); ok {
		for _, bit := range []string{"conj", "neg"} {
			if d.get(bit) == true {
				refused(a, "elements that are to be changed ("+bit+"); resolve_"+bit+" does that")
			}
		}
	}
}

// items is how many pairs or items v has.
func items(v any) int {
	switch v := v.(type) {
	case *dict:
		return len(v.keys)
	case *seq:
		return len(v.items)
	}
	return 0
}

// fill puts the pairs or the items of v into d.
func fill(d *dict, v any) {
	switch v := v.(type) {
	case *dict:
		for i, key := range v.keys {
			d.set(key, v.values[i])
		}
	case *seq:
		for _, pair := range v.items {
			if pair, ok := pair.(*seq); ok && len(pair.items) == 2 {
				d.set(pair.items[0], pair.items[1])
			}
		}
	}
}
