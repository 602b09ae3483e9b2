package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// pictureFlags say which numbers pictures become.
type pictureFlags struct {
	layout     axes
	size       pixels
	scale      ratio
	mean, std  numbers
	invert     bool
	bgr        bool
	background backdrop

	open string // the input whose height or width a picture gave
}

func (f *pictureFlags) register(c *cobra.Command) {
	flags := c.Flags()
	f.background = white
	flags.Var(&f.layout, "layout", "axes of an input that takes pictures: NCHW, NHWC, CHW, HWC, NHW or HW (default: from the shape)")
	flags.Var(&f.size, "size", "resize pictures to HEIGHTxWIDTH, for an input of any size (default: as the pictures are)")
	flags.Var(&f.scale, "scale", "factor for the samples 0 to 255, a number or a fraction (default 1/255; inputs of floats only)")
	flags.Var(&f.mean, "mean", "subtract after scaling: a number, or one per channel")
	flags.Var(&f.std, "std", "divide by after the mean: a number, or one per channel")
	flags.BoolVar(&f.invert, "invert", false, "turn dark into light first")
	flags.BoolVar(&f.bgr, "bgr", false, "give the channels as blue, green, red")
	flags.Var(&f.background, "background", "colour under transparent pictures: white, black or #rrggbb")
}

// pixels are a height and a width; the zero value is not given.
type pixels struct{ height, width int64 }

func (s *pixels) Set(text string) error {
	sides, err := extents(text)
	if err != nil || len(sides) != 2 || slices.Min(sides) < 1 || slices.Max(sides) > math.MaxInt32 {
		return fmt.Errorf("want height and width, as in 480x640")
	}
	*s = pixels{int64(sides[0]), int64(sides[1])}
	return nil
}

func (s *pixels) String() string {
	if *s == (pixels{}) {
		return ""
	}
	return fmt.Sprintf("%dx%d", s.height, s.width)
}

// Type is the word that stands for the value in the help text.
func (s *pixels) Type() string { return "size" }

// A ratio is a number or a fraction, as it was written so that 1/255 rounds once; the zero value is not given.
type ratio struct{ num, den float64 }

func (r *ratio) Set(text string) error {
	n, d, isFraction := strings.Cut(text, "/")
	if !isFraction {
		d = "1"
	}
	var err error
	for _, part := range []struct {
		to   *float64
		text string
	}{{&r.num, n}, {&r.den, d}} {
		if *part.to, err = strconv.ParseFloat(strings.TrimSpace(part.text), 64); err != nil || !finite(*part.to) {
			return fmt.Errorf("want a number or a fraction such as 1/255")
		}
	}
	if r.den == 0 {
		return fmt.Errorf("the denominator is 0")
	}
	return nil
}

func (r *ratio) String() string {
	switch r.den {
	case 0:
		return ""
	case 1:
		return fmt.Sprint(r.num)
	}
	return fmt.Sprintf("%v/%v", r.num, r.den)
}

// Type is the word that stands for the value in the help text.
func (r *ratio) Type() string { return "number" }

func finite(v float64) bool { return v-v == 0 }

// numbers are one number, or one for each channel.
type numbers []float64

func (l *numbers) Set(text string) error {
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !finite(v) {
			return fmt.Errorf("want a number, or one per channel with commas between")
		}
		*l = append(*l, v)
	}
	if n := len(*l); n != 1 && n != 3 && n != 4 {
		return fmt.Errorf("want one number, or one for each of 3 or 4 channels")
	}
	return nil
}

func (l *numbers) String() string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint([]float64(*l)), "[]"), " ", ",")
}

// Type is the word that stands for the value in the help text.
func (l *numbers) Type() string { return "numbers" }

// A backdrop is a colour by name or in hexadecimal.
type backdrop color.RGBA

// white is the color of a page under a transparent picture, and usually of a viewer.
var white = backdrop{0xff, 0xff, 0xff, 0xff}

