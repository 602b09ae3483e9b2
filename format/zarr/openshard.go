package zarr

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
	"github.com/ashlar-go/ashlar/tensor"
)

// An openShard is a shard from which inner chunks are read.
type openShard struct {
	a     *Array
	key   string
	users atomic.Int64
	once  sync.Once
	value *Value   // nil: the store is no Opener, and runs reads
	index []uint64 // nil: the shard is absent
	err   error

	version string            // of the shard, if runs reads
	digest  [sha256.Size]byte // of the bytes of the index, if the version is weak
}

// drop ends a use; the last one closes the value.
func (s *openShard) drop() {
	if s.users.Add(-1) == 0 && s.value != nil {
		s.value.Close()
	}
}

// open reads the index.
func (s *openShard) open(ctx context.Context) {
	sh := s.a.shard
	var b []byte
	all := int64(math.MaxInt64) // the bytes of the shard, if they are known
	if o, ok := s.a.store.(Opener); ok {
		if s.value, s.err = o.Open(ctx, s.key); s.err == nil {
			all = s.value.size
			if most := int64(sh.most()); s.value.all != nil && all > most {
				s.err = tooLarge(most)
			} else {
				b, s.err = s.value.readAt(nil, sh.off(), int64(sh.size()))
			}
		}
	} else if b, s.version, s.err = s.ask(ctx, ""); weak(s.version) {
		s.digest = sha256.Sum256(b)
	}
	switch {
	case errors.Is(s.err, fs.ErrNotExist):
		s.err = nil
	case s.err != nil:
		s.err = within("the index of the shard", s.err)
	default:
		s.index, s.err = sh.parse(b, all)
	}
}

// ask requests the bytes of the index of a version of the shard.
func (s *openShard) ask(ctx context.Context, version string) (b []byte, now string, err error) {
	return getVersion(ctx, s.a.store, s.key, s.a.shard.off(), int64(s.a.shard.size()), version)
}

// changed reports whether the shard was replaced since its index was read, when the requests for its chunks have ended with err. It returns
// the error that counts if the shard wasn't. Unless the version is enough to tell, it reads the index again.
func (s *openShard) changed(ctx context.Context, err error) (bool, error) {
	switch {
	case err == nil && !weak(s.version):
		return false, nil
	case ctx.Err() != nil:
		return false, cmp.Or(err, context.Cause(ctx))
	case errors.Is(err, ErrChanged):
		return true, nil
	}
	b, _, problem := s.ask(ctx, s.version)
	switch {
	case errors.Is(problem, ErrChanged), errors.Is(problem, fs.ErrNotExist):
		return true, nil
	case problem != nil:
		return false, cmp.Or(err, at(s.key, within("the index of the shard, read again", problem)))
	}
	return weak(s.version) && sha256.Sum256(b) != s.digest, err
}

// read fills dst with the part of an inner chunk that begins at element first.
func (s *openShard) read(ctx context.Context, inner []int, dst tensor.Any, first []int) error {
	s.once.Do(func() { s.open(ctx) })
	if s.err != nil {
		return at(s.key, s.err)
	}
	if s.index == nil {
		return at(s.key, s.a.absent(dst))
	}
	k, p := s.a.shard.place(inner), s.a.pipe
	if s.index[2*k] == noChunk && s.index[2*k+1] == noChunk {
		return tensor.Copy(dst, s.a.fill)
	}
	off, n := int64(s.index[2*k]), int64(s.index[2*k+1])
	work := p.borrow()
	defer p.scratch.Put(work)
	var b []byte
	var err error
	if n > int64(p.most) {
		err = fail(format.ErrLimit, "%d bytes for a chunk of %d", n, p.n)
	} else if b, err = s.value.readAt(work.stored, off, n); err == nil {
		work.stored = b
	}
	if err == nil {
		err = p.put(work, b, dst, first)
	}
	return at(s.key, in(inner, err))
}

// If a store is no Opener, one request of up to mostRun bytes reads inner chunks that lie up to gap bytes apart.
const (
	gap     = 64 << 10
	mostRun = 4 << 20
)

// Ahead returns the bytes that a worker holds beside the memory that Options.Workers describes. If the store is no Opener, they are the
// bytes of a request for several inner chunks of a shard. Otherwise Ahead returns 0.
func (a *Array) Ahead() int64 {
	if _, ok := a.store.(Opener); ok || a.shard == nil {
		return 0
	}
	return mostRun
}

// runs fills t, which begins at from, with the part of a shard from first to below last. All is of one version of the shard: if it is replaced
// meanwhile, runs begins again.
func (a *Array) runs(ctx context.Context, key string, t tensor.Any, from, first, last []int, within int) error {
	for range request.Tries {
		s := &openShard{a: a, key: key}
		if s.open(ctx); s.err != nil {
			return at(key, s.err)
		}
		asked, err := s.runs(ctx, t, from, first, last, within)
		if !asked {
			return err
		}
		if again, err := s.changed(ctx, err); !again {
			return err
		}
	}
	return at(key, fail(ErrChanged, "the shard was replaced %d times while it was read; read it again when no program writes it", request.Tries))
}

// runs makes few requests for the inner chunks, within at once. It reports whether it made one.
func (s *openShard) runs(ctx context.Context, t tensor.Any, from, first, last []int, within int) (asked bool, err error) {
	p := s.a.pipe
	if s.index == nil {
		dst, err := window(t, less(first, from), less(last, first))
		if err == nil {
			err = s.a.absent(dst)
		}
		return false, at(s.key, err)
	}
	type part struct {
		inner, begin []int
		dst          tensor.Any
		off, end     int64
	}
	var parts []part
	w := newWalk(p.shape, first, last)
	for index, begin, shape := w.next(); index != nil; index, begin, shape = w.next() {
		dst, err := window(t, less(begin, from), shape)
		if err != nil {
			return false, err
		}
		k := s.a.shard.place(index)
		switch off, n := s.index[2*k], s.index[2*k+1]; {
		case off == noChunk && n == noChunk:
			if err := tensor.Copy(dst, s.a.fill); err != nil {
				return false, err
			}
		case n > uint64(p.most):
			return false, at(s.key, in(index, fail(format.ErrLimit, "%d bytes for a chunk of %d", n, p.n)))
		default:
			parts = append(parts, part{index, less(begin, origin(index, p.shape)), dst, int64(off), int64(off + n)})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.off, b.off) })
	asked = len(parts) > 0
	return asked, parallel(ctx, within, func() func(context.Context) error {
		if len(parts) == 0 {
			return nil
		}
		n, end := 1, parts[0].end
		for ; n < len(parts) && parts[n].off-end <= gap && parts[n].end-parts[0].off <= mostRun; n++ {
			end = max(end, parts[n].end)
		}
		run := parts[:n]
		parts = parts[n:]
		return func(ctx context.Context) error {
			b, _, err := getVersion(ctx, s.a.store, s.key, run[0].off, end-run[0].off, s.version)
			if err == nil && int64(len(b)) != end-run[0].off {
				err = errRange(run[0].off, end-run[0].off, int64(len(b)))
			}
			if err != nil {
				return at(s.key, err)
			}
			work := p.borrow()
			defer p.scratch.Put(work)
			for _, c := range run {
				off, end := c.off-run[0].off, c.end-run[0].off
				if err := p.put(work, b[off:end:end], c.dst, c.begin); err != nil {
					return at(s.key, in(c.inner, err))
				}
			}
			return nil
		}
	})
}
