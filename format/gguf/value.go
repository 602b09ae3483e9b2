package gguf

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/format"
)

// The types of values.
const (
	typeUint8 uint32 = iota
	typeInt8
	typeUint16
	typeInt16
	typeUint32
	typeInt32
	typeFloat32
	typeBool
	typeString
	typeArray
	typeUint64
	typeInt64
	typeFloat64
)

// sizes are the bytes of values, 0 of texts and arrays.
var sizes = [...]int{typeUint8: 1, typeInt8: 1, typeUint16: 2, typeInt16: 2, typeUint32: 4, typeInt32: 4, typeFloat32: 4, typeBool: 1, typeString: 0, typeArray: 0,
	typeUint64: 8, typeInt64: 8, typeFloat64: 8}

// typeNames are the types as info shows them.
var typeNames = [...]string{"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array", "uint64", "int64", "float64"}

// array reads the type and the number of an array's elements, which the file has.
func (c *cursor) array(depth int) (typ uint32, n int, err *format.Error) {
	if depth == MaxDepth {
		return 0, 0, c.fail(format.ErrLimit, "arrays in %d arrays", depth)
	}
	at := c.pos
	if typ, err = c.u32("a type"); err != nil {
		return 0, 0, err
	}
	count, err := c.u64("the number of elements")
	if err != nil {
		return 0, 0, err
	}
	if typ >= uint32(len(sizes)) {
		return 0, 0, fail(int64(at), "", format.ErrFormat, "elements of the unknown type %d", typ)
	}
	least := sizes[typ]
	if typ == typeString {
		least = 8
	} else if typ == typeArray {
		least = 12
	}
	if left := len(c.b) - c.pos; count > uint64(left/least) {
		return 0, 0, fail(int64(at), "", format.ErrShort, "an array of %d elements of %s, where the file has %d bytes left", count, typeNames[typ], left)
	}
	return typ, int(count), nil
}

// skip passes a value.
func (c *cursor) skip(typ uint32, depth int) *format.Error {
	switch {
	case typ >= uint32(len(sizes)):
		return c.fail(format.ErrFormat, "a value of the unknown type %d", typ)
	case typ == typeString:
		n, err := c.u64("the length of a text")
		if err == nil {
			_, err = c.take(n, "a text")
		}
		return err
	case typ == typeArray:
		of, n, err := c.array(depth)
		if err != nil {
			return err
		}
		if size := sizes[of]; size > 0 {
			c.pos += n * size // within the file: array has checked n
			return nil
		}
		for range n {
			if err := c.skip(of, depth+1); err != nil {
				return err
			}
		}
		return nil
	case typ == typeBool:
		_, err := c.boolean()
		return err
	}
	_, err := c.take(uint64(sizes[typ]), "a "+typeNames[typ])
	return err
}

func (c *cursor) boolean() (bool, *format.Error) {
	b, err := c.take(1, "a bool")
	if err != nil {
		return false, err
	}
	if b[0] > 1 {
		return false, fail(int64(c.pos-1), "", format.ErrFormat, "a bool of %d; it is 0 or 1", b[0])
	}
	return b[0] == 1, nil
}

// list reads n elements one by one.
func list[T any](c *cursor, n int, one func(c *cursor) (T, *format.Error)) (any, *format.Error) {
	all := make([]T, n) // array has checked that the file can have n
	for i := range all {
		v, err := one(c)
		if err != nil {
			return nil, err
		}
		all[i] = v
	}
	return all, nil
}

// value reads a value. An array is a slice of its elements' Go type; an array of arrays is a []any of slices.
func (c *cursor) value(typ uint32, depth int) (any, *format.Error) {
	if typ != typeArray {
		return c.scalar(typ)
	}
	of, n, err := c.array(depth)
	if err != nil {
		return nil, err
	}
	switch of {
	case typeBool:
		return list(c, n, (*cursor).boolean)
	case typeString:
		return list(c, n, func(c *cursor) (string, *format.Error) { return c.text(math.MaxInt, "a text") })
	case typeArray:
		return list(c, n, func(c *cursor) (any, *format.Error) { return c.value(typeArray, depth+1) })
	}
	all := numbers(of, n)
	b, err := c.take(uint64(n*sizes[of]), "an array")
	if err != nil {
		return nil, err
	}
	if _, e := binary.Decode(b, binary.LittleEndian, all); e != nil {
		return nil, c.fail(e, "%v", e)
	}
	return all, nil
}

