package contract

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// randomSide returns an operand of n bytes and its zero points: bytes of any value, or all at the ends.
func randomSide(r *rand.Rand, n, zeros int) ByteSide {
	s := ByteSide{Mem: make([]byte, n), Signed: r.IntN(2) == 0}
	how := r.IntN(3)
	for i := range s.Mem {
		switch s.Mem[i] = byte(r.Uint32()); how {
		case 1:
			s.Mem[i] = byte(128 + r.IntN(2)*127)
		case 2:
			s.Mem[i] = byte(r.IntN(2) * 255)
		}
	}
	for range []int{0, 1, zeros}[r.IntN(3)] {
		z := int32(r.IntN(2) * 255)
		if s.Signed {
			z -= 128
		}
		s.Zero = append(s.Zero, z)
	}
	return s
}

// above returns element i of a side less the zero point of row or column j.
func above(s *ByteSide, i, j int) int64 {
	v := int64(s.Mem[i])
	if s.Signed {
		v = int64(int8(s.Mem[i]))
	}
	if n := len(s.Zero); n > 0 {
		v -= int64(s.Zero[j%n])
	}
	return v
}

// eachWay runs a test with quads, if there are kernels, and without.
func eachWay(t *testing.T, f func(t *testing.T)) {
	all := byteQuads
	t.Cleanup(func() { byteQuads = all })
	if all != nil {
		t.Run("quads", f)
		byteQuads = nil
	}
	t.Run("pairs", f)
}

func TestByteProduct(t *testing.T) { eachWay(t, testByteProduct) }

func testByteProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		batch, m, n, k := 1+r.IntN(3), 1+r.IntN(30), 1+r.IntN(70), r.IntN(40)
		if r.IntN(20) == 0 {
			k = 500 + r.IntN(700)
		}
		shared := r.IntN(2) // of one b
		a, b := randomSide(r, batch*m*k, m), randomSide(r, ((batch-1)*(1-shared)+1)*k*n, n)
		got := make([]int32, batch*m*n)
		p := ByteProduct{Job: exec.Job{Name: "Test"}, Batch: batch, M: m, N: n, K: k, A: a, B: b, Step: n,
			Row: func(e int) int { return e * m }, First: func(e int) int { return e * (1 - shared) * k * n },
			Emit: func(e, i, at int, sums []int32, last bool) {
				if !last {
					t.Fatal("sums in parts")
				}
				copy(got[(e*m+i)*n+at:(e*m+i+1)*n], sums)
			}}
		if kept := r.IntN(4); k > 0 {
			if kept != 0 && shared == 1 {
				p.B.Filter = new(Filter)
			}
			p.Run() // packs
			checkKept(t, p.B.Filter, n, k)
			clear(got)
		}
		p.Run()
		for e := range batch {
			for i := range m {
				for j := range n {
					var want int64
					for l := range k {
						want += above(&a, (e*m+i)*k+l, i) * above(&b, p.First(e)+l*n+j, j)
					}
					if got := got[(e*m+i)*n+j]; got != int32(want) {
						t.Fatalf("entry %d of %d, %d×%d×%d, sum %d,%d: got %d, want %d", e, batch, m, k, n, i, j, got, want)
					}
				}
			}
		}
	}
}

// checkKept compares the bytes that packed weights take with BytesKept.
func checkKept(t *testing.T, f *Filter, n, k int) {
	t.Helper()
	if f == nil {
		return
	}
	got := int64(0)
	switch p := f.packed.(type) {
	case *keptBytes[byte]:
		got = int64(len(p.packed) + 4*len(p.sums))
	case *keptBytes[int8]:
		got = int64(len(p.packed) + 4*len(p.sums))
	case *keptBytes[int16]:
		got = int64(2*len(p.packed) + 4*len(p.sums))
	default:
		t.Fatal("nothing is packed")
	}
	if want := BytesKept(n, k); got != want {
		t.Fatalf("%d packed by %d: %d bytes are kept, want %d", n, k, got, want)
	}
}

