package wire

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The functions below append a field with its tag to a message.

// AppendString leaves the field out when the string is empty, the value of a missing field.
func AppendString(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

// AppendInt leaves the field out when the number is 0, the value of a missing field.
func AppendInt(b []byte, num protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
}

// AppendBytes appends bytes, or a message.
func AppendBytes(b []byte, num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), body)
}

// AppendStrings appends a field for each string.
func AppendStrings(b []byte, num protowire.Number, list []string) []byte {
	for _, s := range list {
		b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
	}
	return b
}

// AppendInts appends a field for each number.
func AppendInts(b []byte, num protowire.Number, list []int64) []byte {
	for _, v := range list {
		b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
	}
	return b
}

// AppendFloats appends a field for each number.
func AppendFloats(b []byte, num protowire.Number, list []float32) []byte {
	for _, v := range list {
		b = protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), math.Float32bits(v))
	}
	return b
}

// AppendLength appends v as a varint of exactly size bytes, which are enough.
func AppendLength(b []byte, v, size int) []byte {
	for ; size > 1; size-- {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
