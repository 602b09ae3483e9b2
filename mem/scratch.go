package mem

import (
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/ram"
)

// A Scratch gives out memory for the time of a function, and takes it back all at once:
//
//	var s mem.Scratch
//	defer s.Close()
//
// Small pieces are cut from chunks of 1 MiB, so they cost no allocation of their own in the arena. The zero value is
// ready for use.
type Scratch struct {
	mu    sync.Mutex
	chunk *Buffer   // the one that pieces are cut from
	used  int       // bytes of it that are given out
	given []*Buffer // to close, chunks among them
}

const (
	scratchChunk = 1 << 20
	scratchPiece = scratchChunk / 8 // larger pieces have memory of their own
)

// Alloc returns a Buffer of n zeroed bytes, with the alignment and the errors of the function Alloc. Its Kind is
// Scratched. It may be closed before the Scratch is.
func (s *Scratch) Alloc(n int) (*Buffer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.cut(n)
	if err != nil {
		return nil, err
	}
	b.kind = Scratched
	s.given = append(s.given, b)
	return b, nil
}

func (s *Scratch) cut(n int) (*Buffer, error) {
	if n < 0 || n > scratchPiece {
		return Alloc(n)
	}
	align := ram.AlignFor(n)
	if s.chunk != nil {
		s.used = ram.RoundUp(s.used, align)
	}
	if s.chunk == nil || scratchChunk-s.used < n {
		c, err := AllocDirty(scratchChunk)
		if err != nil {
			return nil, err
		}
		s.chunk, s.used = c, 0
		s.given = append(s.given, c)
	}
	data := s.chunk.Bytes()[s.used : s.used+n : s.used+n]
	s.used += n
	clear(data)
	// The chunk stays for a piece that is itself held or lent. The piece knows the chunk's hold alone, so that the chunk goes when both are dropped.
	s.chunk.Hold()
	chunk := s.chunk.hold
	return newBuffer(data, Scratched, &hold{give: func() error { chunk.release(); return nil }}), nil
}

// Close closes every Buffer that s gave out. Then s is as new.
func (s *Scratch) Close() (err error) {
	s.mu.Lock()
	given := s.given
	s.given, s.chunk, s.used = nil, nil, 0
	s.mu.Unlock()
	for i := len(given) - 1; i >= 0; i-- { // pieces before the chunk they are cut from
		if e := given[i].Close(); err == nil {
			err = e
		}
	}
	return err
}