// The largest sums of as many products as an int32 has room for, and of more in parts.
func TestByteSumsFit(t *testing.T) { eachWay(t, testByteSumsFit) }

func testByteSumsFit(t *testing.T) {
	const k, n = 2*ByteExact + 5, 3
	a, b := ByteSide{Mem: make([]byte, k), Zero: []int32{255}}, ByteSide{Mem: make([]byte, k*n), Signed: true, Zero: []int32{127}}
	for i := range b.Mem {
		b.Mem[i] = 128
	}
	got := make([]int64, n)
	parts := 0
	p := ByteProduct{Job: exec.Job{Name: "Test"}, Batch: 1, M: 1, N: n, K: k, A: a, B: b, Step: n, Exact: true,
		Row: func(int) int { return 0 }, First: func(int) int { return 0 },
		Emit: func(_, _, at int, sums []int32, last bool) {
			for j, v := range sums {
				got[at+j] += int64(v)
			}
			if parts++; last != (parts == 3) {
				t.Errorf("part %d is the last: %t", parts, last)
			}
		}}
	p.Run()
	if want := int64(255 * 255 * k); slices.Min(got) != want || slices.Max(got) != want {
		t.Errorf("got %v, want %d", got, want)
	}
	if ByteExact*255*255 > math.MaxInt32 {
		t.Error("an int32 has no room for so many products")
	}
}

func TestByteConvolution(t *testing.T) { eachWay(t, testByteConvolution) }

func testByteConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	parted, deep, kept := 0, 0, 0
	for i := range 600 {
		rank, group := 1+r.IntN(3), 1+r.IntN(3)
		n, cg, mg := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(40)
		if r.IntN(3) == 0 {
			cg, mg, group = 1, 1, 1+r.IntN(40)
		}
		if r.IntN(30) == 0 {
			rank, cg, group = 1+r.IntN(2), []int{64, 300, 600, 1024}[r.IntN(4)], 1
		}
		in, w := []int{n, cg * group}, []int{mg * group, cg}
		win := Window{}
		for range rank {
			kernel, dilation := 1+r.IntN(4), 1+r.IntN(2)
			if r.IntN(3) == 0 {
				kernel = 1
			}
			in, w = append(in, (kernel-1)*dilation+1+r.IntN(min(30/rank, 1+3000/cg/mg/rank))), append(w, kernel)
			win.Strides, win.Dilations = append(win.Strides, 1+r.IntN(3)), append(win.Dilations, dilation)
		}
		for range 2 * rank {
			win.Pads = append(win.Pads, r.IntN(3)*r.IntN(2))
		}
		if i%20 == 0 && w[2] > 1 && cg < 10 { // much padding between few outputs
			win.Dilations[0], win.Pads[0] = 6000000, 6000000*(w[2]-1)
		}
		xt, wt := tensor.New[uint8](in...).Any(), tensor.New[uint8](w...).Any()
		var g *Convolution
		if err := tensor.Try(func() { g = ConvOf("Test", &xt, &wt, nil, win, group) }); err != nil {
			continue
		}
		x, k := randomSide(r, xt.Len(), 1), randomSide(r, wt.Len(), mg*group)
		if want := slowConvolution(g, &x, &k, in[2:]); !g.BytesDirect() {
			got := make([]int32, n*g.M*g.Patch)
			ConvolveBytes(g, exec.Job{Name: "Test"}, x, false, k, true, ByteResult[int32]{Emit: func(image, channel, at int, sums []int32, last bool) {
				copy(got[(image*g.M+channel)*g.Patch+at:], sums)
			}})
			if parted++; !slices.Equal(got, want) {
				t.Fatalf("%v with %v, %d groups, %+v: got %v, want %v", in, w, group, win, got, want)
			}
		} else {
			bias := make([]int32, g.M)
			for c := range bias {
				bias[c] = int32(r.Uint32())
			}
			if g.deepBytes() {
				deep++
			}
			f := new(Filter)
			if r.IntN(2) == 0 {
				k.Filter = f
			}
			for range 2 {
				from, to := x, r.IntN(2) == 0
				last := r.IntN(2) == 0
				if last {
					from.Mem = make([]byte, len(x.Mem))
					for u := range x.Mem {
						image, c, at := u/g.Plane()/g.C, u/g.Plane()%g.C, u%g.Plane()
						from.Mem[(image*g.Plane()+at)*g.C+c] = x.Mem[u]
					}
				}
				got := make([]int32, n*g.M*g.Patch)
				ConvolveBytes(g, exec.Job{Name: "Test", Ctx: exec.WithThreads(t.Context(), 1+r.IntN(5))}, from, last, k, true, ByteResult[int32]{Dst: got, Last: to, Bias: bias, Row: func(dst, sums, plus []int32, channel int) {
					for i := range dst {
						dst[i] = sums[i] + plus[i] - bias[(channel+i)%g.M]
					}
				}})
				for u, want := range want {
					image, c, at := u/g.Patch/g.M, u/g.Patch%g.M, u%g.Patch
					place := u
					if to {
						place = (image*g.Patch+at)*g.M + c
					}
					if got[place] != want {
						t.Fatalf("%v with %v, %d groups, %+v, last %t and %t, kept %t: sum %d is %d, want %d", in, w, group, win, last, to, k.Filter != nil, u, got[place], want)
					}
				}
			}
			if k.Filter != nil {
				kept++
				if got, most := bytesOf(f.packed), g.BytesKept(f); got > most {
					t.Fatalf("%v with %v, %d groups: %d bytes are kept, more than %d", in, w, group, got, most)
				}
			}
		}
	}
	if parted < 20 || deep < 20 || kept < 20 {
		t.Errorf("%d convolutions by parts, %d depthwise ones, %d with weights kept; want more", parted, deep, kept)
	}
}

