package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// ttnnFamilies are the files of the suite that have a runner.
var ttnnFamilies = map[string]func(raw json.RawMessage) error{
	"bf16_round": bf16Round, "bf16_arith": bf16Arith,
	"bfp_elements": bfpElement, "bfp_tiles": ttnnCase[bfpTiles], "bfp_decode": ttnnCase[bfpDecode],
	"layout_specs": ttnnCase[layoutSpec], "tilize_maps": ttnnCase[tilizeMap], "tensor_to_bytes": ttnnCase[tensorBytes],
	"shape": ttnnCase[shapeCase], "shape_print_styles": ttnnCase[shapeStyles], "print_text": ttnnCase[printText],
	"interleaved_maps": ttnnCase[interleavedMap], "shard_page_maps": ttnnCase[shardPages], "shard_element_maps": ttnnCase[shardElements],
}

// runTTNN runs the suite, each file under its name.
func runTTNN(r *report) error {
	return r.cases(func(_, family string, _ []byte, cases []json.RawMessage) error {
		run := ttnnFamilies[family]
		if run == nil {
			r.unsupportedFile(family, len(cases))
			return nil
		}
		for i, raw := range cases {
			if r.wants(family) {
				r.judge(family, fmt.Sprint(i), func() error { return run(raw) })
			}
		}
		return nil
	})
}

// ttnnCase reads a case and runs it; a field that C doesn't have is a failure.
func ttnnCase[C any, P interface {
	*C
	run() error
}](raw json.RawMessage) error {
	c := new(C)
	if err := strict(raw, c); err != nil {
		return err
	}
	return P(c).run()
}

// stored is the cases' facts about how a tensor is stored.
type stored struct {
	DType, Layout string
	Shape, Tile   []int
	Transpose     bool  `json:"transpose_tile"`
	Align         []int `json:"requested_alignment"`
}

// spec returns the description of the tensor, and the type of its values.
func (c *stored) spec() (pack.Spec, error) {
	d, o, err := c.options()
	if err != nil {
		return pack.Spec{}, err
	}
	return pack.NewSpec(d, c.Shape, &o)
}

func (c *stored) options() (d dtype.DType, o pack.Options, err error) {
	o.Align = c.Align
	if d, err = dtype.Parse(c.DType); err != nil {
		if o.Format, err = pack.FormatNamed(c.DType); err != nil {
			return d, o, unsupported{"type " + c.DType}
		}
		d = dtype.Float32
	}
	switch {
	case c.Layout == "ROW_MAJOR" && c.Tile == nil:
		return d, o, nil
	case c.Layout != "TILE" && c.Layout != "" || c.Tile != nil && len(c.Tile) != 2:
		return d, o, fmt.Errorf("layout %q with tile %v", c.Layout, c.Tile)
	case c.Tile == nil:
		o.Tile = pack.TileOf(32, 32)
	default:
		o.Tile = pack.Tile{Height: c.Tile[0], Width: c.Tile[1], Transposed: c.Transpose}
	}
	return d, o, nil
}

// layoutSpec is the facts about a tensor's storage, or that there is none such.
type layoutSpec struct {
	stored
	Error     string
	Alignment []int
	Logical   []int           `json:"logical_2d_shape"`
	Padded    []int           `json:"padded_shape"`
	Physical  []int           `json:"physical_shape"`
	Page      []int           `json:"page_shape"`
	PageBytes int             `json:"page_bytes"`
	Bytes     int             `json:"packed_bytes"`
	Strides   json.RawMessage `json:"strides_upstream"` // of one of its two queries, whose answer is known to be wrong
}

func (c *layoutSpec) run() error {
	s, err := c.spec()
	if c.Error != "" {
		if err == nil {
			return fmt.Errorf("got %v, want the error %s", s, c.Error)
		}
		if errors.As(err, new(unsupported)) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	pair := func(a, b int) []int { return []int{a, b} }
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"alignment", s.Alignment(), c.Alignment},
		{"logical matrix", pair(s.LogicalMatrix()), c.Logical},
		{"padded shape", s.Padded().Shape(), c.Padded},
		{"physical shape", pair(s.PhysicalShape()), c.Physical},
		{"page", pair(s.PageShape()), c.Page},
		{"bytes of a page", s.PageBytes(), c.PageBytes},
		{"bytes", s.Bytes(), c.Bytes},
		{"storage", s.StorageLen(), c.Physical[0] * c.Physical[1]},
	} {
		if fmt.Sprint(f.got) != fmt.Sprint(f.want) {
			return fmt.Errorf("%v: %s: got %v, want %v", s, f.name, f.got, f.want)
		}
	}
	return nil
}

