package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// STFT returns the short-time Fourier transform of signals [batch, length], [batch, length, 1]
// or, of complex numbers, [batch, length, 2]: the transforms of frames that begin step elements
// apart, each multiplied by a window. The result has the shape [batch, frames, bins, 2]. The
// frames are as long as the window. Without one (the zero Tensor) they have o.Frame elements. If
// that is 0, too, there is one frame. A frame that reaches past the end
// is left out. Bins are half the frame's length and one, or with o.TwoSided the frame's length. A complex signal needs o.TwoSided.
//
// The products are rounded to float64, the transforms are as in DFT. It panics when shapes
// don't fit, for a step below 1, a frame longer than the signal or of no elements, and a
// frame that isn't as long as the window. ONNX STFT.
func STFT[T num.Floating](signal, window tensor.Tensor[T], step int, o STFTOptions, opts ...Option) (r tensor.Tensor[T]) {
	framesOf(signal.Any(), window.Any(), step, o).Into(exec.Ref(&r), opts)
	return r
}

// STFTOptions says which frames STFT takes and which part of a spectrum it returns.
type STFTOptions struct {
	Frame    int  // the length of a frame; 0 is that of the window
	TwoSided bool // the whole spectrum: 0 of ONNX's attribute onesided
}

func framesOf(signal, window tensor.Any, step int, o STFTOptions) *move.Transfer {
	const name = "STFT"
	frame, onesided := o.Frame, !o.TwoSided
	plan.Present(name, &signal)
	rank, parts := signal.Rank(), 1
	if rank == 3 {
		parts = signal.Dim(2)
	}
	if rank < 2 || rank > 3 || parts != 1 && parts != 2 {
		panic(plan.Fail(name, tensor.ErrShape, "the signal is %s; want [batch, length], [batch, length, 1], or [batch, length, 2] of complex numbers", tensor.Describe(signal)))
	}
	if onesided && parts == 2 {
		panic(plan.Fail(name, tensor.ErrShape, "half of the spectrum of complex numbers doesn't give the other half; set TwoSided, or the attribute onesided to 0"))
	}
	plan.OneType(name, signal, window)
	batch, length := signal.Dim(0), signal.Dim(1)
	if !window.IsZero() {
		if window.Rank() != 1 || frame != 0 && window.Dim(0) != frame {
			panic(plan.Fail(name, tensor.ErrShape, "the window is %s and the frame %d elements; want a vector, as long as the frame", tensor.Describe(window), frame))
		}
		frame = window.Dim(0)
	} else if frame == 0 {
		frame = length
	}
	if frame < 1 || frame > length {
		panic(plan.Fail(name, tensor.ErrShape, "a frame of %d elements of a signal of %d; want 1 to as many as it has", frame, length))
	}
	if step < 1 {
		panic(plan.Fail(name, tensor.ErrValue, "frames are %d elements apart; want 1 or more", step))
	}
	frames, bins := (length-frame)/step+1, frame
	if onesided {
		bins = frame/2 + 1
	}
	scratch, each := fourierScratch(frame, batch*frames)
	return &move.Transfer{Name: name, D: signal.DType(), Shape: []int{batch, frames, bins, 2}, In: move.OperandsOf(signal, window), Price: plan.Taking(scratch, each), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		f := newFourier(name, frame)
		src, by, to := move.NumericOf(in[0]), move.NumericOf(in[1]), move.NumericOf(dst)
		exec.Split(name, ctx, batch*frames, f.cost(), func(from, till int) {
			t := f.room(name)
			for i := from; i < till; i++ {
				first := i/frames*length + i%frames*step
				for k := range t.in {
					at, w := (first+k)*parts, 1.0
					if !by.Absent() {
						w = by.Float(k)
					}
					v := complex(float64(src.Float(at)*w), 0)
					if parts == 2 {
						v = complex(real(v), float64(src.Float(at+1)*w))
					}
					t.in[k] = v
				}
				t.transform()
				for k, v := range t.out[:bins] {
					to.SetFloat(2*(i*bins+k), real(v))
					to.SetFloat(2*(i*bins+k)+1, imag(v))
				}
			}
		})
	}}
}

var stft = plan.Operator{About: plan.About{Name: "STFT", Versions: []int{17}, Attrs: []string{"onesided"}, Why: "of floats alone: Cast first"}, Least: 2, Most: 4, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		const name = "STFT"
		frame := 0
		if !c.In(3).IsZero() {
			if frame = numberOr(name, c, 3, 0); frame < 1 {
				panic(plan.Fail(name, tensor.ErrValue, "frame_length is %d; want 1 or more", frame))
			}
		}
		return framesOf(c.In(0), c.In(2), numberOr(name, c, 1, 0), STFTOptions{Frame: frame, TwoSided: c.Attrs.Int("onesided", 1) == 0})
	}}