// bytesOf returns the bytes of packed weights.
func bytesOf(packed any) int64 {
	switch p := packed.(type) {
	case *byteWeights[uint8]:
		return int64(len(p.panels) + 4*(len(p.sums)+len(p.zeros)))
	case *byteWeights[int8]:
		return int64(len(p.panels) + 4*(len(p.sums)+len(p.zeros)))
	case *byteWeights[int16]:
		return int64(2*len(p.panels) + 4*(len(p.sums)+len(p.zeros)))
	}
	return 0
}

// slowConvolution looks up every element.
func slowConvolution(g *Convolution, x, w *ByteSide, in []int) (r []int32) {
	cg, mg, volume := g.C/g.Group, g.M/g.Group, g.K/(g.C/g.Group)
	o, k := make([]int, len(g.S)), make([]int, len(g.S))
	for image := range g.N {
		for m := range g.M {
			for out := range g.Patch {
				split(o, out, func(i int) int { return g.S[i].Out })
				var sum int64
				for c := range cg {
					for tap := range volume {
						split(k, tap, func(i int) int { return g.S[i].Kernel })
						at, inside := image*g.C+m/mg*cg+c, true
						for i := range g.S {
							p := g.S[i].At(o[i], k[i])
							inside = inside && p >= 0 && p < in[i]
							at = at*in[i] + p
						}
						if inside {
							sum += above(x, at, 0) * above(w, m*g.K+c*volume+tap, m)
						}
					}
				}
				r = append(r, int32(sum))
			}
		}
	}
	return r
}

func ExampleByteProduct() {
	p := ByteProduct{Batch: 1, M: 1, N: 2, K: 2, A: ByteSide{Mem: []byte{1, 2}}, B: ByteSide{Mem: []byte{3, 4, 5, 6}, Zero: []int32{1}}, Step: 2,
		Row: func(int) int { return 0 }, First: func(int) int { return 0 }, Emit: func(_, _, _ int, sums []int32, _ bool) { fmt.Println(sums) }}
	p.Run()
	// Output: [10 13]
}