func (b *backdrop) Set(text string) error {
	switch text {
	case "white":
		text = "#ffffff"
	case "black":
		text = "#000000"
	}
	hex, ok := strings.CutPrefix(text, "#")
	v, err := strconv.ParseUint(hex, 16, 24)
	if !ok || err != nil || len(hex) != 6 {
		return fmt.Errorf("want white, black or #rrggbb")
	}
	*b = backdrop{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
	return nil
}

func (b *backdrop) String() string {
	if *b == white {
		return "white"
	}
	return fmt.Sprintf("#%02x%02x%02x", b.R, b.G, b.B)
}

// Type is the word that stands for the value in the help text.
func (b *backdrop) Type() string { return "colour" }

// axes names the axes of an input that takes pictures, a letter each.
type axes string

var knownAxes = []string{"NCHW", "NHWC", "CHW", "HWC", "NHW", "HW"}

func (a *axes) Set(text string) error {
	if !slices.Contains(knownAxes, strings.ToUpper(text)) {
		return fmt.Errorf("want one of %s", strings.Join(knownAxes, ", "))
	}
	*a = axes(strings.ToUpper(text))
	return nil
}

func (a *axes) String() string { return string(*a) }

// Type is the word that stands for the value in the help text.
func (a *axes) Type() string { return "axes" }

// axesOf decides the order of an input's axes: the value of --layout, or the one reading of its shape in which 1, 3 or 4
// channels stand before or after height and width.
func (f *pictureFlags) axesOf(v *onnx.ValueInfo) (axes, error) {
	t := &v.Type
	switch {
	case t.Kind != onnx.KindTensor:
		return "", fmt.Errorf("it is no tensor")
	case f.layout != "" && t.HasShape && len(f.layout) != len(t.Shape):
		return "", fmt.Errorf("--layout %s has %d axes, the input %d", f.layout, len(f.layout), len(t.Shape))
	case f.layout != "":
		return f.layout, nil
	case !t.HasShape:
		return "", fmt.Errorf("its shape is open: say with --layout what its axes are")
	}
	channels := func(i int) bool { return slices.Contains([]int64{1, 3, 4}, t.Shape[i].Value) }
	rank := len(t.Shape)
	if rank != 3 && rank != 4 {
		return "", fmt.Errorf("its axes aren't those of pictures: give an npy file, or say with --layout what they are")
	}
	first, last := channels(rank-3), channels(rank-1)
	batch := axes("N")[:rank-3]
	switch {
	case first && last:
		return "", fmt.Errorf("axes %d and %d could both be channels: say with --layout %s or %s which are", rank-3, rank-1, batch+"CHW", batch+"HWC")
	case first:
		return batch + "CHW", nil
	case last:
		return batch + "HWC", nil
	}
	return "", fmt.Errorf("neither axis %d nor axis %d is 1, 3 or 4 channels: give an npy file, or say with --layout what its axes are", rank-3, rank-1)
}

// dim returns the extent of the axis of this letter: that of the input if it is fixed, 0 if it is open, and 1 if there is
// no such axis.
func (a axes) dim(letter string, t *onnx.Type) int64 {
	i := strings.Index(string(a), letter)
	switch {
	case i < 0:
		return 1
	case !t.HasShape || t.Shape[i].Value < 0:
		return 0
	}
	return t.Shape[i].Value
}

// batch reads the pictures of one input into a tensor of the input's shape and type.
func (f *pictureFlags) batch(p *program, model string, v *onnx.ValueInfo, files []*source) (tensor.Any, error) {
	refuse := func(err error) (tensor.Any, error) {
		return tensor.Any{}, fmt.Errorf("%s: input %s of %s can't take a picture: %w", files[0].name, label(v.String()), model, err)
	}
	ax, err := f.axesOf(v)
	if err != nil {
		return refuse(err)
	}
	d, _ := v.Type.Elem.DType()
	table, err := f.table(d)
	if err != nil {
		return refuse(err)
	}
	for i, dim := range v.Type.Shape {
		if dim.Value == 0 {
			return refuse(fmt.Errorf("its axis %d is 0", i))
		}
	}
	n, c, h, w := ax.dim("N", &v.Type), ax.dim("C", &v.Type), ax.dim("H", &v.Type), ax.dim("W", &v.Type)
	if n != 0 && n != int64(len(files)) {
		return refuse(fmt.Errorf("it takes %d in one run, not %d", n, len(files)))
	}
	if !slices.Contains([]int64{0, 1, 3, 4}, c) {
		return refuse(fmt.Errorf("it has %d channels; pictures have 1, 3 or 4", c))
	}
	for _, side := range []struct {
		name  string
		of    *int64
		given int64
	}{{"height", &h, f.size.height}, {"width", &w, f.size.width}} {
		switch {
		case *side.of == 0 && side.given == 0:
			f.open = v.Name
		case *side.of == 0:
			*side.of = side.given
		case side.given != 0 && side.given != *side.of:
			return refuse(fmt.Errorf("--size %v: its %s is %d", &f.size, side.name, *side.of))
		}
	}
	if f.bgr && (c == 1 || !strings.Contains(string(ax), "C")) {
		return refuse(fmt.Errorf("--bgr is for inputs of 3 or 4 channels"))
	}
	if h > math.MaxInt32 || w > math.MaxInt32 {
		return refuse(fmt.Errorf("a side of %d pixels is more than a picture can have", max(h, w)))
	}
	if err := p.room(int64(len(files)), max(c, 1), max(h, 1), max(w, 1), int64(d.Size())+1); err != nil {
		return refuse(err)
	}
	o := image.Options{Channels: int(c), HWC: strings.HasSuffix(string(ax), "C"), Height: int(h), Width: int(w), Background: color.RGBA(f.background)}
	if c == 0 {
		if o.Channels, err = colours(files[0]); err != nil {
			return tensor.Any{}, err
		}
	}
	var out tensor.Any
	var size []int // of a picture
	for i, s := range files {
		one, err := p.picture(s, o)
		if err != nil {
			return tensor.Any{}, err
		}
		if out.IsZero() {
			size = one.Shape()
			if err := p.room(int64(len(files)), int64(one.Len()), int64(d.Size())); err != nil {
				return refuse(err)
			}
			if out, err = tensor.Make(d, ax.shape(len(files), size)...); err != nil {
				return refuse(err)
			}
		}
		if !slices.Equal(size, one.Shape()) {
			return tensor.Any{}, fmt.Errorf("%s: the picture is %v, %s is %v: the model leaves their size open, so all of a run need the same", s.name, one.Shape(), files[0].name, size)
		}
		if err := f.put(out, i, one, o, table); err != nil {
			return refuse(err)
		}
	}
	return out, nil
}

// served returns a function for serve.Options.Picture.
func (f *pictureFlags) served(p *program) func([]onnx.ValueInfo, []byte, func(int64) error) (map[string]tensor.Any, error) {
	return func(inputs []onnx.ValueInfo, body []byte, take func(int64) error) (map[string]tensor.Any, error) {
		if len(inputs) != 1 {
			return nil, fmt.Errorf("it has %d inputs: a picture is for one; send tensors", len(inputs))
		}
		v, own := &inputs[0], *f // batch changes it
		s := &source{Source: format.Source{At: bytes.NewReader(body), Size: int64(len(body))}, name: "the picture"}
		info, err := formats.Read(&s.Source, image.Config)
		if err != nil {
			return nil, s.in(err)
		}
		ax, err := own.axesOf(v)
		if err != nil {
			return nil, fmt.Errorf("input %s can't take a picture, send a tensor: %w", label(v.String()), err)
		}
		d, _ := v.Type.Elem.DType()
		sides := [2]int64{cmp.Or(own.size.height, int64(info.Height)), cmp.Or(own.size.width, int64(info.Width))}
		for i, axis := range []string{"H", "W"} {
			sides[i] = cmp.Or(ax.dim(axis, &v.Type), sides[i])
		}
		samples := 4 * float64(sides[0]) * float64(sides[1])
		need := float64(info.Memory) + float64(samples*float64(d.Size()+1)) + float64(8*(info.Width+info.Height))
		if err := take(int64(min(need, math.MaxInt64/2))); err != nil {
			return nil, err
		}
		t, err := own.batch(p, "the model", v, []*source{s})
		return map[string]tensor.Any{v.Name: t}, err
	}
}

// shape is that of n pictures of the given size, three numbers, under these axes.
func (a axes) shape(n int, size []int) []int {
	if !strings.Contains(string(a), "C") {
		size = size[1:] // one channel, first
	}
	if strings.HasPrefix(string(a), "N") {
		size = append([]int{n}, size...)
	}
	return size
}

// room refuses a product of bytes that is over the limit for a run.
func (p *program) room(factors ...int64) error {
	limit := int64(onnx.DefaultMaxMemory)
	if p.limit != 0 {
		limit = int64(p.limit)
	}
	total := 1.0
	for _, f := range factors {
		total *= float64(f)
	}
	if limit > 0 && total > float64(limit) {
		size := int64(math.MaxInt64) // or more
		if total < math.MaxInt64 {
			size = int64(total)
		}
		return fmt.Errorf("it would take %s, more than the limit of %s that --max-memory sets", amount(size), amount(limit))
	}
	return nil
}

// colours returns 1 for a grey picture and 3 for others, for an input that takes any number of channels.
func colours(s *source) (int, error) {
	if s.Path == "" && s.At == nil {
		return 3, nil // a stream can't be read twice
	}
	info, err := formats.Read(&s.Source, image.Config)
	if err != nil {
		return 0, s.in(err)
	}
	if info.Channels == 1 {
		return 1, nil
	}
	return 3, nil
}

// table gives the value of each sample: by channel, with one row if all channels are alike. It is (v·scale − mean) ÷ std in
// float64, which put rounds once.
func (f *pictureFlags) table(d dtype.DType) ([][256]float64, error) {
	isFloat := slices.Contains([]dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}, d)
	switch {
	case !isFloat && d != dtype.Uint8:
		return nil, fmt.Errorf("its elements are neither uint8 nor of a float type: give an npy file")
	case !isFloat && (f.scale.den != 0 || f.mean != nil || f.std != nil):
		return nil, fmt.Errorf("--scale, --mean and --std are for inputs of floats")
	}
	scale := f.scale
	if scale.den == 0 {
		scale = ratio{1, 255}
		if !isFloat {
			scale = ratio{1, 1}
		}
	}
	rows := make([][256]float64, max(len(f.mean), len(f.std), 1))
	for c := range rows {
		mean, std := perChannel(f.mean, c, 0), perChannel(f.std, c, 1)
		for v := range rows[c] {
			x := float64(float64(v)*scale.num) / scale.den
			if rows[c][v] = (x - mean) / std; !finite(rows[c][v]) {
				return nil, fmt.Errorf("--scale, --mean and --std make %v of the sample %d", rows[c][v], v)
			}
		}
	}
	return rows, nil
}

