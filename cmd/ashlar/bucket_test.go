package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A bucket answers as S3 does, of one bucket, without a login. It refuses values from the number full on.
type bucket struct {
	mu     sync.Mutex
	values map[string]string
	full   int
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := strings.TrimPrefix(r.URL.Path, "/bucket/")
	value, there := b.values[key]
	switch {
	case r.URL.Query().Has("list-type"):
		var keys []string
		for k := range b.values {
			if strings.HasPrefix(k, r.URL.Query().Get("prefix")) {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		fmt.Fprint(w, "<ListBucketResult>")
		for _, k := range keys {
			fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", k)
		}
		fmt.Fprint(w, "</ListBucketResult>")
	case r.Method == http.MethodPut && len(b.values) >= b.full:
		w.WriteHeader(http.StatusInsufficientStorage)
	case r.Method == http.MethodPut:
		text, _ := io.ReadAll(r.Body)
		b.values[key] = string(text)
	case r.Method == http.MethodDelete:
		delete(b.values, key)
	case !there:
		w.WriteHeader(http.StatusNotFound)
	default:
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(value))
	}
}

// Tensors are the same in a bucket. They replace nothing, and a failure leaves nothing there.
func TestBucket(t *testing.T) {
	b := &bucket{values: map[string]string{}, full: 1000}
	server := httptest.NewServer(b)
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	const digits, model = "../../testdata/digits-test.npy", "../../testdata/digits.onnx"
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{0, "", []string{"convert", digits, "s3://bucket/x.zarr", "--chunks", "100,8,3"}},
		{0, "the same", []string{"diff", "s3://bucket/x.zarr", digits}},
		{0, "chunks [100,8,3]", []string{"info", "s3://bucket/x.zarr"}},
		{0, "", []string{"convert", model, "s3://bucket/w"}},
		{0, "8 tensors, the same", []string{"diff", "s3://bucket/w", model}},
		{1, "never replaced", []string{"convert", model, "s3://bucket/w"}},
		{1, "never replaced", []string{"convert", digits, "s3://bucket"}},
		{1, "--chunks has 1 extents", []string{"convert", digits, "s3://bucket/y", "--chunks", "1"}},
		{0, "", []string{"convert", "s3://bucket/x.zarr", filepath.Join(t.TempDir(), "y.npy")}},
	} {
		got := newCall(nil).with(c.args...)
		if out := got.out.String() + got.err.String(); got.code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%q: exit %d, want %d and %q: %s", c.args, got.code, c.code, c.want, out)
		}
	}
	for key, value := range b.values {
		if strings.Contains(value, "unfinished") {
			t.Errorf("%s is still marked: %s", key, value)
		}
	}
	before := len(b.values)
	b.full = before + 5
	if got := newCall(nil).with("convert", model, "s3://bucket/full"); got.code != 1 || !strings.Contains(got.err.String(), "507") || len(b.values) != before {
		t.Errorf("exit %d: %s; %d values, want %d", got.code, got.err.String(), len(b.values), before)
	}
}
