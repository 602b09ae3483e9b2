package serve

import (
	"encoding/binary"

	"github.com/ashlar-go/ashlar/onnx"
)

// perString is the approximate number of bytes that a string takes in a tensor besides its own bytes.
const perString = 96

// strings makes a tensor of n strings of an input. In binary form each has its length before it, in four bytes.
func (in *input) strings(t *datatype, n int, take func(n int64) error) (v onnx.Value, err error) {
	if in.size >= 0 && n > len(in.raw)/4 {
		return v, in.bad("the shape %v has %d strings of at least four bytes, the binary_data_size is %d", in.shape, n, in.size)
	}
	if err := take(int64(n)*perString + int64(len(in.data)+len(in.raw))); err != nil {
		return v, err
	}
	var list []string
	if in.size < 0 {
		r := reader{&scanner{b: in.data, base: in.at}, t, in.shape, nil, make([]string, 0, n), false}
		err, list = r.all(n), r.texts
	} else {
		list, err = in.cutStrings(n)
	}
	if err != nil {
		return v, err
	}
	return onnx.StringsValue(in.shape, list...), nil
}

// cutStrings reads n strings in binary form.
func (in *input) cutStrings(n int) ([]string, error) {
	list, rest := make([]string, 0, n), in.raw
	for i := range n {
		if len(rest) < 4 {
			return nil, in.bad("string %d begins with four bytes of length, but %d are left of the binary data", i, len(rest))
		}
		size := binary.LittleEndian.Uint32(rest)
		if rest = rest[4:]; uint64(size) > uint64(len(rest)) {
			return nil, in.bad("string %d has %d bytes, but %d are left of the binary data", i, size, len(rest))
		}
		list, rest = append(list, string(rest[:size])), rest[size:]
	}
	if len(rest) > 0 {
		return nil, in.bad("%d bytes follow the last of %d strings", len(rest), n)
	}
	return list, nil
}

// appendStrings appends strings in binary form.
func appendStrings(b []byte, list []string) []byte {
	for _, s := range list {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}
