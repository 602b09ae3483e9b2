package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
)

// A lastPool finds the largest of elements that lie channels last: first along all axes but the last, of whole lines, and then along that.
type lastPool[W num.Elem] struct {
	*pooling
	x, dst   []W
	larger   func(dst, a, b []W)
	low      W
	canon    func(row []W)
	along    *contract.Span // the last axis
	from, to int            // from one of its elements to the next, in x and in dst
	strip    int            // results of a line at a time
	wide     int            // channels at a time
}

// poolLast computes a pool of elements that lie channels last. It reports false for kernels that are too long; then nothing is done.
func poolLast[W num.Elem](p *pooling, x, dst []W, larger func(dst, a, b []W), low W, canon func(row []W)) bool {
	rank := len(p.s)
	l := lastPool[W]{pooling: p, x: x, dst: dst, larger: larger, low: low, canon: canon, along: &p.s[rank-1], from: p.steps[0][1+rank], to: p.steps[1][1+rank], wide: min(p.shape[1], besidePlanes)}
	reach := (l.along.Kernel-1)*l.along.Dilation + 1
	if l.along.In == 1 {
		l.from = l.wide
	}
	if l.strip = (3*poolStrip/l.wide-reach)/l.along.Stride + 1; reach > 3*poolStrip/l.wide {
		return false
	}
	l.strip = min(l.strip, l.along.Out)
	lines, rows := p.shape[0], 1
	for i := range p.s[:rank-1] {
		lines *= p.s[i].Out
		rows *= min(p.s[i].Kernel, p.s[i].In)
	}
	exec.Split(p.Name, p.Ctx, lines, p.shape[1]*(rows*l.along.In+l.along.Kernel*l.along.Out)/3, func(from, to int) {
		panel := contract.PanelsOf(3*poolStrip*8 + 256)
		defer contract.PanelPool.Put(panel)
		rest := panel.Bytes()
		best := conv.Carve[W](&rest, 3*poolStrip)
		at := make([]int, 4*rank)
		for i := from; i < to; i++ {
			l.line(i, best, at)
		}
		runtime.KeepAlive(panel)
	})
	return true
}

// line computes one line of results.
func (l *lastPool[W]) line(i int, best []W, at []int) {
	n := len(l.s) - 1
	oc, kc, lo, hi := at[:n], at[n:2*n], at[2*n:3*n], at[3*n:4*n]
	in, out := &l.steps[0], &l.steps[1]
	empty, to := false, 0
	for k := n - 1; k >= 0; k-- {
		oc[k], i = i%l.s[k].Out, i/l.s[k].Out
		lo[k], hi[k], _ = l.s[k].Reach(oc[k])
		empty, to = empty || lo[k] == hi[k], to+oc[k]*out[2+k]
	}
	src, dst := l.x[i*in[0]:], l.dst[i*out[0]+to:]
	for o := 0; o < l.along.Out; o += l.strip {
		end := min(o+l.strip, l.along.Out)
		first := max(0, l.along.At(o, 0))
		pixels := min(l.along.In, l.along.At(end-1, l.along.Kernel-1)+1) - first
		for c := 0; c < l.shape[1]; c += l.wide {
			wide := min(l.wide, l.shape[1]-c)
			if pixels > 0 && !empty {
				copy(kc, lo)
				seen := 0
				for more := true; more; more = advance(kc, lo, hi) {
					from := first*l.from + c
					for k := range n {
						from += l.s[k].At(oc[k], kc[k]) * in[2+k]
					}
					l.down(best, src[from:], pixels, wide, seen)
					seen++
				}
			}
			l.across(dst[c:], best, o, end, first, wide, empty)
		}
	}
}

// down makes best the larger of its elements and those of src. The first time it copies them.
func (l *lastPool[W]) down(best, src []W, pixels, wide, seen int) {
	step, n := l.from, wide
	if step == wide {
		n, pixels = wide*pixels, 1
	}
	for i := range pixels {
		row, next := best[i*n:][:n], src[i*step:]
		if next = next[:n]; seen == 0 {
			copy(row, next)
		} else {
			l.larger(row, row, next)
		}
	}
}

// across sets results [o, end) of a line to the largest of best along the last axis. The elements of best begin at first.
func (l *lastPool[W]) across(dst, best []W, o, end, first, wide int, empty bool) {
	for o < end {
		lo, hi, _ := l.along.Reach(o)
		n := 1 // results whose elements follow each other, and lie all inside
		if l.along.Stride == 1 && l.to == wide && hi-lo == l.along.Kernel {
			n = max(1, min(end-o, l.along.In-l.along.At(o, hi-1)))
		}
		row := dst[o*l.to:][:n*wide]
		if empty || lo == hi {
			fill(row, l.low)
		} else {
			one := best[(l.along.At(o, lo)-first)*wide:][:len(row)]
			for k := lo + 1; k < hi; k++ {
				l.larger(row, one, best[(l.along.At(o, k)-first)*wide:][:len(row)])
				one = row
			}
			if hi == lo+1 {
				copy(row, one)
			}
		}
		if l.canon != nil {
			l.canon(row)
		}
		o += n
	}
}
