package gguf

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func FuzzOpen(f *testing.F) {
	f.Add(head(2, 0).tensor("x", 0, 0, 9).tensor("y", 2, 64, 32).pad(32).bytes(string(make([]byte, 96))).b)
	f.Add(head(1, 1).text(alignKey).u32(typeUint32).u32(8).tensor("k", 12, 8, 256, 1).pad(8).bytes(string(make([]byte, 152))).b)
	f.Add(head(0, 3).text("a").u32(typeArray).u32(typeArray).u64(2).u32(typeUint8).u64(1).bytes("1").u32(typeString).u64(1).text("a").text("b").u32(typeBool).bytes("\x01").text(splitCount).u32(typeUint32).u32(3).b)
	f.Add(head(1, 0).tensor("x", 77, 0, 1<<62, 1<<62).pad(32).b)
	f.Add(head(1, 0).tensor("x", 0, 1<<62, 0).pad(32).b)
	f.Add(head(1, 0).tensor("x", 34, 0, 0).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var file *File
		var err error
		limit := 1<<20 + 64*int64(len(b))
		if got := allocated(func() { file, err = New(mem.Borrow(b, nil)) }); got > limit {
			t.Errorf("New took %d bytes for a file of %d", got, len(b))
		}
		if err != nil {
			var own *format.Error
			if !errors.As(err, &own) || own.Err == nil || own.Offset < 0 || own.Offset > int64(len(b)) {
				t.Errorf("an error of another kind: %#v", err)
			}
			return
		}
		var metadata []KV
		for _, key := range file.Keys() {
			v, err := file.Value(key)
			if err != nil {
				continue
			}
			if metadata = append(metadata, KV{key, v}); file.text(key) == "" && v != "" {
				t.Errorf("%q: %v has no text", key, v)
			}
		}
		var names []string
		var ts []tensor.Any
		for _, name := range file.Names() {
			i, err := file.Info(name)
			if err != nil || i.Offset < 0 || i.Bytes < 0 || i.Bytes > 0 && i.Offset > len(b)-i.Bytes {
				t.Fatalf("%+v, %v", i, err)
			}
			a, err := file.Tensor(name)
			if err != nil {
				if !errors.Is(err, format.ErrType) {
					t.Fatal(err)
				}
				continue
			}
			if p, ok := a.Foreign().(pack.Tensor); ok {
				if _, err := p.Unpack(); err != nil {
					t.Fatal(err)
				}
			}
			names, ts = append(names, name), append(ts, a)
		}
		var out bytes.Buffer
		if err := Write(&out, names, ts, metadata); err != nil {
			t.Fatal(err)
		}
		again, err := New(mem.Borrow(out.Bytes(), nil))
		if err != nil || !slices.Equal(again.Names(), names) {
			t.Fatalf("%q: %v", names, err)
		}
		for i, name := range names {
			a, err := again.Tensor(name)
			if err != nil || !bytes.Equal(raw(t, a), raw(t, ts[i])) {
				t.Fatalf("%s: %v, %v", name, a, err)
			}
		}
	})
}
