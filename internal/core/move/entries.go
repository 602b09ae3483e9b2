package move

import (
	"context"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// TakeEntries copies entries of in[0], of the given shape, along axis to dst: entry at[i] becomes entry i. in[1] is the tensor
// of the indices. It panics before a write where an index is outside.
func TakeEntries(name string, ctx context.Context, dst Words, in []Words, shape []int, axis int, at []int64) {
	before, n, after := Around(shape, axis)
	size := dst.Size
	if dst.Fresh && before == 1 && after == 1 {
		var bad atomic.Bool
		exec.Split(name, ctx, len(at), 1, func(from, to int) {
			if conv.TakeWithin(dst.Mem[from*size:], in[0].Mem, size, at[from:to], conv.Axis{N: n, Stride: 1}) >= 0 {
				bad.Store(true)
			}
		})
		if !bad.Load() {
			return
		}
	}
	CheckPlaces(name, at, in[1].Of.Shape(), n, axis)
	if dst.Len() == 0 {
		return // any number of entries without elements
	}
	if after == 1 {
		exec.Split(name, ctx, before*len(at), 1, func(from, to int) {
			for from < to {
				b, i := from/len(at), from%len(at)
				m := min(len(at)-i, to-from)
				conv.Take(dst.Mem[from*size:], in[0].Mem, size, at[i:i+m], conv.Axis{First: b * n, N: n, Stride: 1})
				from += m
			}
		})
		return
	}
	entries := make([]int, plan.Fits(name, len(at), 8))
	for i, v := range at {
		entries[i] = int(v + int64(n)&(v>>63))
	}
	exec.Split(name, ctx, before*len(at), 1+after/4, func(from, to int) {
		for from < to {
			b, i := from/len(at), from%len(at)
			m := min(len(at)-i, to-from)
			conv.Pick(dst.Mem[from*after*size:], in[0].Mem[b*n*after*size:], after*size, after*size, entries[i:i+m], dst.Stream)
			from += m
		}
	})
}

// CheckPlaces panics where one of the indices at, of the given shape, is outside an axis of extent n.
func CheckPlaces(name string, at []int64, shape []int, n, axis int) {
	if i := conv.Outside(at, n); i >= 0 {
		panic(plan.Fail(name, tensor.ErrIndex, "index %d at %s is outside axis %d of extent %d", at[i], plan.ShapeText(plan.Unravel(i, shape)), axis, n))
	}
}
