package wire_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	b := wire.AppendString(nil, 1, "conv")
	b = wire.AppendInts(b, 2, []int64{3, 3})
	limit := wire.NewLimit(len(b))
	m := wire.Message{Bytes: b}
	sizes, err := limit.Int64s(m, 2)
	fmt.Println(m.First(1), sizes, err)
	// Output: conv [3 3] <nil>
}

func TestBadFields(t *testing.T) {
	nested := []byte{}
	for range 200 {
		nested = wire.AppendBytes(nil, 1, nested)
	}
	limit := wire.NewLimit(0)
	var deeper func(m wire.Message) error
	deeper = func(m wire.Message) error {
		return limit.Each(m, func(f wire.Field) error {
			m, err := f.Message()
			if err == nil {
				err = deeper(m)
			}
			return err
		})
	}
	var f wire.Field
	next := func(b ...byte) error {
		_, err := (&wire.Message{Bytes: b}).Next(&f)
		return err
	}
	for want, err := range map[string]error{
		"nest deeper than 100":                     deeper(wire.Message{Bytes: nested}),
		"field 1 is said to have 9 bytes, but 1":   next(10, 9, 0),
		"field 1 has wire type 3":                  next(11),
		"byte 0: field tag":                        next(0x80),
		"the contents would take more than 48 MiB": limit.Spend(1 << 40),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestFolder(t *testing.T) {
	f := &wire.Folder{FS: fstest.MapFS{"m/w.data": {Data: []byte("weights")}}, Base: "m"}
	buf, at, n, err := f.Find("w.data", 2, -1, nil)
	if err != nil || string(buf.Bytes()[at:][:n]) != "ights" {
		t.Fatalf("got %d bytes from %d on, %v", n, at, err)
	}
	for want, find := range map[string]func() (string, []string){
		"outside of the model's folder": func() (string, []string) { return "../w.data", nil },
		"does not exist":                func() (string, []string) { return "v.data", nil },
		"its SHA-1 is":                  func() (string, []string) { return "w.data", []string{"00"} },
	} {
		name, sums := find()
		if _, _, _, err := f.Find(name, 0, 1, sums); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if _, _, _, err := f.Find("w.data", 5, 3, nil); err == nil {
		t.Error("found bytes beyond the end of the file")
	}
	f.Close()
	if _, _, _, err := f.Find("w.data", 0, 1, nil); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
}

func TestDataFile(t *testing.T) {
	d := wire.NewDataFile(io.Discard)
	for i, want := range []int64{0, 64, 36864} {
		if at, err := d.Put(make([]byte, 1+i*(1<<15))); at != want || err != nil {
			t.Errorf("%d: at %d, %v; want %d", i, at, err, want)
		}
		if i == 1 && d.Size() != 64+1+(1<<15) {
			t.Errorf("size %d", d.Size())
		}
	}
}
