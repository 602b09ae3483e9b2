package order

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// forms are the kinds of elements, and less is their definition on bits.
var forms = []struct {
	name string
	f    Form
}{
	{"uint8", Form{Size: 1}}, {"int8", Form{Size: 1, Signed: true}}, {"float8", Form{Size: 1, Signed: true, Largest: 0x7e}},
	{"uint16", Form{Size: 2}}, {"int16", Form{Size: 2, Signed: true}}, {"float16", Form{Size: 2, Signed: true, Largest: 0x7c00}},
	{"uint32", Form{Size: 4}}, {"int32", Form{Size: 4, Signed: true}}, {"float32", Form{Size: 4, Signed: true, Largest: 0x7f800000}},
	{"uint64", Form{Size: 8}}, {"int64", Form{Size: 8, Signed: true}}, {"float64", Form{Size: 8, Signed: true, Largest: 0x7ff << 52}},
}

// rank returns a number that orders elements, by the definition.
func rank(f *Form, x uint64) float64 {
	up := 64 - 8*f.Size
	if f.Largest == 0 {
		if f.Signed {
			return float64(int64(x<<up) >> up)
		}
		return float64(x)
	}
	mag := x &^ f.Zero()
	if mag > f.Largest {
		return math.Inf(1)
	}
	if x != mag {
		return -float64(mag)
	}
	return float64(mag)
}

// lines are elements that are hard to sort, n of them, of values that float64 holds apart.
func lines(f *Form, n int) map[string][]uint64 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	mask := f.NaN()
	fill := func(g func(i int) uint64) []uint64 {
		v := make([]uint64, n)
		for i := range v {
			v[i] = g(i) & mask
			if f.Size == 8 { // so that float64 tells them apart
				v[i] &^= 0x7ff
			}
		}
		return v
	}
	some := []uint64{0, f.Zero(), f.Largest, f.Largest | f.Zero(), mask, f.NaN() >> 1, 1 << (8*f.Size - 4)}
	random := fill(func(int) uint64 { return r.Uint64() })
	sorted := slices.Clone(random)
	slices.SortStableFunc(sorted, func(a, b uint64) int { return cmp.Compare(rank(f, a), rank(f, b)) })
	reversed := slices.Clone(sorted)
	slices.Reverse(reversed)
	late, early, turns := slices.Clone(sorted), slices.Clone(reversed), append(slices.Clone(sorted[n/2:]), reversed[:n/2]...)
	if n > 0 {
		late[n-1], early[n-1] = random[0], random[0]
	}
	return map[string][]uint64{"random": random, "sorted": sorted, "reversed": reversed, "late": late, "early": early, "turns": turns,
		"equal": fill(func(int) uint64 { return 0x4321432143214321 }), "NaN": fill(func(i int) uint64 { return f.NaN() - uint64(i%2)*f.Zero() }),
		"zeros": fill(func(int) uint64 { return r.Uint64() & 1 << (8*f.Size - 1) }), "few": fill(func(int) uint64 { return some[r.IntN(len(some))] }),
		"near": fill(func(int) uint64 { return r.Uint64() & 0x3fff })}
}

func memory(f *Form, v []uint64) []byte {
	mem := make([]byte, 0, len(v)*f.Size)
	for _, x := range v {
		var b [8]byte
		binary.NativeEndian.PutUint64(b[:], x<<(64-8*f.Size))
		if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
			mem = append(mem, b[:f.Size]...)
		} else {
			mem = append(mem, b[8-f.Size:]...)
		}
	}
	return mem
}

// stable returns the positions in order, by the definition.
func stable(f *Form, v []uint64, down bool) []int64 {
	at := make([]int64, len(v))
	for i := range at {
		at[i] = int64(i)
	}
	slices.SortStableFunc(at, func(i, j int64) int {
		if down {
			i, j = j, i
		}
		return cmp.Compare(rank(f, v[i]), rank(f, v[j]))
	})
	return at
}

// Sort, Arrange, Top and Rank give what a stable sort by the definition gives, with elements of all
// forms and lines of all lengths.
func TestOrder(t *testing.T) {
	for _, form := range forms {
		f := &form.f
		for _, n := range []int{0, 1, 2, 3, 24, 25, 300, 513, 1500, 9000} {
			for name, v := range lines(f, n) {
				if f.Size == 8 {
					check[uint64](t, form.name+" "+name, f, v)
				} else {
					check[uint32](t, form.name+" "+name, f, v)
				}
			}
		}
	}
}

