package show

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/classes"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/picture"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Size has the height, width and channels of the picture that the model takes.
type Size struct {
	Input    string `json:"input"`
	Height   int    `json:"height"`
	Width    int    `json:"width"`
	Channels int    `json:"channels"`
	last     bool   // the channels are the last axis
	shape    []int
	d        dtype.DType
}

// again is the time below which a run is repeated: a browser compiles a program during its first run.
const again = 2 * time.Second

// spent writes a time with a space before its unit. The clock of a browser is coarse: no time at all is one below step, the least that it showed.
func spent(d, step time.Duration) string {
	switch {
	case d <= 0:
		return "< " + spent(max(step, 1), 0)
	case d < time.Microsecond:
		return "< 1 µs"
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// A Run is the result of a model's run on a picture.
type Run struct {
	Graph   string      `json:"graph"`
	Total   string      `json:"total"`
	Count   int         `json:"count"` // the number of the model's nodes; nodes that form one step share its time
	Warm    bool        `json:"warm"`  // the model ran twice; the times are from the second run
	Nodes   []nodeTime  `json:"nodes"` // a step each, in the order of the run
	Outputs []outputRow `json:"outputs"`
}

type nodeTime struct {
	Name  string  `json:"name"`
	Op    string  `json:"op"`
	Shape string  `json:"shape"`
	Time  string  `json:"time"`
	Part  float64 `json:"part"` // of the total
}

type outputRow struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Text    string  `json:"text"`
	Classes []class `json:"classes,omitempty"` // the best classes, if the output scores classes
}

type class struct {
	Name  string  `json:"name"`
	Score string  `json:"score"`
	Part  float64 `json:"part"` // of the best one
}

// mostShown is the number of classes shown.
const mostShown = 5

// classesOf returns the best classes of an output, ranked as by the command. It uses the names if there is one for each class.
func classesOf(t tensor.Any, names []string) (list []class) {
	k := classes.Rank(t)
	if k == nil || len(k.Rows) != 1 {
		return nil
	}
	row := k.Rows[0]
	order := classes.Best(row, mostShown)
	for _, i := range order {
		c := class{Name: fmt.Sprintf("class %d", i), Score: k.Number(row[i])}
		if len(names) == len(row) && names[i] != "" {
			c.Name = clip(names[i])
		}
		if most := row[order[0]]; most > 0 {
			c.Part = max(row[i]/most, 0)
		}
		list = append(list, c)
	}
	return list
}

// Picture returns the size of the picture that the model takes. An axis without an extent
// is 1 for images and 224 for pixels.
func (f *File) Picture() (*Size, error) {
	if f.model == nil {
		return nil, errors.New("a model is wanted for a picture: open an ONNX file first")
	}
	in := f.model.Inputs()
	if len(in) != 1 {
		return nil, fmt.Errorf("the model takes %d inputs; a picture is one", len(in))
	}
	v := in[0]
	d, _ := v.Type.Elem.DType()
	s := &Size{Input: v.Name, d: d}
	if n := len(v.Type.Shape); !v.Type.HasShape || n < 2 || n > 4 {
		return nil, fmt.Errorf("the model's input %s is no picture: 2 to 4 axes are wanted", v)
	}
	for i, d := range v.Type.Shape {
		n := int(d.Value)
		if n <= 0 {
			n = 224
			if i == 0 && len(v.Type.Shape) > 2 {
				n = 1
			}
		}
		s.shape = append(s.shape, n)
	}
	h := s.shape
	if len(h) == 4 {
		if h[0] != 1 {
			return nil, fmt.Errorf("the model takes %d pictures at once", h[0])
		}
		h = h[1:]
	}
	switch {
	case len(h) == 2:
		s.Height, s.Width, s.Channels = h[0], h[1], 1
	case h[0] <= 4:
		s.Channels, s.Height, s.Width = h[0], h[1], h[2]
	case h[2] <= 4:
		s.Height, s.Width, s.Channels, s.last = h[0], h[1], h[2], true
	default:
		return nil, fmt.Errorf("the model's input %s is no picture", v)
	}
	if s.Channels != 1 && s.Channels != 3 || s.Height > 4096 || s.Width > 4096 {
		return nil, fmt.Errorf("a picture of %d channels, %d×%d pixels: 1 or 3 channels and up to 4096×4096 are taken", s.Channels, s.Height, s.Width)
	}
	return s, nil
}

// Run runs the model on a picture of the size that Picture returns, in bytes red, green,
// blue, alpha. A model of floats gets values in 0..1, a model of integers values in 0..255.
// The labels are lines with the names of classes.
func (f *File) Run(ctx context.Context, rgba []byte, labels string) (*Run, error) {
	s, err := f.Picture()
	if err != nil {
		return nil, err
	}
	if len(rgba) != 4*s.Height*s.Width {
		return nil, fmt.Errorf("a picture of %d bytes; %d×%d pixels of 4 are wanted", len(rgba), s.Height, s.Width)
	}
	pixels := make([]float32, s.Channels*s.Height*s.Width)
	whole := !s.d.IsFloat()
	for i := range s.Height * s.Width {
		p := rgba[4*i : 4*i+3]
		c := [3]float32{float32(p[0]), float32(p[1]), float32(p[2])}
		if s.Channels == 1 { // the luma of ITU-R BT.601
			c[0] = float32(float32(0.299*c[0])+float32(0.587*c[1])) + float32(0.114*c[2])
		}
		for k := range s.Channels {
			x := c[k]
			if !whole {
				x /= 255
			}
			if s.last {
				pixels[i*s.Channels+k] = x
			} else {
				pixels[k*s.Height*s.Width+i] = x
			}
		}
	}
	in := tensor.FromSlice(pixels, s.shape...).Any()
	if s.d != dtype.Float32 {
		cast, ok := op.Lookup("CastLike")
		like, err := tensor.Make(s.d, 0)
		if err != nil || !ok {
			return nil, fmt.Errorf("the model's input has the type %v", s.d)
		}
		out, err := cast.Run(&op.Call{Inputs: []tensor.Any{in, like}, Attrs: op.AttrMap(nil)})
		if err != nil {
			return nil, err
		}
		in = out[0]
	}
	session, err := onnx.NewSession(f.model)
	if err != nil {
		return nil, err
	}
	r := &Run{Count: f.nodes()}
	const longest = time.Millisecond // of a step of the clock
	var at []int                     // the first node of each step
	total, step := time.Duration(0), longest
	o := onnx.Options{Observe: func(n *onnx.NodeRun) {
		if n.Depth > 0 || n.Index < 0 {
			return
		}
		total += n.Time
		shape := ""
		if len(n.Values) > 0 && n.Values[0].Kind() == onnx.KindTensor {
			shape = tensor.Describe(n.Values[0].Tensor())
		}
		if n.Time > 0 {
			step = min(step, n.Time)
		}
		at = append(at, n.Index)
		r.Nodes = append(r.Nodes, nodeTime{Name: clip(n.Node.Name), Op: clip(n.Node.Op), Shape: shape, Part: float64(n.Time)})
	}}
	inputs := map[string]tensor.Any{s.Input: in}
	out, err := session.Run(ctx, inputs, &o)
	if err == nil && total < again {
		at, r.Nodes, total, r.Warm = nil, nil, 0, true
		out, err = session.Run(ctx, inputs, &o)
	}
	if err != nil {
		return nil, err
	}
	notes := map[int]string{}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Time = spent(time.Duration(n.Part), step)
		notes[at[i]] = strings.TrimPrefix(n.Shape+", "+n.Time, ", ")
		n.Part /= max(float64(total), 1)
	}
	r.Total = spent(total, step)
	for _, v := range f.model.Graph.Outputs {
		if t, ok := out[v.Name]; ok {
			r.Outputs = append(r.Outputs, outputRow{clip(v.Name), tensor.Describe(t), clip(tensor.Sprint(t, &tensor.PrintOptions{Threshold: 32})), classesOf(t, classes.Names(labels))})
		}
	}
	var svg strings.Builder
	if picture.Of(f.name, f.model, notes).WriteSVG(&svg) == nil {
		r.Graph = svg.String()
	}
	return r, nil
}
