package contract

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
)

// A Route is a way to compute a convolution.
type Route uint8

const (
	Exact   Route = iota // sums of patches of fixed point, each rounded once
	Planes               // the product of the weights and planes as they lie
	Deep                 // rows of chains: channels lie side by side, each with sums of its own
	Windows              // rows of sums from padded lines of planes
	Patches              // Direct, where a copy of the patches takes the place of lines
	Direct               // tiles of output channels, from lines and a list of offsets
)

func (r Route) String() string {
	return [...]string{"exact", "planes", "deep", "windows", "patches", "direct"}[r]
}

// A Case is what a Route depends on besides the geometry.
type Case struct {
	Type dtype.DType
	Rows bool // the level has kernels for rows of sums
	Last bool // the input or the result lies channels last
	Kept bool // the weights are kept packed
}

// routes is the one place where a way to compute a convolution is chosen: the first whose condition holds.
var routes = [...]struct {
	to    Route
	why   string
	holds func(g *Convolution, c Case) bool
}{
	{Exact, "sums of fixed point are exact", func(g *Convolution, c Case) bool { return c.Type.IsFixed() }},
	{Planes, "there are no products", func(g *Convolution, c Case) bool { return g.K == 0 }},
	{Planes, "each output meets one element, and planes lie as the product wants them", func(g *Convolution, c Case) bool {
		return g.pointwise() && !c.Last && (g.Patch > turnedPlane || g.M/g.Group < leastChannels || !c.Kept)
	}},
	{Deep, "depthwise, channels last", func(g *Convolution, c Case) bool {
		return g.depthwise() && c.Last && g.meets(min(g.C, deepTile)) <= mostLines
	}},
	{Deep, "depthwise, and lines are shorter than vectors of channels", func(g *Convolution, c Case) bool {
		return g.depthwise() && g.S[len(g.S)-1].Out <= shortLine && g.C >= deepChannels && g.meets(min(g.C, deepTile)) <= deepRoom
	}},
	{Windows, "few output channels", func(g *Convolution, c Case) bool {
		return c.Rows && g.M/g.Group < leastChannels && !(c.Last && g.pointwise()) && g.lined()
	}},
	{Windows, "few products for each output, and lines fill vectors", func(g *Convolution, c Case) bool {
		return c.Rows && g.C == g.Group && !g.pointwise() && g.M/g.Group <= singleChannels && g.S[len(g.S)-1].Out >= singleLine && g.lined()
	}},
	{Patches, "lines that a line of outputs meets are too long to be copied", func(g *Convolution, c Case) bool {
		return g.meets(pitchOf(g.C/g.Group)) > mostLines || g.M/g.Group > mostLines/max(1, g.longest())
	}},
	{Direct, "output channels fill vectors", func(g *Convolution, c Case) bool { return true }},
}

// Limits of memory.
const (
	deepRoom  = 4 << 20 // elements of the lines of deepTile channels that a line of outputs meets
	mostLines = 1 << 23 // the same of all channels
)

// Route returns the way to compute the convolution, and the reason.
func (g *Convolution) Route(c Case) (to Route, why string) {
	for i := range routes {
		if r := &routes[i]; r.holds(g, c) {
			return r.to, r.why
		}
	}
	panic("no route")
}

// pointwise reports whether every patch is one element.
func (g *Convolution) pointwise() bool {
	for i := range g.S {
		if s := &g.S[i]; s.Kernel != 1 || s.Stride != 1 || s.Begin != 0 || s.End != 0 {
			return false
		}
	}
	return true
}

// depthwise reports whether each output channel is of one input channel, so that a row of channels is a row of chains.
func (g *Convolution) depthwise() bool {
	return g.Group > 1 && g.M == g.Group && g.C == g.Group && g.K <= GemmK && len(g.S) <= 2
}

// longest returns the outputs of a line, 0 where there is one line, which may be cut.
func (g *Convolution) longest() int {
	for i := range g.S[:len(g.S)-1] {
		if g.S[i].Out > 1 || g.S[i].Kernel > 1 {
			return g.S[len(g.S)-1].Out
		}
	}
	return 0
}

// meets returns how many elements of some channels a line of outputs meets, padding included. Lines of a pointwise
// convolution may be cut.
func (g *Convolution) meets(channels int) int {
	n := float64(channels)
	for i := range g.S {
		s, between := &g.S[i], 0.
		if i == len(g.S)-1 && !g.pointwise() {
			between = float64(float64(max(0, g.longest()-1)) * float64(s.Stride))
		}
		n *= between + float64(float64(s.Kernel-1)*float64(s.Dilation)) + 1
	}
	return int(min(n, math.MaxInt32))
}

// lined reports whether padded lines of a channel are not much larger than the channel and the result. A line is kept as
// one line for each remainder of the stride that the kernel meets.
func (g *Convolution) lined() bool {
	s := joined(g.S)
	most := 4*(g.Plane()+g.Patch) + 1<<16
	last := &s[len(s)-1]
	phases := min(last.Kernel, last.Stride/gcd(last.Dilation, last.Stride))
	width := last.Out + (last.Kernel-1)*last.Dilation/last.Stride
	if width > most/phases {
		return false
	}
	plane, reach := 1, 0
	for i := range s[:len(s)-1] {
		n := (s[i].Out-1)*s[i].Stride + (s[i].Kernel-1)*s[i].Dilation + 1
		if n > most/(plane*width*phases) {
			return false
		}
		reach = reach*n + (s[i].Kernel-1)*s[i].Dilation
		plane *= n
	}
	channels := min((min(g.K, GemmK)-1)*(g.C/g.Group)/g.K+2, g.C/g.Group)
	return channels*(reach+2) <= mostLines/(width*phases) // outputs of two lines meet whole ones
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// joined makes one axis of the last two where the kernel doesn't reach along the last: steps along the axis before are then as many
// elements longer, and lines are long.
func joined(s []Span) []Span {
	s = slices.Clone(s)
	for n := len(s); n > 1; n-- {
		a, b := s[n-2], s[n-1]
		if b.Kernel != 1 || b.Out != b.In || b.Begin != 0 || b.Stride != 1 && b.In > 1 || a.Stride != 1 && b.In > 1 ||
			b.In == 0 || max(a.In+a.Begin+a.End, a.Dilation*a.Kernel) > math.MaxInt32/b.In {
			return s[:n]
		}
		s[n-2] = Span{a.In * b.In, a.Out * b.In, a.Kernel, a.Stride, a.Dilation * b.In, a.Begin * b.In, a.End * b.In}
		if a.Kernel == 1 {
			s[n-2].Dilation = 1
		}
	}
	return s[:1]
}
