package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
)

// largeFactor is the largest prime factor that a transform takes for itself.
const largeFactor = 31

// A fourier is how signals of one length are transformed, in a fixed order of steps.
type fourier struct {
	n       int
	factors []int        // of n, or of the length of the convolution
	roots   []complex128 // exp(−2πi·k/m) for the m numbers that the factors make
	chirp   []complex128 // exp(−πi·k²/n), if n has a large prime factor: then it is a convolution
	filter  []complex128 // the transform of the chirp's conjugate, mirrored, divided by its length
}

// fouriers is a transform at work: in is transformed into out.
type fouriers struct {
	*fourier
	in, out      []complex128
	wide, spread []complex128 // of a convolution
	few          [largeFactor]complex128
}

// newFourier prepares transforms of n > 0 numbers.
func newFourier(name string, n int) *fourier {
	f := &fourier{n: n}
	if f.factors = smallFactors(n); f.factors != nil || n == 1 {
		f.roots = rootsOf(name, n)
		return f
	}
	chirps := rootsOf(name, plan.Extent(name, 0, 2, n))
	f.chirp = plan.RoomFor[complex128](name, n)
	square := 0 // of k, modulo 2n
	for k := range f.chirp {
		f.chirp[k] = chirps[square]
		if square += 2*k + 1; square >= 2*n {
			square -= 2 * n
		}
	}
	m := 1
	for m < 2*n-1 {
		m = plan.Extent(name, 0, m, 2)
	}
	f.factors, f.roots = smallFactors(m), rootsOf(name, m)
	kernel := plan.RoomFor[complex128](name, m)
	f.filter = plan.RoomFor[complex128](name, m)
	for k, v := range f.chirp {
		v = complex(real(v)/float64(m), -imag(v)/float64(m)) // m is a power of two
		kernel[k] = v
		kernel[(m-k)%m] = v
	}
	t := fouriers{fourier: f}
	t.mix(f.filter, kernel, 1, f.factors)
	return f
}

// fourierScratch returns how many bytes newFourier takes for n numbers, and each thread for its transforms of several lines.
func fourierScratch(n, lines int) (all, each float64) {
	number := float64(16 * float64(n))
	all, each = number, float64(2*number)
	if smallFactors(n) == nil && n > 1 {
		m := 1.0 // of the convolution
		for m < 2*float64(n)-1 {
			m *= 2
		}
		all, each = float64(3*number)+float64(48*m), each+float64(32*m)
	}
	if lines < 2 {
		return all + each, 0
	}
	return all, each
}

// smallFactors returns the factors of n, largest steps first, or nil when one is too large.
func smallFactors(n int) (f []int) {
	for _, p := range [...]int{4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31} {
		for n%p == 0 {
			f = append(f, p)
			n /= p
		}
	}
	if n != 1 {
		return nil
	}
	return f
}

// rootsOf returns exp(−2πi·k/n) for k below n. The angle is brought below π/4 in whole
// numbers, so each part has an error of about a unit in the last place.
func rootsOf(name string, n int) []complex128 {
	w := plan.RoomFor[complex128](name, n)
	for k := 0; k <= n/2; k++ {
		a := 2 * k // the angle is π·a/n
		left := 2*a > n
		if left {
			a = n - a
		}
		var c, s float64
		if 4*a > n {
			rest := math.Pi * (float64(n-2*a) / float64(2*n)) // to a right angle
			c, s = float.Sin64(rest), float.Cos64(rest)
		} else {
			rest := math.Pi * (float64(a) / float64(n))
			c, s = float.Cos64(rest), float.Sin64(rest)
		}
		if left {
			c = -c
		}
		w[k] = complex(c, -s)
		if k > 0 {
			w[n-k] = complex(c, s)
		}
	}
	if n%2 == 0 {
		w[n/2] = -1
	}
	return w
}

// cost is about how many additions a transform takes.
func (f *fourier) cost() int {
	steps := 20
	for _, p := range f.factors {
		steps += 4 * p
	}
	if f.chirp != nil {
		steps *= 8
	}
	return min(f.n, 1<<24) * steps
}

// room returns room for a transform.
func (f *fourier) room(name string) *fouriers {
	t := &fouriers{fourier: f, in: plan.RoomFor[complex128](name, f.n), out: plan.RoomFor[complex128](name, f.n)}
	if f.chirp != nil {
		t.wide, t.spread = plan.RoomFor[complex128](name, len(f.filter)), plan.RoomFor[complex128](name, len(f.filter))
	}
	return t
}

// transform sets out to the transform of in.
func (t *fouriers) transform() {
	if t.chirp == nil {
		t.mix(t.out, t.in, 1, t.factors)
		return
	}
	clear(t.wide)
	for k, c := range t.chirp {
		t.wide[k] = times(t.in[k], c)
	}
	t.mix(t.spread, t.wide, 1, t.factors)
	for k, c := range t.filter {
		t.spread[k] = times(t.spread[k], c)
	}
	exchange(t.spread)
	t.mix(t.wide, t.spread, 1, t.factors)
	exchange(t.wide[:t.n])
	for k, c := range t.chirp {
		t.out[k] = times(t.wide[k], c)
	}
}

// times is a product with every step rounded; Go's own may be fused.
func times(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// mix sets dst to the transform of every step-th number of src: of p parts of it first, each of
// every p-th number, and then of those (Cooley and Tukey, 1965).
func (t *fouriers) mix(dst, src []complex128, step int, factors []int) {
	if len(factors) == 0 {
		dst[0] = src[0]
		return
	}
	p, m, w := factors[0], len(dst)/factors[0], t.roots
	for q := range p {
		t.mix(dst[q*m:(q+1)*m], src[q*step:], step*p, factors[1:])
	}
	switch p {
	case 2:
		for k := range m {
			a, b := dst[k], times(dst[m+k], w[k*step])
			dst[k], dst[m+k] = a+b, a-b
		}
	case 4:
		for k := range m {
			a, b, c, d := dst[k], times(dst[m+k], w[k*step]), times(dst[2*m+k], w[2*k*step]), times(dst[3*m+k], w[3*k*step])
			a, c = a+c, a-c
			b, d = b+d, b-d
			d = complex(imag(d), -real(d)) // −i·d
			dst[k], dst[m+k], dst[2*m+k], dst[3*m+k] = a+b, c+d, a-b, c-d
		}
	default:
		x, apart := t.few[:p], len(w)/p
		for k := range m {
			for q := range x {
				x[q] = times(dst[q*m+k], w[q*k*step])
			}
			for s := range p {
				sum := x[0]
				for q := 1; q < p; q++ {
					sum += times(x[q], w[q*s%p*apart])
				}
				dst[s*m+k] = sum
			}
		}
	}
}
