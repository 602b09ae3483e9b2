package pytorch

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/ashlar-go/ashlar/format"
)

// Values of a pickle. None is nil; bool, int64, *big.Int, float64, string and []byte are themselves.
type (
	// A seq is a list, a tuple or a set.
	seq struct{ items []any }

	// A dict is a dictionary, in the order of its keys.
	dict struct {
		keys, values []any
		at           map[any]int // of the keys that are numbers or text
	}

	// A global is a class, a function or an element type by its name, as "torch.FloatStorage".
	global string

	// An object stands for the result of a call of a class or a function, which isn't made.
	object struct {
		class string
		state any // that the pickle sets
		items seq // that the pickle appends
		dict  dict
	}
)

// set sets d[key] to a value.
func (d *dict) set(key, value any) {
	switch key.(type) {
	case nil, bool, int64, float64, string, global:
		if i, ok := d.at[key]; ok {
			d.values[i] = value
			return
		}
		if d.at == nil {
			d.at = make(map[any]int)
		}
		d.at[key] = len(d.keys)
	}
	d.keys, d.values = append(d.keys, key), append(d.values, value)
}

// get returns d[key], nil if there is none.
func (d *dict) get(key any) any {
	if i, ok := d.at[key]; ok {
		return d.values[i]
	}
	return nil
}

// A machine reads pickles, of the opcodes that protocols 2 to 5 have for plain data and calls. It calls nothing: a name
// that the table of calls knows gives a value, any other an object of the name.
type machine struct {
	b     []byte
	at    int
	base  int64 // the byte of the file where b begins
	room  int64 // how much memory values may still take, in bytes
	err   *format.Error
	op    int // where the opcode is
	stack []any
	marks []int // heights of the stack
	memo  []any

	persistent func(id []any) (any, *format.Error) // the storage of an id; nil where there is none
	call       func(name string, args []any, spend func(n int) bool) (any, *format.Error)
}

// fail keeps the first error, about the opcode.
func (m *machine) fail(err error, format string, args ...any) {
	if m.err == nil {
		m.err = fail(m.base+int64(m.op), "", err, format, args...)
	}
}

// spend takes memory for values from the room that there is, and reports whether there was enough.
func (m *machine) spend(n int) bool {
	if m.room -= int64(n); m.room < 0 {
		m.fail(format.ErrLimit, "the pickle makes more values than a file of this size may")
	}
	return m.room >= 0
}

// take reads n bytes.
func (m *machine) take(n uint64) []byte {
	if n > uint64(len(m.b)-m.at) {
		m.fail(format.ErrShort, "opcode %#02x needs %d bytes, the pickle has %d more", m.b[m.op], n, len(m.b)-m.at)
	}
	if m.err != nil {
		return nil
	}
	b := m.b[m.at : m.at+int(n)]
	m.at += int(n)
	return b
}

