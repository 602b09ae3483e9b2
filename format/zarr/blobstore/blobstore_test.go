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
	if keys, err := s.List(ctx, "a/"); err != nil || len(keys) != 1 {
		t.Error(keys, err)
	}
}
