package contract

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
)

// byteLines are the channels of an image of bytes with their padding, so that the elements which a kernel position picks for
// neighbouring outputs are adjacent. An axis is kept once for each remainder of its stride that the kernel meets: the elements from it
// on, a stride apart. So an output has one place in each, and a kernel position one offset from there. Outputs between two lines,
// and between the lines of two planes, aren't there.
type byteLines struct {
	g      *Convolution
	phases [][]int // of each axis: the remainders
	ext    []int   // of each axis: elements of one remainder
	place  []int   // of each axis: from an output to the next one
	plane  int     // elements of all remainders of a channel
	taps   []int   // of each kernel position of each channel of a group
	places int     // from the first output to the last one, both counted
}

// mostPhases is how many remainders of a stride are kept. With more of them outputs are so far apart that little is shared.
const mostPhases = 64

// byteLinesOf plans them. It reports false where they would be much larger than the input and the result.
func byteLinesOf(g *Convolution) (b *byteLines, ok bool) {
	rank := len(g.S)
	b = &byteLines{g: g, phases: make([][]int, rank), ext: make([]int, rank), place: make([]int, rank), plane: 1, places: 1}
	most := 4*(g.Plane()+g.Patch) + 1<<12
	part := make([]int, rank) // of each axis: elements of all that is within it, of one remainder
	size := 1
	for i := rank - 1; i >= 0; i-- {
		s := &g.S[i]
		for k := range min(s.Kernel, most) {
			if p := k * s.Dilation % s.Stride; !slices.Contains(b.phases[i], p) {
				if b.phases[i] = append(b.phases[i], p); len(b.phases[i]) > mostPhases {
					return nil, false
				}
			}
		}
		b.place[i], b.ext[i] = size, s.Out+(s.Kernel-1)*s.Dilation/s.Stride
		part[i] = size
		if b.ext[i] > most/max(1, size) {
			return nil, false
		}
		size *= b.ext[i]
		b.places += (s.Out - 1) * b.place[i]
	}
	all := size
	for i := range b.phases {
		if all > most/len(b.phases[i]) {
			return nil, false
		}
		all *= len(b.phases[i])
	}
	b.plane = all
	b.taps = make([]int, g.K)
	volume := g.K / (g.C / g.Group)
	for k := range b.taps {
		at, which, step := 0, 0, 1
		rest := k % volume
		for i := rank - 1; i >= 0; i-- {
			s := &g.S[i]
			from := rest % s.Kernel * s.Dilation
			rest /= s.Kernel
			which += slices.Index(b.phases[i], from%s.Stride) * step
			step *= len(b.phases[i])
			at += from / s.Stride * part[i]
		}
		b.taps[k] = k/volume*b.plane + which*size + at
	}
	return b, true
}

// fill makes the lines of a channel of an image.
func (b *byteLines) fill(dst, src []byte, pad byte) {
	which, at := make([]int, len(b.ext)), make([]int, len(b.ext))
	for more := true; more; more = counted(which, func(i int) int { return len(b.phases[i]) }, len(which)) {
		clear(at)
		for more := true; more; more = counted(at, func(i int) int { return b.ext[i] }, len(at)-1) {
			line, within := 0, true
			last := len(at) - 1
			for i := range last {
				s := &b.g.S[i]
				x := at[i]*s.Stride + b.phases[i][which[i]] - s.Begin
				within = within && x >= 0 && x < s.In
				line = line*s.In + x
			}
			s, n := &b.g.S[last], b.ext[last]
			if within {
				paddedLine(dst[:n], src[line*s.In:(line+1)*s.In], b.phases[last][which[last]]-s.Begin, s.Stride, pad)
			} else {
				fillBytes(dst[:n], pad)
			}
			dst = dst[n:]
		}
	}
}

// counted moves the first axes of a counter on, the last of them fastest, and reports false once it is through.
func counted(at []int, ext func(i int) int, axes int) bool {
	for i := axes - 1; i >= 0; i-- {
		if at[i]++; at[i] < ext(i) {
			return true
		}
		at[i] = 0
	}
	return false
}

func fillBytes(dst []byte, v byte) {
	for i := range dst {
		dst[i] = v
	}
}

// paddedLine sets dst[i] to src[from + i·step], or to pad outside of src.
func paddedLine(dst, src []byte, from, step int, pad byte) {
	before := 0
	if from < 0 {
		before = min(len(dst), (-from+step-1)/step)
	}
	inside := 0
	if at := from + before*step; at < len(src) {
		inside = min(len(dst)-before, (len(src)-at+step-1)/step)
	}
	fillBytes(dst[:before], pad)
	fillBytes(dst[before+inside:], pad)
	if inside == 0 {
		return
	}
	src = src[from+before*step:]
	if step == 1 {
		copy(dst[before:before+inside], src)
		return
	}
	for i := range dst[before : before+inside] {
		dst[before+i] = src[i*step]
	}
}

