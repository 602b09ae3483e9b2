package chunk

import (
	"context"
	"strings"

	"github.com/ashlar-go/ashlar/format/zarr"
)

// below is the part of a store below a key: a store of its own, so that arrays in it belong to no group or array above.
type below struct {
	store zarr.Store
	key   string // with a slash at the end
}

// sub returns the part of a store whose keys begin with a key and a slash.
func sub(s zarr.Store, key string) zarr.Store {
	b := below{s, key + "/"}
	if o, ok := s.(zarr.Opener); ok {
		return belowOpener{b, o}
	}
	return b
}

type belowOpener struct {
	below
	opener zarr.Opener
}

func (b belowOpener) Open(ctx context.Context, key string) (*zarr.Value, error) {
	return b.opener.Open(ctx, b.key+key)
}

func (b below) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	return b.store.Get(ctx, b.key+key, most)
}

func (b below) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return b.store.GetRange(ctx, b.key+key, off, n)
}

func (b below) Size(ctx context.Context, key string) (int64, error) {
	return b.store.Size(ctx, b.key+key)
}

func (b below) Set(ctx context.Context, key string, value []byte) error {
	return b.store.Set(ctx, b.key+key, value)
}

func (b below) Delete(ctx context.Context, key string) error {
	return b.store.Delete(ctx, b.key+key)
}

func (b below) List(ctx context.Context, prefix string) ([]string, error) {
	keys, err := b.store.List(ctx, b.key+prefix)
	for i, k := range keys {
		keys[i] = strings.TrimPrefix(k, b.key)
	}
	return keys, err
}
