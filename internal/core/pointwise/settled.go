package pointwise

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
)

// settled computes a function in float32 so that rounding the result again, to a
// narrow float, gives the same as rounding the true value. That could go wrong only
// where the float32 lies exactly between two narrow floats, so that its low 12 bits
// are 0, while the true value doesn't. float64 says on which side the true value is,
// and the result moves there by one unit.
type settled Operator

// doubts holds the elements that a row of settled looks at again.
type doubts struct {
	x    [256]float32
	a, y [1]float64
}

var doubtsPool = sync.Pool{New: func() any { return new(doubts) }}

func (o *settled) Row(to exec.Run, _ dtype.DType, in [3]exec.Run, _ dtype.DType) {
	dst, a := exec.Of[float32](to), exec.Of[float32](in[0])
	row := exec.As[func(dst, a []float32)]((*Operator)(o).Row(dtype.Float32))
	exact := exec.As[func(dst, a []float64)](o.Rows.Plain(dtype.Float64))
	d := doubtsPool.Get().(*doubts)
	for len(dst) > 0 {
		n := copy(d.x[:], a[:len(dst)]) // dst may be a
		row(dst[:n], a[:n])
		for i, y := range dst[:n] {
			if b := math.Float32bits(y); b&0xfff != 0 || b&^(1<<31) == 0 || b&0x7f800000 == 0x7f800000 {
				continue
			}
			d.a[0] = float64(d.x[i])
			exact(d.y[:], d.a[:])
			switch side := d.y[0] - float64(y); {
			case side != 0:
				dst[i] = math.Nextafter32(y, float32(math.Copysign(math.Inf(1), side)))
			case y == d.x[i]/2 && math.Abs(d.a[0]) < 0x1p-60: // a Gelu: x/2 + 0.4x², which float64 can't tell from x/2
				dst[i] = math.Nextafter32(y, float32(math.Inf(1)))
			}
		}
		dst, a = dst[n:], a[n:]
	}
	doubtsPool.Put(d)
}
