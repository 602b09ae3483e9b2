package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func FuzzOpen(f *testing.F) {
	f.Add([]byte(padded(two, twoData, 0)))
	f.Add([]byte(padded(two, twoData, 1)))
	f.Add([]byte(raw(`{"x":{"dtype":"F4","shape":[4],"data_offsets":[0,2]},"y":{"dtype":"BOOL","shape":[2],"data_offsets":[2,4]}}`, "12\x01\x02")))
	f.Add([]byte(raw(`{"x":{"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208]}}`, "12345678")))
	f.Add([]byte(raw(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "12")))
	f.Add([]byte(raw(`{"__metadata__":{"ashlar.pack:x":"{\"format\":\"bfp4\",\"shape\":[3],\"padded\":[1,16],\"tile\":[1,16]}"},"x":{"dtype":"U8","shape":[24],"data_offsets":[0,24]}}`, "123456781234567812345678")))
	f.Add([]byte(raw(`{"__metadata__":{"ashlar.pack:x":"{\"format\":\"uint8\",\"shape\":[3],\"padded\":[4]}"},"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, "1234")))
	f.Add([]byte(raw(`{"__metadata__":{"ashlar.pack:x":"{\"format\":\"int4\",\"shape\":[4],\"padded\":[4],\"scales\":[2],\"block\":2,\"zeros\":true}"},"x":{"dtype":"U8","shape":[18],"data_offsets":[0,18]}}`, "12\x00\x00\x80\x3f\x00\x00\x80\x3f\x01\x00\x00\x00\xff\xff\xff\xff")))
	f.Add([]byte(raw(`{"__metadata__":{"ashlar.dtype:x":"fp16x16"},"x":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}}`, "12345678")))
	f.Add([]byte(raw(`{"__metadata__":{"ashlar.dtype:x":"fp64x64"},"x":{"dtype":"I64","shape":[1,2],"data_offsets":[0,16]}}`, "1234567812345678")))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"))
	f.Add([]byte(raw(`{"x":{"dtype":"F4","shape":[32],"data_offsets":[0,16]},"x_scale":{"dtype":"F8_E8M0","shape":[1],"data_offsets":[16,17]}}`, "0123456789abcdef8")))
	f.Add([]byte(raw(`{"x_blocks":{"dtype":"U8","shape":[1,16],"data_offsets":[0,16]},"x_scales":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}}`, "0123456789abcdef8")))
	f.Fuzz(func(t *testing.T, b []byte) {
		buf := memory(string(b))
		limit := 64<<20 + 8*int64(len(b))
		var file *File
		var err error
		if got := allocated(func() { file, err = New(buf) }); got > limit {
			t.Errorf("New took %d bytes for a file of %d", got, len(b))
		}
		list, metadata, alone := ReadHeader(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			if alone != nil || len(list) != len(file.Names()) || !maps.Equal(metadata, file.header.metadata) {
				t.Fatalf("ReadHeader: %v, %d tensors", alone, len(list))
			}
			for _, x := range list {
				if info, err := file.Info(x.Name); err != nil || info.Offset != x.Offset || info.Bytes != x.Bytes {
					t.Fatalf("ReadHeader: %+v; Info: %+v, %v", x, info, err)
				}
			}
		}
		if err != nil {
			var own *format.Error
			if !errors.As(err, &own) || own.Err == nil || own.Offset < 0 || own.Offset > int64(len(b)) {
				t.Errorf("an error of another kind: %#v", err)
			}
			return
		}
		if !json.Valid(b[8:file.header.start]) {
			t.Fatalf("accepted what is no JSON: %q", b[8:file.header.start])
		}
		total := 0
		var names []string
		var ts []tensor.Any
		for _, name := range file.Names() {
			info, err := file.Info(name)
			if err != nil {
				t.Fatal(err)
			}
			total += info.Bytes
			var a tensor.Any
			if got := allocated(func() { a, err = file.Tensor(name) }); got > limit {
				t.Errorf("Tensor took %d bytes for a file of %d", got, len(b))
			}
			scaled := info.Packed != nil && info.Packed.ScaleBytes() > 0
			if (err != nil) != (info.DType == dtype.Invalid) && !(scaled && errors.Is(err, tensor.ErrValue)) {
				t.Fatalf("%q of %s: %v", name, info.Type, err)
			}
			if err == nil {
				if p, ok := a.Foreign().(pack.Tensor); ok {
					s := info.Packed
					if s == nil || !scaled && !p.Identical(*s) || p.String() != s.String() || s.Bytes()+s.ScaleBytes() != info.Bytes {
						t.Fatalf("%+v, but the tensor is %v", info, p.Spec)
					}
				} else if !slices.Equal(a.Shape(), info.Shape) || a.DType() != info.DType || a.DType().Packed(a.Len()) != info.Bytes {
					t.Fatalf("%+v, but the tensor is %s", info, tensor.Describe(a))
				}
				names, ts = append(names, name), append(ts, a)
			}
		}
		if total != len(b)-file.header.start {
			t.Fatalf("the tensors have %d bytes of %d", total, len(b)-file.header.start)
		}
		pairs := joined(file)
		for _, name := range pairs.Names() {
			info, err := pairs.Info(name)
			if err != nil {
				t.Fatal(err)
			}
			var a tensor.Any
			if got := allocated(func() { a, err = pairs.Tensor(name) }); got > limit {
				t.Errorf("of pairs Tensor took %d bytes for a file of %d", got, len(b))
			}
			if p, ok := a.Foreign().(pack.Tensor); ok && err == nil && p.String() != info.Packed.String() {
				t.Errorf("%+v, but the pair is %v", info, p.Spec)
			}
		}
		first := written(t, names, ts, file.Metadata())
		again := open(t, first)
		for i := range ts {
			if ts[i], err = again.Tensor(names[i]); err != nil {
				t.Fatal(err)
			}
		}
		if written(t, names, ts, again.Metadata()) != first {
			t.Fatal("written and read again it differs")
		}
	})
}