// shapeCase is a shape and what it answers.
type shapeCase struct {
	Shape, Strides []int
	Rank, Volume   int
	Text           string
	Index          [][2]*int
	ToRank         [][2]json.RawMessage `json:"to_rank"`
}

func (c *shapeCase) run() error {
	s, err := tensor.NewSpec(dtype.Float32, c.Shape...)
	if err != nil {
		return err
	}
	lay := s.Layout()
	strides := make([]int, lay.Rank())
	for i := range strides {
		if s.Len() > 0 { // of a shape without elements no stride leads anywhere, and upstream says 0
			strides[i], _ = lay.Stride(i)
		}
	}
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"rank", s.Rank(), c.Rank}, {"volume", s.Len(), c.Volume}, {"strides", strides, c.Strides}, {"text", pack.ShapeText(s, pack.Current), c.Text},
	} {
		if fmt.Sprint(f.got) != fmt.Sprint(f.want) {
			return fmt.Errorf("%s: got %v, want %v", f.name, f.got, f.want)
		}
	}
	if len(c.Index) == 0 || len(c.ToRank) == 0 {
		return fmt.Errorf("the case has no indices or no ranks")
	}
	for _, x := range c.Index {
		got, err := pack.Extent(s, *x[0])
		if (err != nil) != (x[1] == nil) || err == nil && got != *x[1] {
			return fmt.Errorf("extent %d: got %v, %v", *x[0], got, err)
		}
	}
	for _, x := range c.ToRank {
		var rank int
		var want []int
		if err := json.Unmarshal(x[0], &rank); err != nil {
			return err
		}
		if err := json.Unmarshal(x[1], &want); err != nil {
			return err
		}
		got, err := s.ToRank(rank)
		if (err != nil) != (want == nil) || err == nil && fmt.Sprint(got.Shape()) != fmt.Sprint(want) {
			return fmt.Errorf("rank %d: got %v, %v, want %v", rank, got, err, want)
		}
	}
	return nil
}

// shapeStyles is a padded shape in three texts.
type shapeStyles struct {
	Shape, Padded []int
	Sum           string `json:"seed_page_style"`
	Brackets      string `json:"bracket_style_2024"`
	Current       string `json:"current_style"`
}

func (c *shapeStyles) run() error {
	s, err := tensor.NewSpec(dtype.Float32, c.Shape...)
	if err == nil {
		s, err = s.WithPadded(c.Padded...)
	}
	if err != nil {
		return err
	}
	for style, want := range map[pack.ShapeStyle]string{pack.Sum: c.Sum, pack.Brackets: c.Brackets, pack.Current: c.Current} {
		if got := pack.ShapeText(s, style); got != want {
			return fmt.Errorf("got %s, want %s", got, want)
		}
	}
	return nil
}

// printText is a tensor as upstream prints it.
type printText struct {
	stored
	Precision int
	Profile   string
	Sci       string   `json:"sci_mode"`
	Bits      []uint32 `json:"value_bits"`
	Text      string
}

func (c *printText) run() error {
	d, o, err := c.options()
	if err != nil {
		return err
	}
	x, err := ofBits(d, c.Bits, c.Shape)
	if err != nil {
		return err
	}
	p, err := pack.Pack(x, &o)
	if err != nil {
		return err
	}
	var opts pack.TextOptions
	var known [2]bool
	opts.Profile, known[0] = map[string]pack.Profile{"short": pack.Short, "full": pack.Full, "empty": pack.Nothing}[c.Profile], true
	opts.Notation, known[1] = map[string]pack.Notation{"default": pack.ByValue, "true": pack.Scientific, "false": pack.Positional}[c.Sci], true
	opts.Precision = c.Precision
	if !known[0] || !known[1] {
		return fmt.Errorf("profile %q, sci_mode %q", c.Profile, c.Sci)
	}
	for _, a := range []tensor.Any{p.Any(), x} {
		if _, plain := a.Foreign().(pack.Tensor); !plain && o.Tile != (pack.Tile{}) {
			continue // it says ROW_MAJOR
		}
		got, err := pack.Text(a, &opts)
		if err != nil {
			return err
		}
		if got != c.Text {
			return fmt.Errorf("got\n%s\nwant\n%s", got, c.Text)
		}
	}
	return nil
}
