package serve

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"pgregory.net/rapid"
)

// The bounds on the bytes that a request allocates: a multiple of its counted bytes, and the bytes of a run of a small model.
const (
	mostTimes = 3
	mostFixed = 256 << 10
)

// allocated answers a request without HTTP. It returns the bytes allocated, garbage included, and the bytes counted.
func allocated(m *model, body []byte, header int64) (bytes, held int64, err error) {
	defer func() { m.s.held.Add(-held) }()
	if err = m.s.take(&held, int64(len(body))); err != nil {
		return 0, held, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, _, err = m.answer(context.Background(), body, header, false, false, &held)
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), held, err
}

// hostile are requests of about n bytes that a server might be led to multiply.
func hostile(kind string, n int, unit string) (body string, header int64) {
	many := func(item string) string {
		return strings.TrimSuffix(strings.Repeat(item+",", max(n/(len(item)+1), 1)), ",")
	}
	long := strings.Repeat(unit, max(n/len(unit), 1))
	image := `"inputs":[{"name":"x","datatype":"FP32","shape":[1,1],"data":[0]}]}`
	switch kind {
	case "parameter":
		return `{"parameters":{"` + long + `":1},` + image, -1
	case "parameters":
		return `{"parameters":{` + many(`"`+unit+`":1`) + `},` + image, -1
	case "value":
		return `{"parameters":{"a":"` + long + `"},` + image, -1
	case "id":
		return `{"id":"` + long + `",` + image, -1
	case "member":
		return `{"` + long + `":1,` + image, -1
	case "members":
		return `{` + many(`"`+unit+`":1`) + `,` + image, -1
	case "inside":
		return `{"a":{"` + long + `":["` + long + `",{` + many(`"`+unit+`":1`) + `}]},` + image, -1
	case "outputs":
		return `{"outputs":[` + many(`{"name":"`+strings.Repeat(unit, 4000/len(unit))+`"}`) + `],` + image, -1
	case "of an output":
		return `{"outputs":[{"name":"y","parameters":{` + many(`"`+unit+`":1`) + `}}],` + image, -1
	case "inputs":
		return `{"inputs":[` + many(`{"name":"`+unit+`","datatype":"`+unit+`","shape":[1,1,1,1,1,1,1,1],"data":[]}`) + `]}`, -1
	case "input":
		return `{"inputs":[{"name":"` + long + `","datatype":"FP32","shape":[1,1],"data":[1]}]}`, -1
	case "datatype":
		return `{"inputs":[{"name":"x","datatype":"` + long + `","shape":[1,1],"data":[1]}]}`, -1
	case "extension":
		return `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,1],"data":[1],"parameters":{"shared_memory_` + long + `":1}}]}`, -1
	case "numbers":
		return fmt.Sprintf(`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,%d],"data":[%s]}]}`, max(n/2, 1), strings.TrimSuffix(strings.Repeat("1,", max(n/2, 1)), ",")), -1
	case "binary":
		head := fmt.Sprintf(`{"parameters":{"binary_data_output":false},"inputs":[{"name":"x","datatype":"FP32","shape":[1,%d],"parameters":{"binary_data_size":%d}}]}`, n/4, n/4*4)
		return head + strings.Repeat("\x01\x02\x83\x3f", n/4), int64(len(head))
	case "string":
		return `{"inputs":[{"name":"s","datatype":"BYTES","shape":[1,1],"data":["` + long + `"]}]}`, -1
	case "strings":
		list := many(`"` + unit + `"`)
		return `{"inputs":[{"name":"s","datatype":"BYTES","shape":[1,` + strconv.Itoa(strings.Count(list, ",")+1) + `],"data":[` + list + `]}]}`, -1
	case "binary strings":
		head := fmt.Sprintf(`{"inputs":[{"name":"s","datatype":"BYTES","shape":[1,%d],"parameters":{"binary_data_size":%d}}]}`, n/5, n/5*5)
		return head + strings.Repeat("\x01\x00\x00\x00\x1f", n/5), int64(len(head))
	}
	panic(kind)
}

var hostileKinds = []string{"parameter", "parameters", "value", "id", "member", "members", "inside", "outputs", "of an output", "inputs", "input", "datatype", "extension",
	"numbers", "binary", "string", "strings", "binary strings"}

// modelOf is the model that a request of a kind is for.
func modelOf(kind string) string {
	if strings.Contains(kind, "string") {
		return "words"
	}
	return "echo-float32"
}

// The memory that a request makes the server allocate is counted, whatever it holds. -rapid.checks asks for more of them.
func TestCountedMemory(t *testing.T) {
	s := server(t, Options{}, echo(t, dtype.Float32), words(t))
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(hostileKinds).Draw(t, "kind")
		unit := rapid.SampledFrom([]string{"<", "a", "é", `\u003c`, `\u0001`, `\n`, `\ud83d\ude00`, `\"`, "\u2028", "xy&", "😀"}).Draw(t, "unit")
		body, header := hostile(kind, 1<<rapid.IntRange(4, 18).Draw(t, "size"), unit)
		got, held, err := allocated(s.models[modelOf(kind)], []byte(body), header)
		if got > mostTimes*held+mostFixed {
			t.Errorf("a body of %d bytes allocates %d, counted are %d: %.100v", len(body), got, held, err)
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}

// Large ones of each kind: the answer is bounded.
func TestHostileRequests(t *testing.T) {
	s := server(t, Options{}, echo(t, dtype.Float32), words(t))
	for kind, want := range map[string]string{
		"parameter": "byte 15 of the body: a name, or an id, of 1048576 bytes; the most is 4096", "parameters": "the parameters, which come back, take 16387 bytes or more; the most is 16384",
		"value": "the parameters, which come back, take 1048579 bytes or more", "id": "byte 6 of the body: a name, or an id, of 1048576 bytes", "member": "byte 1 of the body: a name, or an id, of 1048576 bytes",
		"members": "", "inside": "", "outputs": `has no output "<<<`, "of an output": "", "inputs": "more than 1024 inputs", "input": "byte 19 of the body: a name, or an id", "datatype": "byte 34 of the body: a name, or an id",
		"extension": "a name, or an id", "numbers": "", "binary": "", "string": "", "strings": "", "binary strings": "",
	} {
		body, header := hostile(kind, 1<<20, "<")
		_, _, err := allocated(s.models[modelOf(kind)], []byte(body), header)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
	}
}

// FuzzMemory bounds the memory that any body makes the server allocate.
func FuzzMemory(f *testing.F) {
	for _, kind := range hostileKinds {
		for _, unit := range []string{"<", `\u003c`} {
			body, header := hostile(kind, 2000, unit)
			f.Add([]byte(body), header, modelOf(kind) == "words")
		}
	}
	s := server(f, Options{MaxHeld: 1 << 22, MaxMemory: 1 << 20}, echo(f, dtype.Float32), words(f))
	f.Fuzz(func(t *testing.T, body []byte, header int64, text bool) {
		name := "echo-float32"
		if text {
			name = "words"
		}
		if got, held, err := allocated(s.models[name], body, header); got > mostTimes*held+mostFixed {
			t.Errorf("a body of %d bytes allocates %d, counted are %d: %.100v", len(body), got, held, err)
		}
	})
}
