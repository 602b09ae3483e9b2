package blobstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/format/zarr/blobstore"
	"github.com/ashlar-go/ashlar/tensor"
	"gocloud.dev/blob/memblob"
)

func ExampleNew() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil) // or blob.OpenBucket(ctx, "s3://name")
	defer bucket.Close()
	a, err := zarr.Create(ctx, blobstore.New(bucket), "x", zarr.Metadata{DType: dtype.Int8, Shape: []int{4}, Chunks: []int{4}, Inner: []int{2}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := a.Write(ctx, []int{1}, tensor.FromSlice([]int8{5, 6}, 2).Any()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Read(ctx))
	// Output: [0 5 6 0] <nil>
}

// A shard that is replaced after any request is read as it was before or after.
func TestReplaced(t *testing.T) {
	ctx := t.Context()
	for size := range 5 { // of the inner chunks that another program writes: the size of the object may stay
		for replace := range 6 {
			bucket := memblob.OpenBucket(nil)
			defer bucket.Close()
			s := blobstore.New(bucket)
			a, err := zarr.Create(ctx, s, "x", zarr.Metadata{DType: dtype.Int8, Shape: []int{16}, Chunks: []int{16}, Inner: []int{4}, Codecs: []zarr.Codec{{Name: "bytes"}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			old, changed := make([]int8, 16), make([]int8, 16)
			for i := range 16 {
				old[i] = int8(i + 1)
				if i/4 != size {
					changed[i] = int8(i + 50)
				}
			}
			write := func(v []int8) {
				if err := a.Write(ctx, []int{0}, tensor.FromSlice(v, 16).Any()); err != nil {
					t.Fatal(err)
				}
			}
			write(old)
			w := &watched{Versioner: s.(zarr.Versioner), at: replace, then: func() { write(changed) }}
			b, err := zarr.Open(ctx, w, "x", nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Read(ctx)
			if text := fmt.Sprint(got); err != nil || text != fmt.Sprint(tensor.FromSlice(old, 16)) && text != fmt.Sprint(tensor.FromSlice(changed, 16)) || w.n > 9 {
				t.Errorf("%d, replaced after request %d: %v %v, %d requests", size, replace, got, err, w.n)
			}
		}
	}
}

// watched calls then after one of its requests.
type watched struct {
	zarr.Versioner
	n, at int
	then  func()
}

func (w *watched) GetVersion(ctx context.Context, key string, off, n int64, version string) ([]byte, string, error) {
	b, now, err := w.Versioner.GetVersion(ctx, key, off, n, version)
	if w.n++; w.n == w.at {
		w.then()
	}
	return b, now, err
}

func TestErrors(t *testing.T) {
	ctx := t.Context()
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	s := blobstore.New(bucket)
	if _, err := s.Get(ctx, "none", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := s.Delete(ctx, "none"); err != nil {
		t.Error(err)
	}
	if err := s.Set(ctx, "a/b", []byte("0123")); err != nil {
		t.Fatal(err)
	}
	if b, err := s.GetRange(ctx, "a/b", -2, 2); err != nil || string(b) != "23" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := s.GetRange(ctx, "a/b", 2, 3); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	v := s.(zarr.Versioner)
	_, first, err := v.GetVersion(ctx, "a/b", 0, 2, "")
	if err != nil {
		t.Fatal(err)
	}
	if b, again, err := v.GetVersion(ctx, "a/b", -3, 2, first); err != nil || string(b) != "12" || again != first {
		t.Errorf("%q %q %v", b, again, err)
	}
	if err := s.Set(ctx, "a/b", []byte("012345")); err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{0, -4} {
		if b, _, err := v.GetVersion(ctx, "a/b", off, 2, first); !errors.Is(err, zarr.ErrChanged) {
			t.Errorf("another object: %q %v", b, err)
		}
	}
	if keys, err := s.List(ctx, "a/"); err != nil || len(keys) != 1 {
		t.Error(keys, err)
	}
}