// Bytes computes a convolution of bytes: of x and w, whose zero points are one and one or one for each output channel. emit takes sums of an output channel
// of an image, from output at on; see ByteProduct. It may change sums.
func (g *Convolution) Bytes(j exec.Job, x, w ByteSide, exact bool, emit func(image, channel, at int, sums []int32, last bool)) {
	mg := g.M / g.Group
	if g.N == 0 || g.M == 0 || g.Patch == 0 {
		return
	}
	image := g.C * g.Plane()
	if g.K == 0 || g.pointwise() {
		g.pointwiseBytes(j, x, w, exact, emit)
		return
	}
	pad := byte(x.zero(0)) ^ x.flip()
	p := ByteProduct{Job: j, M: mg, K: g.K, A: w, Exact: exact}
	lines, ok := g.kept.(*byteLines)
	if !ok {
		if lines, ok = byteLinesOf(g); ok {
			g.kept = lines
		}
	}
	if !ok {
		g.bytesByParts(p, x, pad, emit)
		return
	}
	room := PanelsOf(g.C*lines.plane + 64)
	defer PanelPool.Put(room)
	mem := room.Bytes()
	b := conv.Carve[byte](&mem, g.C*lines.plane)
	p.Batch, p.N, p.Taps = g.Group, lines.places, lines.taps
	p.B = ByteSide{Mem: b, Signed: x.Signed, Zero: x.Zero}
	p.Row = func(group int) int { return group * mg }
	p.First = func(group int) int { return group * (g.C / g.Group) * lines.plane }
	for n := range g.N {
		exec.Split(j.Name, j.Ctx, g.C, lines.plane/2, func(from, to int) {
			for c := from; c < to; c++ {
				lines.fill(b[c*lines.plane:(c+1)*lines.plane], x.Mem[n*image+c*g.Plane():][:g.Plane()], pad)
			}
		})
		p.Emit = func(group, i, at int, sums []int32, last bool) {
			first, sums := lines.outputs(at, sums)
			if len(sums) > 0 {
				emit(n, group*mg+i, first, sums, last)
			}
		}
		p.Run()
	}
	runtime.KeepAlive(room)
}

// BytesKept returns how many bytes the weights of a convolution of bytes take that f keeps: 0 without it.
func (g *Convolution) BytesKept(f *Filter) int64 {
	if f == nil {
		return 0
	}
	return BytesKept(g.M, g.K, false)
}

// outputs moves the sums that are outputs together, from place at on, and returns the first one's output and them.
func (b *byteLines) outputs(at int, sums []int32) (first int, some []int32) {
	last := len(b.ext) - 1
	out, n := b.g.S[last].Out, b.ext[last]
	first = -1
	kept := 0
	for i := 0; i < len(sums); {
		line, x := (at+i)/n, (at+i)%n
		run := min(n-x, len(sums)-i)
		if is := min(out-x, run); is > 0 {
			index, rest, ok, step := 0, line, true, 1
			for a := last - 1; a >= 0; a-- {
				c := rest % b.ext[a]
				rest /= b.ext[a]
				ok = ok && c < b.g.S[a].Out
				index += c * step
				step *= b.g.S[a].Out
			}
			if ok {
				if first < 0 {
					first = index*out + x
				}
				kept += copy(sums[kept:], sums[i:i+is])
			}
		}
		i += run
	}
	return first, sums[:kept]
}

// pointwiseBytes takes the channels as they are.
func (g *Convolution) pointwiseBytes(j exec.Job, x, w ByteSide, exact bool, emit func(image, channel, at int, sums []int32, last bool)) {
	mg := g.M / g.Group
	p := ByteProduct{Job: j, Batch: g.N * g.Group, M: mg, N: g.Patch, K: g.K, A: w, B: x, Step: g.Patch, Exact: exact}
	p.Row = func(entry int) int { return entry % g.Group * mg }
	p.First = func(entry int) int { return entry * (g.C / g.Group) * g.Patch }
	p.Emit = func(entry, i, at int, sums []int32, last bool) {
		emit(entry/g.Group, entry%g.Group*mg+i, at, sums, last)
	}
	p.Run()
}

// bytesByParts makes the patches of some outputs at a time.
func (g *Convolution) bytesByParts(p ByteProduct, x ByteSide, pad byte, emit func(image, channel, at int, sums []int32, last bool)) {
	rank, plane := len(g.S), g.Plane()
	volume := g.K / (g.C / g.Group)
	rows := g.C * volume
	most := min(g.Patch, max(8, (1<<20)/rows)) // bytes as many as in the int64s of the weights, or 1 MiB
	b := make([]byte, most*rows)
	p.Batch, p.Step = g.Group, most
	p.B = ByteSide{Mem: b, Signed: x.Signed, Zero: x.Zero}
	p.Row = func(group int) int { return group * p.M }
	p.First = func(group int) int { return group * g.K * most }
	oc, kc := make([]int, rank), make([]int, rank)
	for n := range g.N {
		for first := 0; first < g.Patch; first += most {
			p.N = min(most, g.Patch-first)
			for k := range rows {
				exec.Look(p.Name, p.Ctx)
				src := x.Mem[(n*g.C+k/volume)*plane:][:plane]
				split(kc, k%volume, func(i int) int { return g.S[i].Kernel })
				row := b[k*most:][:p.N]
				for len(row) > 0 {
					split(oc, first+p.N-len(row), func(i int) int { return g.S[i].Out })
					line, within := 0, true
					for i := range rank - 1 {
						at := g.S[i].At(oc[i], kc[i])
						within = within && at >= 0 && at < g.S[i].In
						line = line*g.S[i].In + at
					}
					s := &g.S[rank-1]
					m := min(len(row), s.Out-oc[rank-1])
					if within {
						paddedLine(row[:m], src[line*s.In:(line+1)*s.In], s.At(oc[rank-1], kc[rank-1]), s.Stride, pad)
					} else {
						fillBytes(row[:m], pad)
					}
					row = row[m:]
				}
			}
			p.Emit = func(group, i, at int, sums []int32, last bool) { emit(n, group*p.M+i, first+at, sums, last) }
			p.Run()
		}
	}
}

// split writes a number as coordinates, the last of which is the fastest.
func split(at []int, n int, ext func(i int) int) {
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = n % ext(i)
		n /= ext(i)
	}
}