// numbers makes a slice of n numbers.
func numbers(typ uint32, n int) any {
	switch typ {
	case typeUint8:
		return make([]uint8, n)
	case typeInt8:
		return make([]int8, n)
	case typeUint16:
		return make([]uint16, n)
	case typeInt16:
		return make([]int16, n)
	case typeUint32:
		return make([]uint32, n)
	case typeInt32:
		return make([]int32, n)
	case typeFloat32:
		return make([]float32, n)
	case typeUint64:
		return make([]uint64, n)
	case typeInt64:
		return make([]int64, n)
	}
	return make([]float64, n)
}

func (c *cursor) scalar(typ uint32) (any, *format.Error) {
	switch typ {
	case typeBool:
		return c.boolean()
	case typeString:
		return c.text(math.MaxInt, "a text")
	}
	b, err := c.take(uint64(sizes[typ]), "a number")
	if err != nil {
		return nil, err
	}
	o := binary.LittleEndian
	switch typ {
	case typeUint8:
		return b[0], nil
	case typeInt8:
		return int8(b[0]), nil
	case typeUint16:
		return o.Uint16(b), nil
	case typeInt16:
		return int16(o.Uint16(b)), nil
	case typeUint32:
		return o.Uint32(b), nil
	case typeInt32:
		return int32(o.Uint32(b)), nil
	case typeFloat32:
		return math.Float32frombits(o.Uint32(b)), nil
	case typeUint64:
		return o.Uint64(b), nil
	case typeInt64:
		return int64(o.Uint64(b)), nil
	}
	return math.Float64frombits(o.Uint64(b)), nil
}

// typeOf returns the type of a value, and the type of the elements of an array that isn't of arrays. ok is false for other Go types.
func typeOf(v any) (typ, of uint32, ok bool) {
	switch v.(type) {
	case uint8:
		return typeUint8, 0, true
	case int8:
		return typeInt8, 0, true
	case uint16:
		return typeUint16, 0, true
	case int16:
		return typeInt16, 0, true
	case uint32:
		return typeUint32, 0, true
	case int32:
		return typeInt32, 0, true
	case float32:
		return typeFloat32, 0, true
	case bool:
		return typeBool, 0, true
	case string:
		return typeString, 0, true
	case uint64:
		return typeUint64, 0, true
	case int64:
		return typeInt64, 0, true
	case float64:
		return typeFloat64, 0, true
	case []uint8:
		return typeArray, typeUint8, true
	case []int8:
		return typeArray, typeInt8, true
	case []uint16:
		return typeArray, typeUint16, true
	case []int16:
		return typeArray, typeInt16, true
	case []uint32:
		return typeArray, typeUint32, true
	case []int32:
		return typeArray, typeInt32, true
	case []float32:
		return typeArray, typeFloat32, true
	case []bool:
		return typeArray, typeBool, true
	case []string:
		return typeArray, typeString, true
	case []uint64:
		return typeArray, typeUint64, true
	case []int64:
		return typeArray, typeInt64, true
	case []float64:
		return typeArray, typeFloat64, true
	case []any:
		return typeArray, typeArray, true
	}
	return 0, 0, false
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// appendValue writes a value behind its type.
func appendValue(b []byte, v any, depth int) ([]byte, error) {
	typ, of, ok := typeOf(v)
	if !ok {
		return nil, fmt.Errorf("a value of Go type %T; want a number of a size, a bool, a string, or a slice of them", v)
	}
	b = binary.LittleEndian.AppendUint32(b, typ)
	return appendBare(b, v, typ, of, depth)
}

func appendBare(b []byte, v any, typ, of uint32, depth int) ([]byte, error) {
	if s, ok := v.(string); ok {
		return appendText(b, s), nil
	}
	if typ == typeArray {
		if depth == MaxDepth {
			return nil, fmt.Errorf("arrays in %d arrays", depth)
		}
		b = binary.LittleEndian.AppendUint32(b, of)
		switch all := v.(type) {
		case []string:
			b = binary.LittleEndian.AppendUint64(b, uint64(len(all)))
			for _, s := range all {
				b = appendText(b, s)
			}
			return b, nil
		case []any:
			b = binary.LittleEndian.AppendUint64(b, uint64(len(all)))
			for _, x := range all {
				typ, of, ok := typeOf(x)
				if !ok || typ != typeArray {
					return nil, fmt.Errorf("an array of arrays with an element of Go type %T", x)
				}
				var err error
				if b, err = appendBare(b, x, typ, of, depth+1); err != nil {
					return nil, err
				}
			}
			return b, nil
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(binary.Size(v)/sizes[of]))
	}
	return binary.Append(b, binary.LittleEndian, v)
}
