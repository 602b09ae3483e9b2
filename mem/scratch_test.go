package mem

import (
	"errors"
	"sync"
	"testing"
)

func TestScratch(t *testing.T) {
	settle(t)
	before := Stats().Live
	var s Scratch
	for range 2 { // a closed Scratch is as new
		var given []*Buffer
		for i, n := range []int{0, 1, 63, 64, 100, 5000, 70_000, scratchPiece, scratchPiece + 1, 3 << 20, 1, 900_000, 120_000, 120_000, 120_000} {
			b, err := s.Alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			checkBytes(t, b.Bytes(), n, true)
			if b.Kind() != Scratched || b.ReadOnly() {
				t.Errorf("%d bytes: kind %v", n, b.Kind())
			}
			for k := range b.Bytes() {
				b.Bytes()[k] = byte(i + 1)
			}
			given = append(given, b)
		}
		for i, b := range given { // nobody wrote to another's
			for _, v := range b.Bytes() {
				if v != byte(i+1) {
					t.Fatalf("piece %d holds %d", i, v)
				}
			}
		}
		given[4].Hold()
		held := given[4].Bytes()
		given[1].Close()
		if given[1].Bytes() != nil || given[2].Bytes() == nil {
			t.Error("closing a piece doesn't close that piece alone")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for i, b := range given {
			if !b.Closed() {
				t.Errorf("piece %d is open", i)
			}
		}
		for _, v := range held {
			if v != 5 {
				t.Fatal("a held piece changed")
			}
		}
		given[4].Release()
		if live := Stats().Live; live != before {
			t.Errorf("%d bytes live, %d before", live, before)
		}
	}
	if _, err := s.Alloc(-1); !errors.Is(err, ErrSize) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestScratchConcurrently(t *testing.T) {
	var s Scratch
	defer s.Close()
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			for range 200 {
				b, err := s.Alloc(1000)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range b.Bytes() {
					b.Bytes()[i] = byte(k)
				}
				for _, v := range b.Bytes() {
					if v != byte(k) {
						t.Error("two pieces share bytes")
						return
					}
				}
			}
		})
	}
	all.Wait()
}
