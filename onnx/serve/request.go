package serve

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A request is the body of an inference request, before it meets a model.
type request struct {
	id      []byte // with its quotes, nil if there is none
	echo    []byte // the parameters to give back, as members of an object
	binary  bool   // outputs are binary unless they say otherwise
	inputs  []input
	outputs []output // nil: all of the model
}

// An input is a tensor of a request.
type input struct {
	name, datatype string
	shape          []int
	hasShape       bool
	data           []byte // elements as JSON, nil if there are none
	at             int    // where data is in the body
	size           int64  // binary_data_size, -1 without
	raw            []byte // so many bytes
}

// An output is an output that a request asks for.
type output struct {
	name          string
	binary, given bool // given: binary is the output's own
}

// Bounds of the items that a request may list; no model comes near.
const (
	mostTensors = 1024
	mostRank    = 64
	mostName    = 4 << 10  // bytes of a name or an id
	mostEcho    = 16 << 10 // bytes of all parameters that come back
	perTensor   = 512      // the approximate bytes of an input or an output besides its words and elements
)

// parse reads a body whose first header bytes are JSON; header < 0 means the whole body. It calls take before it keeps bytes
// besides the body.
func parse(body []byte, header int64, take func(int64) error) (*request, error) {
	r := &request{}
	split := len(body)
	if header >= 0 {
		if header > int64(len(body)) {
			return nil, refuse(http.StatusBadRequest, "the header %s is %d, more than the %d bytes of the body", headerLength, header, len(body))
		}
		split = int(header)
	}
	s := &scanner{b: body[:split]}
	hasInputs := false
	err := s.members([]string{"id", "parameters", "inputs", "outputs"}, func(key string) (err error) {
		switch key {
		case "id":
			s.peek()
			from := s.i
			if _, err = s.name(); err == nil {
				r.id = s.b[from:s.i]
			}
		case "parameters":
			err = s.object(func(name string) error { return r.parameter(s, name, take) })
		case "inputs":
			hasInputs = true
			err = s.array(func(i int) error {
				if i == mostTensors {
					return s.fail("more than %d inputs", mostTensors)
				}
				in, err := s.input()
				if err == nil {
					err = take(perTensor + int64(len(in.name)+len(in.datatype)+8*len(in.shape)))
				}
				r.inputs = append(r.inputs, in)
				return err
			})
		case "outputs":
			err = s.array(func(i int) error {
				if i == mostTensors {
					return s.fail("more than %d outputs", mostTensors)
				}
				out, err := s.output()
				if err == nil {
					err = take(perTensor + int64(len(out.name)))
				}
				r.outputs = append(r.outputs, out)
				return err
			})
		default:
			err = s.skip(0)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case s.peek() != 0 || s.i < len(s.b):
		if header < 0 && r.hasBinary() {
			return nil, s.fail("the request ends before the body does; with binary data the header %s says where", headerLength)
		}
		return nil, s.fail("the request ends before the body does")
	case !hasInputs:
		return nil, refuse(http.StatusBadRequest, `the request has no "inputs"`)
	}
	return r, r.cut(body[split:], header >= 0)
}

func (r *request) hasBinary() bool {
	for i := range r.inputs {
		if r.inputs[i].size >= 0 {
			return true
		}
	}
	return false
}

// cut gives each binary input its part of the bytes after the JSON.
func (r *request) cut(rest []byte, header bool) error {
	for i := range r.inputs {
		in := &r.inputs[i]
		switch {
		case in.size < 0:
			continue
		case !header:
			return refuse(http.StatusBadRequest, "input %.100q has binary data, but the header %s is missing", in.name, headerLength)
		case in.size > int64(len(rest)):
			return refuse(http.StatusBadRequest, "input %.100q has a binary_data_size of %d, but %d bytes are left of the body", in.name, in.size, len(rest))
		}
		in.raw, rest = rest[:in.size:in.size], rest[in.size:]
	}
	if len(rest) > 0 {
		return refuse(http.StatusBadRequest, "%d bytes follow the last binary input; the sizes are wrong", len(rest))
	}
	return nil
}

// scalar reads the value of a parameter: a string, a number or a boolean, and returns its text.
func (s *scanner) scalar() ([]byte, error) {
	c := s.peek()
	from := s.i
	var err error
	switch {
	case c == '"':
		_, err = s.str()
	case c == 't' || c == 'f':
		_, err = s.boolean()
	case c == '-' || c >= '0' && c <= '9':
		_, err = s.number()
	default:
		err = s.fail("a parameter is a string, a number or a boolean, not %s", s.what())
	}
	return s.b[from:s.i], err
}

// parameter reads a parameter of the request.
func (r *request) parameter(s *scanner, name string, take func(int64) error) (err error) {
	if name == "binary_data_output" {
		r.binary, err = s.boolean()
		return err
	}
	v, err := s.scalar()
	if err != nil {
		return err
	}
	if n := len(r.echo) + len(name) + len(v); n > mostEcho {
		return s.fail("the parameters, which come back, take %d bytes or more; the most is %d", n, mostEcho)
	}
	before := cap(r.echo)
	if len(r.echo) > 0 {
		r.echo = append(r.echo, ',')
	}
	r.echo = append(appendText(r.echo, name), ':')
	r.echo = append(r.echo, v...)
	return take(int64(cap(r.echo) - before))
}

// known refuses a parameter of an extension that would change the meaning.
func (s *scanner) known(name string) error {
	if strings.HasPrefix(name, "shared_memory_") || name == "classification" {
		return s.fail("the parameter %.100q belongs to an extension that this server doesn't have", name)
	}
	_, err := s.scalar()
	return err
}

func (s *scanner) input() (input, error) {
	in := input{size: -1}
	err := s.members([]string{"name", "datatype", "shape", "data", "parameters"}, func(key string) (err error) {
		switch key {
		case "name":
			in.name, err = s.name()
		case "datatype":
			in.datatype, err = s.name()
		case "shape":
			in.hasShape = true
			in.shape, err = s.shape()
		case "data":
			var at int
			in.data, at, err = s.span()
			in.at = s.base + at
		case "parameters":
			err = s.object(func(name string) error {
				if name != "binary_data_size" {
					return s.known(name)
				}
				n, err := s.integer()
				in.size = n
				return err
			})
		default:
			err = s.skip(0)
		}
		return err
	})
	switch {
	case err != nil:
	case in.name == "" || in.datatype == "" || !in.hasShape:
		err = s.fail("an input needs a name, a datatype and a shape")
	case in.data != nil && in.size >= 0:
		err = s.fail("input %.100q has data and a binary_data_size", in.name)
	case in.data == nil && in.size < 0:
		err = s.fail("input %.100q has neither data nor a binary_data_size", in.name)
	}
	return in, err
}

func (s *scanner) output() (output, error) {
	var out output
	err := s.members([]string{"name", "parameters"}, func(key string) (err error) {
		switch key {
		case "name":
			out.name, err = s.name()
		case "parameters":
			err = s.object(func(name string) (err error) {
				if name != "binary_data" {
					return s.known(name)
				}
				out.given = true
				out.binary, err = s.boolean()
				return err
			})
		default:
			err = s.skip(0)
		}
		return err
	})
	if err == nil && out.name == "" {
		err = s.fail("an output needs a name")
	}
	return out, err
}

// integer reads an integer that isn't negative.
func (s *scanner) integer() (int64, error) {
	s.peek()
	at := s.i
	word, err := s.number()
	if err != nil {
		return -1, err
	}
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt {
		s.i = at
		return -1, s.fail("%.40s is no size", word)
	}
	return n, nil
}

func (s *scanner) shape() (shape []int, err error) {
	err = s.array(func(i int) error {
		if i == mostRank {
			return s.fail("more than %d axes", mostRank)
		}
		n, err := s.integer()
		shape = append(shape, int(n))
		return err
	})
	return shape, err
}

// count returns the number of elements of a shape, false if it is beyond any memory.
func count(shape []int) (int, bool) {
	n, fits := 1, true
	for _, e := range shape {
		if e == 0 {
			return 0, true
		}
		if fits = fits && n <= math.MaxInt/16/e; fits {
			n *= e
		}
	}
	return n, fits
}

// bad returns an error about an input.
func (in *input) bad(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "input %.100q: "+format, append([]any{in.name}, args...)...)
}

// value makes a tensor of an input; if nan is set, null is NaN. It calls take before it allocates memory.
func (in *input) value(t *datatype, nan bool, take func(n int64) error) (v onnx.Value, err error) {
	n, ok := count(in.shape)
	switch {
	case !ok:
		return v, in.bad("a shape of %v is beyond all memory", in.shape)
	case in.size < 0 && n > len(in.data): // each takes a byte at least
		return v, in.bad("the shape %v has %d elements, data has fewer", in.shape, n)
	case t.isText():
		return in.strings(t, n, take)
	}
	size := t.d.Size()
	if in.size >= 0 && n*size != len(in.raw) {
		return v, in.bad("the shape %v of %s takes %d bytes, the binary_data_size is %d", in.shape, t.name, n*size, in.size)
	}
	if err := take(int64(n * size)); err != nil {
		return v, err
	}
	a, err := tensor.Make(t.d, in.shape...)
	if err != nil {
		return v, in.bad("%v", err)
	}
	b, ok := tensor.Bytes(a)
	if !ok {
		return v, in.bad("a new tensor of shape %v isn't contiguous", in.shape)
	}
	v = onnx.TensorValue(a)
	if in.size < 0 {
		r := reader{&scanner{b: in.data, base: in.at}, t, in.shape, b, nil, nan}
		return v, r.all(n)
	}
	appendBinary(b[:0], in.raw, size)
	if t.d == dtype.Bool {
		for i, c := range b {
			if c > 1 {
				return v, in.bad("element %d is %d; a BOOL is 0 or 1", i, c)
			}
		}
	}
	return v, nil
}

// A reader reads elements of JSON into the rest of a buffer, or appends them to a list of strings.
type reader struct {
	*scanner
	t     *datatype
	shape []int
	to    []byte
	texts []string
	nan   bool // null is NaN
}

// all reads an array of all n elements, or arrays that nest as the shape does.
func (r *reader) all(n int) error {
	whole := scanner{r.b, r.i + 1, r.base} // behind the first bracket
	if len(r.shape) > 1 && whole.peek() == '[' {
		return r.nested(0)
	}
	return r.elements(n)
}

func (r *reader) elements(n int) error {
	size, read := r.t.d.Size(), 0
	err := r.array(func(i int) error {
		if i == n {
			return r.fail("more than %d elements, as the shape %v says", n, r.shape)
		}
		read++
		if r.t.isText() {
			s, err := r.text()
			r.texts = append(r.texts, s)
			return err
		}
		err := r.element(r.t, r.to[:size], r.nan)
		r.to = r.to[size:]
		return err
	})
	if err == nil && read < n {
		err = r.fail("%d elements, the shape %v says %d", read, r.shape, n)
	}
	return err
}

func (r *reader) nested(axis int) error {
	n := r.shape[axis]
	if axis == len(r.shape)-1 {
		return r.elements(n)
	}
	read := 0
	err := r.array(func(i int) error {
		if i == n {
			return r.fail("more than %d arrays on axis %d, as the shape %v says", n, axis, r.shape)
		}
		read++
		return r.nested(axis + 1)
	})
	if err == nil && read < n {
		err = r.fail("%d arrays on axis %d, the shape %v says %d", read, axis, r.shape, n)
	}
	return err
}
