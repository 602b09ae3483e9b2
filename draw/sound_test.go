package draw_test

import (
	"bytes"
	"errors"
	"image/png"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleSound() {
	s := draw.Sound{Title: "a step", Rate: 2, Channels: [][]float32{{0, 0.5}}}
	if err := s.WriteSVG(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// <svg xmlns="http://www.w3.org/2000/svg" width="842" height="194" viewBox="0 0 842 194" role="img">
	// <title>a step</title>
	// <rect x=".5" y=".5" width="841" height="193" rx="8" fill="#ffffff" stroke="#d0d7de"/>
	// <path fill="#f3f4f6" d="M16 44h800v110h-800z"/>
	// <path fill="#424a53" d="M16 99h400v1h-400zM416 71h400v1h-400zM16 158h1v4h-1zM176 158h1v4h-1zM336 158h1v4h-1zM496 158h1v4h-1zM656 158h1v4h-1zM815 158h1v4h-1z"/>
	// <g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace">
	// <g font-size="13" font-weight="600" text-anchor="start" fill="#1f2328">
	// <text x="16" y="29">a step</text>
	// </g>
	// <g font-size="11" text-anchor="middle" fill="#424a53">
	// <text x="16" y="174">0 s</text>
	// <text x="176" y="174">0.2 s</text>
	// <text x="336" y="174">0.4 s</text>
	// <text x="496" y="174">0.6 s</text>
	// <text x="656" y="174">0.8 s</text>
	// <text x="816" y="174">1 s</text>
	// </g>
	// </g>
	// </svg>
}

// A loud column of a wave and a loud band are where they belong.
func TestSound(t *testing.T) {
	x := make([]float32, 8000)
	x[4000], x[4001], x[10] = 1, -5, float32(math.NaN())
	rows := tensor.New[float32](100, 8)
	rows.Set(9, 99, 7) // the last frame, the highest band
	var b bytes.Buffer
	s := draw.Sound{Rate: 8000, Channels: [][]float32{x}, Rows: rows.Any()}
	if err := s.WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	colour := func(x, y int) uint32 { r, g, b, _ := img.At(x, y).RGBA(); return r>>8<<16 | g&0xff00 | b>>8 }
	for _, c := range []struct {
		x, y int
		want uint32
	}{{16 + 400, 44, 0x424a53}, {16 + 400, 44 + 109, 0x424a53}, {16 + 399, 44, 0xf3f4f6}, {16 + 399, 44 + 55, 0x424a53},
		{16 + 799, 44 + 120, 0xfae63c}, {16, 44 + 120, 0x101450}, {16 + 799, 44 + 120 + 159, 0x101450}} {
		if got := colour(c.x, c.y); got != c.want {
			t.Errorf("pixel %d, %d is %06x, want %06x", c.x, c.y, got, c.want)
		}
	}
	var svg strings.Builder
	if err := s.WriteSVG(&svg); err != nil || !strings.Contains(svg.String(), "#fae63c") {
		t.Error(err, svg.String())
	}
}

func TestSoundRefused(t *testing.T) {
	for i, s := range []draw.Sound{
		{}, {Channels: make([][]float32, 2)}, {Channels: [][]float32{{1}, {1, 2}}}, {Channels: make([][]float32, 17)},
		{Rows: tensor.New[float32](3).Any()}, {Rows: tensor.New[float32](3, 300).Any()}, {Rows: tensor.New[float32](3, 0).Any()},
	} {
		var e *draw.Error
		if err := s.WriteSVG(&bytes.Buffer{}); !errors.As(err, &e) || !errors.Is(err, layout.ErrShape) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := (&draw.Sound{Channels: [][]float32{{1}}}).WritePNG(nil); err == nil {
		t.Error("a nil writer is taken")
	}
}
