package wire

import (
	"fmt"
	"math"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth bounds how deep messages nest; protobuf's own parsers stop at the same depth.
const maxDepth = 100

// The memory that decoding may allocate, and the checks after it: so that a small file can't ask for a large heap, every allocation is
// first taken from a budget that grows with the file. The shortest node that means something has 22 bytes and is charged
// 1,500, so the first part of a file counts for more; files beyond it are large because of their weights.
const (
	budgetBase   = 48 << 20
	BudgetNodes  = 80 // bytes for each byte of the first BudgetPart
	BudgetPart   = 64 << 20
	budgetFactor = 5 // for each byte of the rest
)

// A Limit is how many bytes decoding a file may still allocate, and how deep it is inside messages.
type Limit struct {
	budget int64
	depth  int
}

// NewLimit returns the limit for a file of a size.
func NewLimit(size int) Limit {
	part := min(int64(size), BudgetPart)
	return Limit{budget: budgetBase + BudgetNodes*part + budgetFactor*(int64(size)-part)}
}

// Spend takes n bytes, with the bytes that the allocator adds, from the budget.
func (d *Limit) Spend(n int64) error {
	if n > d.budget {
		d.budget = 0
		return fmt.Errorf("the contents would take more than %d MiB + %d × the file's size in memory, %d × beyond its first %d MiB", budgetBase>>20, BudgetNodes, budgetFactor, BudgetPart>>20)
	}
	d.budget -= n + n/8 + 16
	return nil
}

// List returns n zero values of T, paid for. extra bytes are paid for each besides, for the memory that checks will need.
func List[T any](d *Limit, n, extra int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	if err := d.Spend(int64(n) * int64(int(reflect.TypeFor[T]().Size())+extra)); err != nil {
		return nil, err
	}
	return make([]T, 0, n), nil
}

// Text returns the body as a string of its own.
func (d *Limit) Text(f Field) (string, error) {
	if f.Type != protowire.BytesType {
		return "", f.WrongType("a string")
	}
	if err := d.Spend(int64(len(f.Body.Bytes))); err != nil {
		return "", err
	}
	return string(f.Body.Bytes), nil
}

// Each calls do for the fields of m, one level deeper.
func (d *Limit) Each(m Message, do func(f Field) error) error {
	if d.depth++; d.depth > maxDepth {
		return fmt.Errorf("byte %d: messages nest deeper than %d", m.At, maxDepth)
	}
	defer func() { d.depth-- }()
	var f Field
	for {
		ok, err := m.Next(&f)
		if !ok || err != nil {
			return err
		}
		if err := do(f); err != nil {
			return err
		}
	}
}

// Int64s returns the repeated varint field num of m.
func (d *Limit) Int64s(m Message, num protowire.Number) ([]int64, error) {
	n, err := m.Numbers(num, 0, nil)
	if err != nil || n == 0 {
		return nil, err
	}
	out, err := List[int64](d, n, 0)
	if err != nil {
		return nil, err
	}
	_, err = m.Numbers(num, 0, func(_ int, v uint64) error { out = append(out, int64(v)); return nil })
	return out, err
}

// Float32s returns the repeated float field num of m.
func (d *Limit) Float32s(m Message, num protowire.Number) ([]float32, error) {
	n, err := m.Numbers(num, 4, nil)
	if err != nil || n == 0 {
		return nil, err
	}
	out, err := List[float32](d, n, 0)
	if err != nil {
		return nil, err
	}
	_, err = m.Numbers(num, 4, func(_ int, v uint64) error { out = append(out, math.Float32frombits(uint32(v))); return nil })
	return out, err
}

// Append decodes a message field and appends the result; list has made room for it.
func Append[T any](to []T, f Field, decode func(m Message, into *T) error) ([]T, error) {
	m, err := f.Message()
	if err != nil {
		return to, err
	}
	var v T
	err = decode(m, &v)
	return append(to, v), err
}

// AppendText appends a string field to a list for which list has made room.
func (d *Limit) AppendText(to []string, f Field) ([]string, error) {
	s, err := d.Text(f)
	return append(to, s), err
}

// Several decodes n occurrences of a message field, for which extra bytes are paid besides.
func Several[T any](d *Limit, n, extra int, each func(func(Field) error) error, decode func(Message, *T) error) ([]T, error) {
	out, err := List[T](d, n, extra)
	if err != nil {
		return nil, err
	}
	err = each(func(f Field) (err error) { out, err = Append(out, f, decode); return err })
	return out, err
}

// Single decodes a message field that occurs n times, of which one is right.
func Single[T any](d *Limit, n int, each func(func(Field) error) error, decode func(Message, *T) error) (*T, error) {
	if n != 1 {
		return nil, fmt.Errorf("its value is there %d times", n)
	}
	out, err := Several(d, n, 0, each, decode)
	if err != nil {
		return nil, err
	}
	return &out[0], nil
}
