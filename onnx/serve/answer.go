package serve

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// An array is an output: the elements of a tensor, or the elements of the rows that a request has in a shared run.
type array struct {
	t     *datatype
	shape []int
	data  []byte     // in row-major order, nil of strings
	texts []string   // the strings in row-major order
	own   tensor.Any // holds the memory of data
}

// arrays reads the outputs of a run.
func (m *model) arrays(out map[string]onnx.Value) (map[string]array, error) {
	list := make(map[string]array, len(out))
	for name, v := range out {
		a := v.Tensor()
		if a.IsZero() && v.Kind() == onnx.KindTensor {
			list[name] = array{t: typeOf((*datatype).isText), shape: v.Shape(), texts: v.Strings()}
			continue
		}
		if a.IsZero() {
			return nil, refuse(http.StatusInternalServerError, "output %q is %v; the protocol has tensors alone", name, v)
		}
		own, err := tensor.Contiguous(a)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		if list[name], err = arrayOf(name, own); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// arrayOf reads an output that is contiguous.
func arrayOf(name string, own tensor.Any) (array, error) {
	t := typeOf(func(t *datatype) bool { return t.d == own.DType() })
	if t == nil {
		return array{}, refuse(http.StatusInternalServerError, "output %q is %s, for which the protocol has no datatype", name, tensor.Describe(own))
	}
	b, ok := tensor.Bytes(own)
	if !ok {
		return array{}, refuse(http.StatusInternalServerError, "output %q is %s, whose elements can't be read", name, tensor.Describe(own))
	}
	return array{t, own.Shape(), b, nil, own}, nil
}

// tensor returns the elements as a tensor of their own.
func (a *array) tensor() (tensor.Any, error) {
	if a.t.isText() {
		return tensor.Any{}, fmt.Errorf("%w: it is of strings", tensor.ErrDType)
	}
	t, err := tensor.Make(a.t.d, a.shape...) // rows of a batch needn't be aligned
	if err != nil {
		return t, err
	}
	b, _ := tensor.Bytes(t)
	copy(b, a.data)
	runtime.KeepAlive(a)
	return t, nil
}

// digest returns the digest of the tensor, the same as onnx.Value's.
func (a *array) digest() (d receipt.Digest, err error) {
	if a.t.isText() {
		return onnx.StringsValue(a.shape, a.texts...).Digest()
	}
	t, err := a.tensor()
	if err != nil {
		return d, err
	}
	defer t.Close()
	return tensor.Digest(t)
}

// digests lists the digests of the outputs of an answer.
func (r *request) digests(out map[string]array, take func(int64) error) (string, error) {
	list := make([]string, len(r.outputs))
	for i, o := range r.outputs {
		a := out[o.name]
		if err := take(int64(len(a.data))); err != nil {
			return "", err
		}
		d, err := a.digest()
		if err != nil {
			return "", fmt.Errorf("output %q: %w", o.name, err)
		}
		list[i] = d.String()
	}
	return strings.Join(list, ", "), nil
}

// size returns the number of bytes of the elements in binary form.
func (a *array) size() int {
	n := len(a.data)
	for _, s := range a.texts {
		n += 4 + len(s)
	}
	return n
}

// appendJSON writes the elements with commas between them.
func (a *array) appendJSON(b []byte) []byte {
	for i, s := range a.texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	size := a.t.d.Size()
	for i := 0; i < len(a.data); i += size {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendElement(b, a.t.d, a.data[i:i+size])
	}
	return b
}

// compute runs the inputs of a request, with others if that is allowed.
func (m *model) compute(ctx context.Context, in map[string]onnx.Value, later bool) (map[string]array, error) {
	if m.batches != nil {
		if key, rows := m.batches.key(in); rows > 0 && rows < m.s.o.MaxBatch {
			return m.batches.run(ctx, key, rows, in, later)
		}
	}
	if err := m.s.enter(ctx, later); err != nil {
		return nil, err
	}
	defer m.s.leave()
	return m.run(ctx, in, 1)
}

// appendText writes a string, which is UTF-8, as JSON. A byte takes six at most.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(append(b, text[from:i]...), '\\')
		if short := strings.IndexByte("\"\\\b\f\n\r\t", c); short >= 0 {
			b = append(b, `"\bfnrt`[short])
		} else {
			b = append(b, 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
		from = i + 1
	}
	return append(append(b, text[from:]...), '"')
}

// encode writes the answer to a request: JSON of header bytes, and binary data if header >= 0. It calls take before it
// allocates memory.
func (m *model) encode(r *request, out map[string]array, take func(int64) error) (b []byte, header int64, err error) {
	room := 256 + 6*(len(m.name)+len(m.version)) + len(r.id) + len(r.echo)
	for i, o := range r.outputs {
		a, ok := out[o.name]
		if !ok {
			return nil, 0, refuse(http.StatusInternalServerError, "the run gave no output %q", o.name)
		}
		if !o.given {
			r.outputs[i].binary = r.binary
		}
		room += 128 + 6*len(o.name) + 21*len(a.shape)
		switch {
		case r.outputs[i].binary:
			room += a.size()
		case a.t.isText():
			for at, s := range a.texts {
				if !utf8.ValidString(s) {
					return nil, 0, refuse(http.StatusBadRequest, "output %q: string %d isn't UTF-8, which JSON can't hold; ask for binary data", o.name, at)
				}
				room += 3 + 6*len(s)
			}
		default:
			text := 4 // with a comma: 15 bytes of text for an FP32, 25 for an FP64
			if size := a.t.d.Size(); size <= 2 {
				text = 4 + 2*size // 6 for a BOOL, 15 for an FP16
			}
			room += text * len(a.data)
		}
	}
	if err := take(int64(room)); err != nil {
		return nil, 0, err
	}
	b = append(make([]byte, 0, room), `{"model_name":`...)
	b = appendText(b, m.name)
	b = append(b, `,"model_version":`...)
	b = appendText(b, m.version)
	if r.id != nil {
		b = append(append(b, `,"id":`...), r.id...)
	}
	if len(r.echo) > 0 {
		b = append(append(append(b, `,"parameters":{`...), r.echo...), '}')
	}
	b = append(b, `,"outputs":[`...)
	var binary []array
	for i, o := range r.outputs {
		if i > 0 {
			b = append(b, ',')
		}
		a := out[o.name]
		b = appendText(append(b, `{"name":`...), o.name)
		b = append(append(append(b, `,"datatype":"`...), a.t.name...), `","shape":[`...)
		for i, n := range a.shape {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
		b = append(b, ']')
		if o.binary {
			b = append(b, `,"parameters":{"binary_data_size":`...)
			b = append(strconv.AppendInt(b, int64(a.size()), 10), "}}"...)
			binary = append(binary, a)
			continue
		}
		b = append(a.appendJSON(append(b, `,"data":[`...)), "]}"...)
	}
	b = append(b, "]}"...)
	header = -1
	if binary != nil {
		header = int64(len(b))
	}
	for _, a := range binary {
		if a.t.isText() {
			b = appendStrings(b, a.texts)
		} else {
			b = appendBinary(b, a.data, a.t.d.Size())
		}
	}
	runtime.KeepAlive(out)
	return b, header, nil
}
