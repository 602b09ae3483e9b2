package zarr

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"net/http"
	"path"
	"strings"
	"sync"
)

// A Stater is a Store that lists its values together with states, texts that change when the values do.
type Stater interface {
	Store
	// States calls f for each value whose key begins with a prefix, in any order. The state is the value's size and
	// time, an ETag or a checksum. It comes from the list; no value is read.
	States(ctx context.Context, prefix string, f func(key, state string)) error
}

// sampled is the number of chunks whose state State takes in a store that is no Stater.
const sampled = 256

// State returns a text of 32 characters that changes when the array is written: a digest of its metadata, and of the size and
// time of each chunk. It reads no chunk. Folders, zip files and other stores that are Staters are listed once, with little memory.
// In other stores State asks for the sizes of up to 256 chunks, spread over the array; over HTTP also for ETag and Last-Modified.
//
// State doesn't notice that a chunk was replaced by another of the same size within the resolution of the store's clock, nor a
// change of chunks outside the sample.
func (a *Array) State(ctx context.Context) (string, error) {
	if err := needContext(ctx); err != nil {
		return "", err
	}
	var sum [4]uint64 // of the digests of keys and states: the order doesn't matter
	var mu sync.Mutex
	note := func(key, state string) {
		d := sha256.Sum256(fmt.Appendf(nil, "%q %q", key, state))
		mu.Lock()
		defer mu.Unlock()
		for i := range sum {
			sum[i] += binary.LittleEndian.Uint64(d[8*i:])
		}
	}
	names := []string{"zarr.json"}
	if a.meta.Version == 2 {
		names = []string{".zarray", ".zattrs"}
	}
	for _, name := range names {
		key := path.Join(a.path, name)
		b, err := read(ctx, a.store, key)
		if err == nil {
			note(name, string(b))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	var err error
	if s, ok := a.store.(Stater); ok {
		prefix := a.chunkPrefix()
		err = at(prefix, s.States(ctx, prefix, func(key, state string) {
			if !strings.HasPrefix(path.Base(key), own) {
				note(key, state)
			}
		}))
	} else {
		err = a.sample(ctx, note)
	}
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, sum)
	return hex.EncodeToString(h.Sum(nil)[:16]), err
}

// sample notes the states of some chunks. If the store can't tell a chunk's state, it is "unknown".
func (a *Array) sample(ctx context.Context, note func(key, state string)) error {
	state := func(ctx context.Context, key string) (string, error) {
		n, err := a.store.Size(ctx, key)
		return fmt.Sprint(n), err
	}
	if s, ok := a.store.(*httpStore); ok {
		state = s.state
	}
	grid := a.Grid()
	total := uint64(1)
	for _, n := range grid {
		hi, lo := bits.Mul64(total, uint64(n))
		if total = lo; hi != 0 || lo > math.MaxInt64 {
			total = math.MaxInt64
		}
	}
	count, i := min(total, sampled), uint64(0)
	return parallel(ctx, 16, func() func(context.Context) error {
		if i == count {
			return nil
		}
		hi, lo := bits.Mul64(i, total)
		k, _ := bits.Div64(hi, lo, count)
		i++
		index := make([]int, len(grid))
		for axis := len(grid) - 1; axis >= 0; axis-- {
			index[axis] = int(k % uint64(grid[axis]))
			k /= uint64(grid[axis])
		}
		return func(ctx context.Context) error {
			key := a.ChunkKey(index...)
			text, err := state(ctx, key)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				text = "absent"
			case err != nil:
				text = "unknown"
			}
			note(key, text)
			return ended(ctx)
		}
	})
}

// States implements Stater by the sizes and times of the files.
func (d *dir) States(ctx context.Context, prefix string, f func(key, state string)) error {
	return d.walk(ctx, path.Dir(prefix+"x"), func(name string, e fs.DirEntry) error {
		if e.IsDir() || !strings.HasPrefix(name, prefix) {
			return nil
		}
		info, err := e.Info()
		if err != nil || info.Mode()&fs.ModeSymlink != 0 { // Info's path may be relative to an earlier working folder
			info, err = d.root.Stat(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			f(name, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
		}
		return err
	})
}

// States implements Stater by the checksums of the entries.
func (s *zipStore) States(ctx context.Context, prefix string, f func(key, state string)) error {
	for _, k := range s.keys {
		if strings.HasPrefix(k, prefix) {
			f(k, fmt.Sprint(s.entries[k].UncompressedSize64, s.entries[k].CRC32))
		}
	}
	return ended(ctx)
}

// state returns a value's length, ETag and Last-Modified by the server's answer to a HEAD request.
func (s *httpStore) state(ctx context.Context, key string) (state string, err error) {
	err = s.ask(ctx, http.MethodHead, key, nil, func(a *http.Response) error {
		state = fmt.Sprintf("%d %q %q", a.ContentLength, a.Header.Get("ETag"), a.Header.Get("Last-Modified"))
		return nil
	})
	return state, err
}
