package sound

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// A Ring has the windows that slices of the whole have.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, step, width := rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "step"), rapid.IntRange(1, 3).Draw(t, "width")
		left := rapid.IntRange(0, rows-1).Draw(t, "left")
		x := make([]float32, width*rapid.IntRange(0, 90).Draw(t, "stream"))
		for i := range x {
			x[i] = float32(i)
		}
		all := append(slices.Repeat([]float32{-1}, left*width), x...)
		var want [][]float32
		covered, at := left*width, 0
		for ; at+rows*width <= len(all); at += step * width {
			want = append(want, all[at:at+rows*width])
			covered = at + rows*width
		}
		if at < len(all) && covered < len(all) {
			want = append(want, append(slices.Clone(all[at:]), make([]float32, rows*width-(len(all)-at))...))
		}
		var got [][]float32
		keep := func(w []float32) error { got = append(got, slices.Clone(w)); return nil }
		r := NewRing(rows, step, RingOptions{Width: width, Left: left, Fill: -1})
		for rest := x; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "chunk")
			if err := r.Push(rest[:n], keep); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := r.End(keep); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// Windows as far apart as an int holds, and farther, are refused before their positions overflow.
func TestRingFarApart(t *testing.T) {
	const most = math.MaxInt / 4
	for _, c := range []struct {
		rows, step, width int
		fits              bool
	}{{2, min(1<<40, most), 1, true}, {2, min(1<<40, most), 2, false}, {2, math.MaxInt, 1, false}, {2, math.MaxInt, 2, false}, {1, 1, math.MaxInt, false}, {math.MaxInt, 1, 1, false}} {
		windows := 0
		err := tensor.Try(func() {
			r := NewRing(c.rows, c.step, RingOptions{Width: c.width})
			for range 3 {
				if err := r.Push(make([]float32, 9), func([]float32) error { windows++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
		if c.fits && (err != nil || windows != 1) || !c.fits && !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%+v: %d windows, %v", c, windows, err)
		}
	}
}

// After an error of a window the next call goes on with the window after.
func TestRingFails(t *testing.T) {
	r, own, n := NewRing(2, 2, RingOptions{}), errors.New("no"), 0
	var seen []float32
	f := func(w []float32) error {
		seen = append(seen, w[0])
		if n++; n == 2 {
			return own
		}
		return nil
	}
	if err := r.Push([]float32{1, 2, 3, 4, 5, 6}, f); !errors.Is(err, own) {
		t.Fatal(err)
	}
	if err := r.End(f); err != nil || !slices.Equal(seen, []float32{1, 3, 5}) {
		t.Error(seen, err)
	}
}

func FuzzRing(f *testing.F) {
	f.Add(uint8(3), uint8(2), uint8(1), []byte{5, 0, 200})
	f.Fuzz(func(t *testing.T, rows, step, left uint8, chunks []byte) {
		if rows == 0 || step == 0 || left >= rows || len(chunks) > 100 {
			return
		}
		r, total, windows := NewRing(int(rows), int(step), RingOptions{Left: int(left)}), int(left), 0
		for _, n := range chunks {
			if err := r.Push(make([]float32, n), func([]float32) error { windows++; return nil }); err != nil {
				t.Fatal(err)
			}
			total += int(n)
		}
		want := 0
		if total >= int(rows) {
			want = (total-int(rows))/int(step) + 1
		}
		if windows != want {
			t.Fatalf("%d windows of %d samples, want %d", windows, total, want)
		}
	})
}
