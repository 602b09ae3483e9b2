package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// STFT returns the short-time Fourier transform of signals [batch, length], [batch, length, 1]
// or, of complex numbers, [batch, length, 2]: the transforms of frames that begin step elements
// apart, each multiplied by a window. The result has the shape [batch, frames, bins, 2]. The
// frames are as long as the window; if it is the zero Tensor they have frame elements and there
// is no window, and if frame is 0, too, there is one frame. A frame that reaches past the end
// is left out. With onesided, for real signals alone, bins are half the frame's length and
// one, else the frame's length.
//
// The products are rounded to float64, the transforms are those of DFT. It panics when shapes
// don't fit, for a step below 1, a frame longer than the signal or of no elements, and a
// frame that isn't as long as the window. ONNX STFT.
func STFT[T num.Float | num.Narrow](signal tensor.Tensor[T], step int, window tensor.Tensor[T], frame int, onesided bool, opts ...Option) (r tensor.Tensor[T]) {
	framesOf(signal.Any(), step, window.Any(), frame, onesided).into(exec.Ref(&r), opts)
	return r
}

func framesOf(signal tensor.Any, step int, window tensor.Any, frame int, onesided bool) *transfer {
	const name = "STFT"
	present(name, &signal)
	rank, parts := signal.Rank(), 1
	if rank == 3 {
		parts = signal.Dim(2)
	}
	if rank < 2 || rank > 3 || parts != 1 && parts != 2 {
		panic(fail(name, tensor.ErrShape, "the signal is %s; want [batch, length], [batch, length, 1], or [batch, length, 2] of complex numbers", tensor.Describe(signal)))
	}
	if onesided && parts == 2 {
		panic(fail(name, tensor.ErrShape, "onesided transforms of complex numbers; half of their spectrum doesn't give the other half"))
	}
	oneType(name, signal, window)
	batch, length := signal.Dim(0), signal.Dim(1)
	if !window.IsZero() {
		if window.Rank() != 1 || frame != 0 && window.Dim(0) != frame {
			panic(fail(name, tensor.ErrShape, "the window is %s and the frame %d elements; want a vector, as long as the frame", tensor.Describe(window), frame))
		}
		frame = window.Dim(0)
	} else if frame == 0 {
		frame = length
	}
	if frame < 1 || frame > length {
		panic(fail(name, tensor.ErrShape, "a frame of %d elements of a signal of %d; want 1 to as many as it has", frame, length))
	}
	if step < 1 {
		panic(fail(name, tensor.ErrValue, "frames are %d elements apart; want 1 or more", step))
	}
	frames, bins := (length-frame)/step+1, frame
	if onesided {
		bins = frame/2 + 1
	}
	scratch, each := fourierScratch(frame, batch*frames)
	return &transfer{name: name, d: signal.DType(), shape: []int{batch, frames, bins, 2}, in: operandsOf(signal, window), scratch: scratch, each: each, fill: func(ctx context.Context, dst words, in []words) {
		f := newFourier(name, frame)
		src, by, to := numericOf(in[0]), numericOf(in[1]), numericOf(dst)
		exec.Split(name, ctx, batch*frames, f.cost(), func(from, till int) {
			t := f.scratch(name)
			for i := from; i < till; i++ {
				first := i/frames*length + i%frames*step
				for k := range t.in {
					at, w := (first+k)*parts, 1.0
					if !by.absent() {
						w = by.float(k)
					}
					v := complex(float64(src.float(at)*w), 0)
					if parts == 2 {
						v = complex(real(v), float64(src.float(at+1)*w))
					}
					t.in[k] = v
				}
				t.transform()
				for k, v := range t.out[:bins] {
					to.setFloat(2*(i*bins+k), real(v))
					to.setFloat(2*(i*bins+k)+1, imag(v))
				}
			}
		})
	}}
}

var stft = opN{about: about{name: "STFT", onnx: []int{17}, attrs: []string{"onesided"}, why: "of floats alone: Cast first"}, least: 2, most: 4, takes: floats,
	move: func(c *Call) *transfer {
		const name = "STFT"
		frame := 0
		if !c.in(3).IsZero() {
			if frame = numberOr(name, c, 3, 0); frame < 1 {
				panic(fail(name, tensor.ErrValue, "frame_length is %d; want 1 or more", frame))
			}
		}
		return framesOf(c.in(0), numberOr(name, c, 1, 0), c.in(2), frame, c.Attrs.Int("onesided", 1) != 0)
	}}