// count reads a number of n bytes, without a sign.
func (m *machine) count(n uint64) (v uint64) {
	for i, c := range m.take(n) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// line reads text to the end of its line.
func (m *machine) line() string {
	end := bytes.IndexByte(m.b[m.at:], '\n')
	if end < 0 {
		m.fail(format.ErrShort, "a name without an end")
		return ""
	}
	s := m.take(uint64(end + 1))
	m.spend(2 * len(s))
	return string(s[:max(len(s)-1, 0)])
}

func (m *machine) push(v any) {
	m.spend(48)
	if m.err == nil {
		m.stack = append(m.stack, v)
	}
}

// pop takes the top of the stack down to the last mark.
func (m *machine) pop() any {
	low := 0
	if n := len(m.marks); n > 0 {
		low = m.marks[n-1]
	}
	if len(m.stack) <= low {
		m.fail(format.ErrFormat, "opcode %#02x wants a value, and the stack has none", m.b[m.op])
	}
	if m.err != nil {
		return nil
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// popMark takes all that is above the last mark.
func (m *machine) popMark() []any {
	if len(m.marks) == 0 {
		m.fail(format.ErrFormat, "opcode %#02x wants a mark, and there is none", m.b[m.op])
	}
	if m.err != nil {
		return nil
	}
	low := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	list := slices.Clone(m.stack[low:])
	m.spend(16 * len(list))
	m.stack = m.stack[:low]
	return list
}

// tuple makes one of n values.
func (m *machine) tuple(n int) {
	list := make([]any, n)
	for i := range list {
		list[n-1-i] = m.pop()
	}
	m.spend(16 * n)
	m.push(&seq{list})
}

// text pushes a string of n bytes.
func (m *machine) text(n uint64) {
	s := m.take(n)
	m.spend(2 * len(s))
	m.push(string(s))
}

func (m *machine) bytes(n uint64) {
	s := m.take(n)
	m.spend(2 * len(s))
	m.push(slices.Clone(s))
}

// long pushes a signed number of n bytes.
func (m *machine) long(n uint64) {
	b := slices.Clone(m.take(n))
	slices.Reverse(b)
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	m.spend(2 * len(b))
	if v.IsInt64() {
		m.push(v.Int64())
	} else {
		m.push(v)
	}
}

// put keeps the top of the stack in the memo, whose numbers writers give in order; Python 2 leaves out 0.
func (m *machine) put(i uint64) {
	const gap = 16
	if v := m.pop(); m.err == nil {
		m.stack = append(m.stack, v)
		if i > uint64(len(m.memo)+gap) {
			m.fail(format.ErrFormat, "memo %d, and so far there are %d", i, len(m.memo))
			return
		}
		for uint64(len(m.memo)) <= i {
			m.spend(48)
			m.memo = append(m.memo, nothing)
		}
		m.memo[i] = v
	}
}

// nothing is in the memo where nothing was put.
var nothing = new(object)

func (m *machine) get(i uint64) {
	if m.err != nil {
		return
	}
	if i >= uint64(len(m.memo)) || m.memo[i] == any(nothing) {
		m.fail(format.ErrFormat, "memo %d, which isn't there", i)
		return
	}
	m.push(m.memo[i])
}

// top is the value that an opcode adds to.
func (m *machine) top() any {
	v := m.pop()
	if m.err == nil {
		m.stack = append(m.stack, v)
	}
	return v
}

// add appends to the list on the stack.
func (m *machine) add(list []any) {
	to := m.top()
	m.spend(32 * len(list))
	switch to := to.(type) {
	case *seq:
		to.items = append(to.items, list...)
	case *object:
		to.items.items = append(to.items.items, list...)
	default:
		m.fail(format.ErrFormat, "%s, and values are appended to it", kindOf(to))
	}
}

// setItems puts items into the dictionary on the stack.
func (m *machine) setItems(list []any) {
	var d *dict
	switch to := m.top().(type) {
	case *dict:
		d = to
	case *object:
		d = &to.dict
	default:
		m.fail(format.ErrFormat, "%s, and keys are set in it", kindOf(to))
	}
	if len(list)%2 != 0 {
		m.fail(format.ErrFormat, "a key without a value")
	}
	if m.spend(100 * len(list)); m.err != nil {
		return
	}
	for i := 0; i < len(list); i += 2 {
		d.set(list[i], list[i+1])
	}
}

// reduce replaces a name and arguments by their value in the table of calls.
func (m *machine) reduce() {
	args, _ := m.pop().(*seq)
	name := m.pop()
	if m.err != nil {
		return
	}
	var v any
	var err *format.Error
	switch f := name.(type) {
	case global:
		if args == nil {
			m.fail(format.ErrFormat, "a call of %.100q, whose arguments are no tuple", string(f))
			return
		}
		v, err = m.call(string(f), args.items, m.spend)
	case *object: // the result of another call
		v = &object{class: f.class}
	default:
		m.fail(format.ErrFormat, "%s is called", kindOf(f))
	}
	if err != nil && m.err == nil {
		err.Offset = m.base + int64(m.op)
		m.err = err
	}
	if a, ok := v.(*array); ok && a.at == 0 {
		a.at = m.base + int64(m.op)
	}
	m.spend(200)
	m.push(v)
}

// build sets the state of an object. That of others is about Python alone, as _metadata of a state dict.
func (m *machine) build() {
	state := m.pop()
	if o, ok := m.top().(*object); ok {
		o.state = state
	}
}

// persist replaces the id of a storage by it.
func (m *machine) persist() {
	id, ok := m.pop().(*seq)
	if m.err == nil && !ok {
		m.fail(format.ErrFormat, "the id of a storage is no tuple")
	}
	if m.persistent == nil {
		m.fail(format.ErrFormat, "the id of a storage, where there is none")
	}
	if m.err != nil {
		return
	}
	v, err := m.persistent(id.items)
	if err != nil {
		err.Offset = m.base + int64(m.op)
		m.err = err
	}
	m.spend(200)
	m.push(v)
}

// load reads one pickle, behind which m.at stands then.
func (m *machine) load() (any, *format.Error) {
	m.stack, m.marks, m.memo = m.stack[:0], m.marks[:0], nil
	for m.err == nil {
		m.op = m.at
		if m.at == len(m.b) {
			return nil, fail(m.base+int64(m.at), "", format.ErrShort, "the pickle has no end")
		}
		if m.at++; m.b[m.op] == '.' {
			if v := m.pop(); m.err == nil {
				return v, nil
			}
			break
		}
		m.step(m.b[m.op])
	}
	return nil, m.err
}

// step runs an opcode. Lib/pickletools.py of CPython has their names and numbers.
func (m *machine) step(op byte) {
	switch op {
	case 0x80: // PROTO
		if v := m.count(1); m.err == nil && (v < 2 || v > 5) {
			m.fail(format.ErrFormat, "protocol %d of pickles; those read are 2 to 5", v)
		}
	case 0x95: // FRAME
		if n := m.count(8); m.err == nil && n > uint64(len(m.b)-m.at) {
			m.fail(format.ErrShort, "a frame of %d bytes, the pickle has %d more", n, len(m.b)-m.at)
		}
	case 'N': // NONE
		m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		m.push(op == 0x88)
	case 'K', 'M': // BININT1, BININT2
		m.push(int64(m.count(uint64(op-'K')/2 + 1)))
	case 'J': // BININT
		m.push(int64(int32(m.count(4))))
	case 0x8a: // LONG1
		m.long(m.count(1))
	case 'G': // BINFLOAT
		if b := m.take(8); b != nil {
			m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case 'U', 0x8c: // SHORT_BINSTRING, SHORT_BINUNICODE
		m.text(m.count(1))
	case 'T', 'X': // BINSTRING, BINUNICODE
		m.text(m.count(4))
	case 0x8d: // BINUNICODE8
		m.text(m.count(8))
	case 'C': // SHORT_BINBYTES
		m.bytes(m.count(1))
	case 'B': // BINBYTES
		m.bytes(m.count(4))
	case 0x8e, 0x96: // BINBYTES8, BYTEARRAY8
		m.bytes(m.count(8))
	case '(': // MARK
		m.spend(32)
		m.marks = append(m.marks, len(m.stack))
	case '0': // POP
		if n := len(m.marks); n > 0 && m.marks[n-1] == len(m.stack) {
			m.marks = m.marks[:n-1]
			return
		}
		m.pop()
	case '1': // POP_MARK
		m.popMark()
	case ')': // EMPTY_TUPLE
		m.push(&seq{})
	case ']', 0x8f: // EMPTY_LIST, EMPTY_SET
		m.push(&seq{})
	case '}': // EMPTY_DICT
		m.spend(64)
		m.push(&dict{})
	case 't', 0x91: // TUPLE, FROZENSET
		m.push(&seq{m.popMark()})
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		m.tuple(int(op - 0x84))
	case 'a': // APPEND
		m.add([]any{m.pop()})
	case 'e', 0x90: // APPENDS, ADDITEMS
		m.add(m.popMark())
	case 's': // SETITEM
		value := m.pop()
		m.setItems([]any{m.pop(), value})
	case 'u': // SETITEMS
		m.setItems(m.popMark())
	case 'q': // BINPUT
		m.put(m.count(1))
	case 'r': // LONG_BINPUT
		m.put(m.count(4))
	case 0x94: // MEMOIZE
		m.put(uint64(len(m.memo)))
	case 'h': // BINGET
		m.get(m.count(1))
	case 'j': // LONG_BINGET
		m.get(m.count(4))
	case 'c': // GLOBAL
		module := m.line()
		m.push(global(module + "." + m.line()))
	case 0x93: // STACK_GLOBAL
		name, ok1 := m.pop().(string)
		module, ok2 := m.pop().(string)
		if m.err == nil && !(ok1 && ok2) {
			m.fail(format.ErrFormat, "a name that is no text")
		}
		m.spend(len(module) + len(name))
		m.push(global(module + "." + name))
	case 'R', 0x81: // REDUCE, NEWOBJ
		m.reduce()
	case 0x92: // NEWOBJ_EX
		m.pop() // arguments by name
		m.reduce()
	case 'b': // BUILD
		m.build()
	case 'Q': // BINPERSID
		m.persist()
	default:
		m.fail(format.ErrFormat, "opcode %#02x (%q), which pickles of tensors don't have", op, op)
	}
}

// kindOf names a value for errors.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case *seq:
		return "a list"
	case *dict:
		return "a dictionary"
	case *array:
		return "a tensor"
	case *storage:
		return "a storage"
	case global:
		return "the name " + label(string(v))
	case *object:
		return "an object of " + label(v.class)
	case string, []byte:
		return "text"
	}
	return "a number"
}