func perChannel(list numbers, c int, otherwise float64) float64 {
	switch len(list) {
	case 0:
		return otherwise
	case 1:
		return list[0]
	}
	return list[c]
}

// given names a flag that says something about pictures, "" if none does.
func (f *pictureFlags) given() string {
	switch {
	case f.layout != "":
		return "--layout"
	case f.size != pixels{}:
		return "--size"
	case f.scale.den != 0:
		return "--scale"
	case f.mean != nil:
		return "--mean"
	case f.std != nil:
		return "--std"
	case f.invert:
		return "--invert"
	case f.bgr:
		return "--bgr"
	case f.background != white:
		return "--background"
	}
	return ""
}

// check refuses the flags that make no sense for any input.
func (f *pictureFlags) check(p *program) error {
	if slices.Contains(f.std, 0) {
		return p.usagef("--std can't be 0")
	}
	if m, s := len(f.mean), len(f.std); m > 1 && s > 1 && m != s {
		return p.usagef("--mean has %d numbers, --std %d", m, s)
	}
	return nil
}

// put writes picture i of a batch.
func (f *pictureFlags) put(out tensor.Any, i int, picture tensor.Any, o image.Options, table [][256]float64) error {
	if n := len(table); n != 1 && n != o.Channels {
		return fmt.Errorf("--mean or --std has %d numbers, the input %d channels", n, o.Channels)
	}
	s := samples{reach.Run[uint8](&picture, picture.LayoutRef()), table, o.Channels, o.HWC, f.invert, f.bgr && o.Channels > 1}
	switch out.DType() {
	case dtype.Uint8:
		fill(out, i, s, func(v float64) uint8 { return uint8(v) })
	case dtype.Float32:
		fill(out, i, s, func(v float64) float32 { return float32(v) })
	case dtype.Float64:
		fill(out, i, s, func(v float64) float64 { return v })
	case dtype.Float16:
		fill(out, i, s, num.FromFloat64[num.F16])
	case dtype.BFloat16:
		fill(out, i, s, num.FromFloat64[num.BF16])
	}
	return nil
}

