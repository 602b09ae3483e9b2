package onnx

import (
	"fmt"
	"math"
	"reflect"

	"github.com/ashlar-go/ashlar/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth bounds how deep messages nest; protobuf's own parsers stop at the same depth.
const maxDepth = 100

// What decoding may allocate, and the checks after it: so that a small file can't ask for a large heap, every allocation is
// first taken from a budget that grows with the file. The shortest node that means something has 22 bytes and is charged
// 1,500, so the first part of a file counts for more; files beyond it are large because of their weights.
const (
	budgetBase   = 48 << 20
	budgetNodes  = 80 // bytes for each byte of the first budgetPart
	budgetPart   = 64 << 20
	budgetFactor = 5 // for each byte of the rest
)

// A msg is a message or list still in wire form: bytes of the file and where in it they start.
type msg struct {
	b  []byte
	at int
}

// A field is one field of a message. val holds a varint or the bits of a fixed-width value, body the rest.
type field struct {
	num  protowire.Number
	typ  protowire.Type
	val  uint64
	body msg
	at   int
}

// A decoder carries what decoding may still spend.
type decoder struct {
	budget int64
	depth  int
	graphs int         // how many graphs stand around what is decoded
	from   *mem.Buffer // what the bytes are of; nil for a program's own
	folder *folder     // of the file

	strings *table // of the values that are decoded
}

func newDecoder(size int) *decoder {
	part := min(int64(size), budgetPart)
	return &decoder{budget: budgetBase + budgetNodes*part + budgetFactor*(int64(size)-part)}
}

// spend takes n bytes, with what the allocator adds, from the budget.
func (d *decoder) spend(n int64) error {
	if n > d.budget {
		d.budget = 0
		return failf("the contents would take more than %d MiB + %d × the file's size in memory, %d × beyond its first %d MiB", budgetBase>>20, budgetNodes, budgetFactor, budgetPart>>20)
	}
	d.budget -= n + n/8 + 16
	return nil
}

// list returns n zero values of T, paid for. extra bytes are paid for each besides, for what checks will need.
func list[T any](d *decoder, n, extra int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	if err := d.spend(int64(n) * int64(int(reflect.TypeFor[T]().Size())+extra)); err != nil {
		return nil, err
	}
	return make([]T, 0, n), nil
}

// text returns the body as a string of its own.
func (d *decoder) text(f field) (string, error) {
	if f.typ != protowire.BytesType {
		return "", f.wrongType("a string")
	}
	if err := d.spend(int64(len(f.body.b))); err != nil {
		return "", err
	}
	return string(f.body.b), nil
}

func (f field) wrongType(want string) error {
	kinds := map[protowire.Type]string{protowire.VarintType: "a varint", protowire.Fixed32Type: "4 bytes", protowire.Fixed64Type: "8 bytes", protowire.BytesType: "bytes"}
	return failf("byte %d: field %d holds %s, not %s", f.at, f.num, kinds[f.typ], want)
}

// int returns a varint field.
func (f field) int() (int64, error) {
	if f.typ != protowire.VarintType {
		return 0, f.wrongType("a varint")
	}
	return int64(f.val), nil
}

// int32 returns a varint field cut to 32 bits, as protobuf says.
func (f field) int32() (int32, error) {
	v, err := f.int()
	return int32(v), err
}

func (f field) float() (float32, error) {
	if f.typ != protowire.Fixed32Type {
		return 0, f.wrongType("4 bytes")
	}
	return math.Float32frombits(uint32(f.val)), nil
}

// message returns the body of a message field.
func (f field) message() (msg, error) {
	if f.typ != protowire.BytesType {
		return msg{}, f.wrongType("a message")
	}
	return f.body, nil
}

// next cuts the first field off m. It returns false at the end.
func (m *msg) next(f *field) (bool, error) {
	if len(m.b) == 0 {
		return false, nil
	}
	at := m.at
	bad := func(what string, n int) error {
		return failf("byte %d: %s: %w", at, what, protowire.ParseError(n))
	}
	num, typ, n := protowire.ConsumeTag(m.b)
	if n < 0 {
		return false, bad("field tag", n)
	}
	*f = field{num: num, typ: typ, at: at}
	m.skip(n)
	switch typ {
	case protowire.VarintType:
		f.val, n = protowire.ConsumeVarint(m.b)
	case protowire.Fixed64Type:
		f.val, n = protowire.ConsumeFixed64(m.b)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(m.b)
		f.val = uint64(v)
	case protowire.BytesType:
		var size uint64
		size, n = protowire.ConsumeVarint(m.b)
		if n < 0 {
			break
		}
		if left := len(m.b) - n; size > uint64(left) {
			return false, failf("byte %d: field %d is said to have %d bytes, but %d are left", at, num, size, left)
		}
		m.skip(n)
		n = int(size)
		f.body = msg{m.b[:n:n], m.at}
	default:
		return false, failf("byte %d: field %d has wire type %d (groups aren't used by ONNX)", at, num, typ)
	}
	if n < 0 {
		return false, bad(fmt.Sprintf("field %d", num), n)
	}
	m.skip(n)
	return true, nil
}

func (m *msg) skip(n int) { m.b, m.at = m.b[n:], m.at+n }

// A tally counts the fields of a message by number, for those below its length.
type tally [31]int

// scan walks over the fields of m once and counts them; see also each.
func (m msg) scan() (t tally, err error) {
	var f field
	for {
		ok, err := m.next(&f)
		if !ok || err != nil {
			return t, err
		}
		if int(f.num) < len(t) {
			t[f.num]++
		}
	}
}

// first returns the text of the first string field with number num, for naming m in an error; "" if there is none.
func (m msg) first(num protowire.Number) string {
	var f field
	for {
		ok, err := m.next(&f)
		if !ok || err != nil {
			return ""
		}
		if f.num == num && f.typ == protowire.BytesType {
			return string(f.body.b[:min(len(f.body.b), 200)])
		}
	}
}

// each calls do for the fields of m, one level deeper.
func (d *decoder) each(m msg, do func(f field) error) error {
	if d.depth++; d.depth > maxDepth {
		return failf("byte %d: messages nest deeper than %d", m.at, maxDepth)
	}
	defer func() { d.depth-- }()
	var f field
	for {
		ok, err := m.next(&f)
		if !ok || err != nil {
			return err
		}
		if err := do(f); err != nil {
			return err
		}
	}
}

// numbers calls do for the elements of the repeated numeric field num of m, packed or not, or both mixed. width is 0 for
// varints and otherwise the bytes of one element; it returns how many there are. do may be nil.
func (m msg) numbers(num protowire.Number, width int, do func(i int, v uint64) error) (n int, err error) {
	want := protowire.VarintType
	switch width {
	case 4:
		want = protowire.Fixed32Type
	case 8:
		want = protowire.Fixed64Type
	}
	var f field
	for {
		ok, err := m.next(&f)
		if !ok || err != nil {
			return n, err
		}
		switch {
		case f.num != num:
			continue
		case f.typ == want:
			if do != nil {
				if err := do(n, f.val); err != nil {
					return n, err
				}
			}
			n++
			continue
		case f.typ != protowire.BytesType:
			return n, f.wrongType("a list of numbers")
		case width > 0 && len(f.body.b)%width != 0:
			return n, failf("byte %d: field %d: %d bytes don't make whole elements of %d", f.at, num, len(f.body.b), width)
		case do == nil && width > 0:
			n += len(f.body.b) / width
			continue
		}
		for p := f.body; len(p.b) > 0; n++ {
			v, k := uint64(0), width
			switch width {
			case 4:
				x, _ := protowire.ConsumeFixed32(p.b)
				v = uint64(x)
			case 8:
				v, _ = protowire.ConsumeFixed64(p.b)
			default:
				if v, k = protowire.ConsumeVarint(p.b); k < 0 {
					return n, failf("byte %d: field %d: element %d: %w", p.at, num, n, protowire.ParseError(k))
				}
			}
			if do != nil {
				if err := do(n, v); err != nil {
					return n, err
				}
			}
			p.skip(k)
		}
	}
}

// int64s returns the repeated varint field num of m.
func (d *decoder) int64s(m msg, num protowire.Number) ([]int64, error) {
	n, err := m.numbers(num, 0, nil)
	if err != nil || n == 0 {
		return nil, err
	}
	out, err := list[int64](d, n, 0)
	if err != nil {
		return nil, err
	}
	_, err = m.numbers(num, 0, func(_ int, v uint64) error { out = append(out, int64(v)); return nil })
	return out, err
}

// float32s returns the repeated float field num of m.
func (d *decoder) float32s(m msg, num protowire.Number) ([]float32, error) {
	n, err := m.numbers(num, 4, nil)
	if err != nil || n == 0 {
		return nil, err
	}
	out, err := list[float32](d, n, 0)
	if err != nil {
		return nil, err
	}
	_, err = m.numbers(num, 4, func(_ int, v uint64) error { out = append(out, math.Float32frombits(uint32(v))); return nil })
	return out, err
}
