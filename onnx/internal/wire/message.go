package wire

import (
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Message is a message or list still in wire form: bytes of the file and where in it they start.
type Message struct {
	Bytes []byte
	At    int
}

// A Field is one field of a message. val holds a varint or the bits of a fixed-width value, Body the rest.
type Field struct {
	Num  protowire.Number
	Type protowire.Type
	val  uint64
	Body Message
	at   int
}

// WrongType is the error about a field of another wire type than it should have.
func (f Field) WrongType(want string) error {
	kinds := map[protowire.Type]string{protowire.VarintType: "a varint", protowire.Fixed32Type: "4 bytes", protowire.Fixed64Type: "8 bytes", protowire.BytesType: "bytes"}
	return fmt.Errorf("byte %d: field %d holds %s, not %s", f.at, f.Num, kinds[f.Type], want)
}

// Int64 returns a varint field.
func (f Field) Int64() (int64, error) {
	if f.Type != protowire.VarintType {
		return 0, f.WrongType("a varint")
	}
	return int64(f.val), nil
}

// Int32 returns a varint field cut to 32 bits, as protobuf says.
func (f Field) Int32() (int32, error) {
	v, err := f.Int64()
	return int32(v), err
}

// Float returns a field of 4 bytes as a float32.
func (f Field) Float() (float32, error) {
	if f.Type != protowire.Fixed32Type {
		return 0, f.WrongType("4 bytes")
	}
	return math.Float32frombits(uint32(f.val)), nil
}

// Message returns the body of a message field.
func (f Field) Message() (Message, error) {
	if f.Type != protowire.BytesType {
		return Message{}, f.WrongType("a message")
	}
	return f.Body, nil
}

// short is the error of a field that is longer than the bytes that are left: io.ErrUnexpectedEOF, as where a message ends in a number.
type short struct{ text string }

func (e short) Error() string { return e.text }
func (short) Unwrap() error   { return io.ErrUnexpectedEOF }

// Next cuts the first field off m. It returns false at the end.
func (m *Message) Next(f *Field) (bool, error) {
	if len(m.Bytes) == 0 {
		return false, nil
	}
	at := m.At
	bad := func(what string, n int) error {
		return fmt.Errorf("byte %d: %s: %w", at, what, protowire.ParseError(n))
	}
	num, typ, n := protowire.ConsumeTag(m.Bytes)
	if n < 0 {
		return false, bad("field tag", n)
	}
	*f = Field{Num: num, Type: typ, at: at}
	m.skip(n)
	switch typ {
	case protowire.VarintType:
		f.val, n = protowire.ConsumeVarint(m.Bytes)
	case protowire.Fixed64Type:
		f.val, n = protowire.ConsumeFixed64(m.Bytes)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(m.Bytes)
		f.val = uint64(v)
	case protowire.BytesType:
		var size uint64
		size, n = protowire.ConsumeVarint(m.Bytes)
		if n < 0 {
			break
		}
		if left := len(m.Bytes) - n; size > uint64(left) {
			return false, short{fmt.Sprintf("byte %d: field %d is said to have %d bytes, but %d are left", at, num, size, left)}
		}
		m.skip(n)
		n = int(size)
		f.Body = Message{m.Bytes[:n:n], m.At}
	default:
		return false, fmt.Errorf("byte %d: field %d has wire type %d, which no ONNX model has", at, num, typ)
	}
	if n < 0 {
		return false, bad(fmt.Sprintf("field %d", num), n)
	}
	m.skip(n)
	return true, nil
}

func (m *Message) skip(n int) { m.Bytes, m.At = m.Bytes[n:], m.At+n }

// A Tally counts the fields of a message by number, for those below its length.
type Tally [31]int

// Scan walks over the fields of m once and counts them; see also each.
func (m Message) Scan() (t Tally, err error) {
	var f Field
	for {
		ok, err := m.Next(&f)
		if !ok || err != nil {
			return t, err
		}
		if int(f.Num) < len(t) {
			t[f.Num]++
		}
	}
}

// First returns the text of the first string field with number num, for naming m in an error; "" if there is none.
func (m Message) First(num protowire.Number) string {
	var f Field
	for {
		ok, err := m.Next(&f)
		if !ok || err != nil {
			return ""
		}
		if f.Num == num && f.Type == protowire.BytesType {
			return string(f.Body.Bytes[:min(len(f.Body.Bytes), 200)])
		}
	}
}

// Numbers calls do for the elements of the repeated numeric field num of m, packed or not, or both mixed. width is 0 for
// varints and otherwise the bytes of one element; it returns how many there are. do may be nil.
func (m Message) Numbers(num protowire.Number, width int, do func(i int, v uint64) error) (n int, err error) {
	want := protowire.VarintType
	switch width {
	case 4:
		want = protowire.Fixed32Type
	case 8:
		want = protowire.Fixed64Type
	}
	var f Field
	for {
		ok, err := m.Next(&f)
		if !ok || err != nil {
			return n, err
		}
		switch {
		case f.Num != num:
			continue
		case f.Type == want:
			if do != nil {
				if err := do(n, f.val); err != nil {
					return n, err
				}
			}
			n++
			continue
		case f.Type != protowire.BytesType:
			return n, f.WrongType("a list of numbers")
		case width > 0 && len(f.Body.Bytes)%width != 0:
			return n, fmt.Errorf("byte %d: field %d: %d bytes don't make whole elements of %d", f.at, num, len(f.Body.Bytes), width)
		case do == nil && width > 0:
			n += len(f.Body.Bytes) / width
			continue
		}
		for p := f.Body; len(p.Bytes) > 0; n++ {
			v, k := uint64(0), width
			switch width {
			case 4:
				x, _ := protowire.ConsumeFixed32(p.Bytes)
				v = uint64(x)
			case 8:
				v, _ = protowire.ConsumeFixed64(p.Bytes)
			default:
				if v, k = protowire.ConsumeVarint(p.Bytes); k < 0 {
					return n, fmt.Errorf("byte %d: field %d: element %d: %w", p.At, num, n, protowire.ParseError(k))
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