// samples are the bytes of a picture and the numbers they become.
type samples struct {
	bytes    []uint8
	table    [][256]float64
	channels int
	last     bool // the channels are the last axis
	invert   bool
	bgr      bool
}

// from is the channel of a picture that channel c of an input takes.
func (s *samples) from(c int) int {
	if s.bgr && c < 3 { // not alpha
		return 2 - c
	}
	return c
}

// fill converts the samples of a picture and writes them to place i of a batch.
func fill[T num.Elem](out tensor.Any, i int, s samples, convert func(float64) T) {
	values := make([][256]T, s.channels)
	for c := range values {
		for v := range values[c] {
			w := v
			if s.invert && c < 3 { // not alpha
				w = 255 - v
			}
			values[c][v] = convert(s.table[c%len(s.table)][w])
		}
	}
	n := len(s.bytes)
	dst := reach.Run[T](&out, out.LayoutRef())[i*n:][:n]
	if s.last {
		for j := range s.bytes {
			c := j % s.channels
			dst[j] = values[c][s.bytes[j-c+s.from(c)]]
		}
		return
	}
	plane := n / s.channels
	for c := range values {
		for j, v := range s.bytes[s.from(c)*plane:][:plane] {
			dst[c*plane+j] = values[c][v]
		}
	}
}