func check[K Key](t *testing.T, name string, f *Form, v []uint64) {
	n, bits := len(v), 8*f.Size
	mem := memory(f, v)
	keys, spare := make([]K, n), make([]K, n)
	want := stable(f, v, false)

	inOrder := make([]uint64, n)
	for i, at := range want {
		inOrder[i] = v[at]
	}
	got := make([]byte, len(mem))
	Sort(got, mem, f, keys, spare)
	if !slices.Equal(got, memory(f, inOrder)) {
		t.Errorf("%s: Sort of %d differs", name, n)
	}

	if Rises(mem, f, keys) && !slices.IsSortedFunc(v, func(a, b uint64) int { return cmp.Compare(rank(f, a), rank(f, b)) }) {
		t.Errorf("%s: %d elements rise", name, n)
	}

	if up := make([]byte, len(mem)); simd.LessOrEqual.Best() != nil && f.Signed && f.Size >= 4 && n >= 128 && !Rises(up, f, keys) {
		t.Errorf("%s: %d zeros don't rise", name, n)
	}

	var room []uint64
	at := make([]int64, n)
	Keys(keys, mem, f, false)
	before := slices.Clone(keys)
	Arrange(at, keys, bits, &room)
	if !slices.Equal(at, want) {
		t.Errorf("%s: Arrange of %d differs", name, n)
	}
	arrangeBy(at, keys)
	if !slices.Equal(at, want) {
		t.Errorf("%s: arrangeBy of %d differs", name, n)
	}

	for _, k := range []int{0, 1, n / 3, n / 2, n - 1} {
		if k < 0 || k >= n {
			continue
		}
		key, smaller, upto := Rank(keys, spare, k, bits)
		is := before[want[k]]
		less, equal := 0, 0
		for _, x := range before {
			if x < is {
				less++
			} else if x == is {
				equal++
			}
		}
		if key != is || smaller != less || upto != less+equal {
			t.Errorf("%s: Rank(%d) of %d is %v, %d, %d; want %v, %d, %d", name, k, n, key, smaller, upto, is, less, less+equal)
		}
	}
	if !slices.Equal(keys, before) {
		t.Errorf("%s: Rank of %d changed the keys", name, n)
	}

	var top Topper[K]
	for _, down := range []bool{false, true} {
		Keys(keys, mem, f, down)
		want := stable(f, v, down)
		for _, k := range []int{0, 1, 10, n / 2, n} {
			if k > n {
				continue
			}
			clear(at)
			top.Top(at, keys, k, bits)
			if !slices.Equal(at[:k], want[:k]) {
				t.Errorf("%s: Top(%d) of %d, down %v, differs", name, k, n, down)
			}
			clear(at)
			whole := Topper[K]{Spare: spare}
			if whole.Top(at, keys, k, bits); !slices.Equal(at[:k], want[:k]) {
				t.Errorf("%s: Top(%d) of %d, all ranked, down %v, differs", name, k, n, down)
			}
		}
	}
}

// A quicksort of keys that make its pivots bad gives up in time, and sorts all the same.
func TestQuick(t *testing.T) {
	if !simd.Sorts() {
		t.Skip("no kernels for it here")
	}
	keys, spare := badForQuick(20000), make([]uint32, 20000)
	want := slices.Sorted(slices.Values(keys))
	for _, depth := range []int{0, 1, 10, 1000} {
		got := slices.Clone(keys)
		if quick(got, spare, depth); !slices.Equal(got, want) {
			t.Errorf("with %d partitions the keys aren't in order", depth)
		}
	}
	if n := split(slices.Clone(keys), spare, middle(keys)); n > 16 {
		t.Errorf("the first pivot has %d smaller keys; want few", n)
	}
}

// badForQuick returns n keys of which middle finds a small one again and again: most of those that it looks at are the least that
// are left.
func badForQuick(n int) []uint32 {
	keys, left := make([]uint32, n), make([]int, n)
	for i := range left {
		left[i] = i
	}
	next := uint32(1)
	for range 50 {
		step := uint(len(left)) / 32
		gone := make(map[int]bool)
		for i := range uint(17) {
			at := left[(i*step+step/2)%uint(len(left))]
			if !gone[at] {
				keys[at], gone[at] = next, true
				next++
			}
		}
		left = slices.DeleteFunc(left, func(at int) bool { return gone[at] })
	}
	for _, at := range left {
		keys[at] = next
		next++
	}
	return keys
}
