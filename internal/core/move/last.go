package move

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/tensor"
)

// lastly is write for an operand and a target that lie channels last.
func (m *Transfer) lastly(to *tensor.Any, s *plan.Settings) {
	plan.CheckTarget(m.Name, to, m.Shape)
	valued(m.Name, 0, m.In[0])
	if m.Maps != nil && m.Maps[1].At == nil {
		remapLast(m.Name, s.Ctx(), to, &m.In[0], m.Maps, m.Outside())
		return
	}
	rank := len(m.Shape)
	if m.aside == nil {
		m.aside = m.Last(plan.Last(m.In[0], rank))
	}
	target := plan.Last(*to, rank)
	var r tensor.Any
	m.aside.write(&r, append(s.Quiet(), plan.WriteTo(&target)))
}

// remapLast is Remap for tensors that lie channels last, if the channels stay: each place has all of them.
func remapLast(name string, ctx context.Context, dst, src *tensor.Any, maps []Mapping, pad []byte) {
	size, rank, channels := dst.DType().Size(), dst.Rank(), dst.Dim(1)
	lists := make([][]int64, rank)
	in, out := make([]int, rank), make([]int, rank)
	lines := 1
	for i := range maps {
		if maps[i].At != nil {
			lists[i] = maps[i].list(name)
		}
		in[i], _ = walk.Ref(src.LayoutRef()).Stride(i)
		out[i], _ = walk.Ref(dst.LayoutRef()).Stride(i)
		if i != 1 && i < rank-1 {
			lines *= dst.Dim(i)
		}
	}
	from, f0 := src.Memory()
	to, t0 := dst.Memory()
	width, n := dst.Dim(rank-1), channels*size
	exec.Split(name, ctx, lines, width*(channels+16)/4, func(first, end int) {
		for l := first; l < end; l++ {
			at, place, rest := f0, t0, l
			outside := false
			for i := rank - 2; i >= 0; i-- {
				if i == 1 {
					continue
				}
				k := rest % dst.Dim(i)
				rest /= dst.Dim(i)
				if place += k * out[i]; lists[i] != nil {
					k = int(lists[i][k])
				}
				outside = outside || k < 0
				at += k * in[i]
			}
			for x := range width {
				row, k := to[(place+x*out[rank-1])*size:][:n], x
				if lists[rank-1] != nil {
					k = int(lists[rank-1][x])
				}
				if outside || k < 0 {
					Words{Mem: row, Size: size}.Fill(0, channels, pad)
				} else {
					copy(row, from[(at+k*in[rank-1])*size:])
				}
			}
		}
	})
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
}
