package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/judge/ask"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/spf13/cobra"
)

func (p *program) layoutCommand() *cobra.Command {
	var threads, tile, swizzle string
	var pictures [2]string // SVG and PNG
	var asJSON bool
	c := &cobra.Command{
		Use:   "layout EXPRESSION",
		Short: "Compute with layouts, and draw them",
		Long: fmt.Sprintf(`Layout evaluates an expression over layouts in CuTe's notation. It prints the
resulting layout, its properties, a grid with the offset of each coordinate, and
the memory with the coordinate at each offset. Rows and columns are the last two
modes. A layout of more modes has one grid for each coordinate of the others. At most %d coordinates are drawn, and %d rows or columns.
A larger matrix is drawn as blocks, with the offset of the first coordinate of each.

  layout     (8,8):(8,1), ((2,2),4):((1,8),2), or a number: 12 is 12:1
  operators  A / B divides, A * B multiplies, A o B composes, from left to right;
             B may be a tiler, <2:1,4:1> or <2,4>, which works mode by mode
  functions  bind closer, and their arguments stand side by side: compose A B
    row_major T, col_major T, ordered T T
    coalesce A [T], flatten A, filter A, nullspace A, complement A n
    compose A B, left_inverse A, right_inverse A, max_common_layout A B
    logical_divide, zipped_divide, tiled_divide, flat_divide A B
    logical_product, zipped_product, tiled_product, flat_product A B
    blocked_product, raked_product A B, tile_to_shape A T [T]
    slice A T, mode A n, join A B ..., permute A T, view A T, broadcast_to A T
    upcast A n, downcast A n, recast A n n
             T is a tuple such as (4,6), in slice with holes: (_,1); n a number
  swizzle    Sw<2,0,3> o A, or Sw<2,0,3> o 8 o A, which adds 8 to the offsets first
  slice      A[1:3, ::2], as in NumPy; ( ) group
  spellings  of CuTe, NumPy, Mojo, Triton and Go, as convert writes them

Colours tell apart the threads of --threads or the tiles of --tile. Without these
they tell apart the blocks of nested modes, the columns under a swizzle, or the
rows. A picture goes
to standard output when FILE is -, and then the text is left out.`, draw.MaxCells, draw.MaxSide),
		Example: `  ashlar layout "(8,8):(8,1)"
  ashlar layout "(8,8):(8,1) / <2:1,4:1>"
  ashlar layout "compose (6,2):(8,2) (4,3):(3,1)"
  ashlar layout "(4,4):(4,1)" --threads "(2,2):(2,1)"
  ashlar layout "(8,8):(8,1)" --swizzle 2,0,3 --svg swizzled.svg`,
		Args: arguments(1, 1, "one expression, in quotes"),
	}
	flags := c.Flags()
	flags.StringVar(&threads, "threads", "", "a layout of `threads`: which thread has which elements, in turn")
	flags.StringVar(&tile, "tile", "", "a `tile`, as in (2,4)")
	swizzleFlag(c, &swizzle)
	flags.StringVar(&pictures[0], "svg", "", "write the picture to `FILE`")
	flags.StringVar(&pictures[1], "png", "", "write the picture to `FILE`")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object instead of the text")
	p.quietFlag(c, "text")
	p.forceFlag(c)
	c.AddCommand(append(p.judgeCommands(), p.meshCommand())...)
	c.AddCommand(p.instructionCommand(), p.loadCommand(), p.stageCommand())
	c.RunE = func(c *cobra.Command, args []string) error {
		stdout := slices.Contains(pictures[:], "-")
		if stdout && (asJSON || pictures[0] == pictures[1]) {
			return usagef(c, "two things want standard output")
		}
		lay, err := readLayout(args[0])
		if err != nil {
			return err
		}
		if swizzle != "" {
			if lay, err = swizzled(c, lay, swizzle); err != nil {
				return err
			}
		}
		o := draw.MapOptions{Blocks: draw.MaxSide}
		if threads != "" {
			t, err := layout.Eval(threads)
			if err != nil {
				return marked(err)
			}
			l, ok := t.Plain()
			if !ok {
				return usagef(c, "--threads %s: a layout without a swizzle and an offset is wanted", threads)
			}
			o.Threads = &l
		}
		if tile != "" {
			if o.Tile, err = ask.Tile(tile); err != nil {
				return usagef(c, "--tile %v", err)
			}
		}
		picture, err := draw.NewMap(lay, &o)
		tooLarge := errors.Is(err, layout.ErrLimit)
		if err != nil && !(tooLarge && pictures == [2]string{}) {
			return err
		}
		if pictures != [2]string{} {
			if err := p.writePictures(pictures, picture.WriteSVG, picture.WritePNG); err != nil {
				return err
			}
		}
		facts := judge.FactsOf(lay)
		switch {
		case asJSON:
			return p.printLayoutJSON(lay, &facts)
		case stdout || p.quiet:
			return nil
		}
		printFacts(p.out, lay, &facts)
		if tooLarge {
			fmt.Fprintf(p.out, "\n%v\n", err)
			return nil
		}
		fmt.Fprintln(p.out)
		return picture.WriteText(p.out, &draw.TextOptions{Colour: p.colour()})
	}
	return c
}

func swizzleFlag(c *cobra.Command, text *string) {
	c.Flags().StringVar(text, "swizzle", "", "`bits,base,shift` of a swizzle of the offsets")
}

// swizzled lays the swizzle of --swizzle over a layout.
func swizzled(c *cobra.Command, lay layout.Composed, text string) (layout.Composed, error) {
	t, err := layout.ParseTuple("(" + text + ")")
	var n []int
	if err == nil {
		n, err = t.Flatten()
	}
	if err != nil || t.Depth() != 1 || len(n) != 3 {
		return lay, usagef(c, "--swizzle %s: want bits,base,shift, as in 2,0,3", text)
	}
	if w, ok := lay.Outer().(layout.Swizzle); !ok || w.Bits() > 0 {
		return lay, usagef(c, "--swizzle %s: the expression has a swizzle already", text)
	}
	w, err := layout.NewSwizzle(n[0], n[1], n[2])
	if err != nil {
		return lay, fmt.Errorf("--swizzle %s: %w", text, err)
	}
	return layout.NewComposed(w, lay.Base(), lay.Inner())
}

// printFacts writes the facts of a layout.
func printFacts(w io.Writer, c layout.Composed, f *judge.Facts) {
	in := c.Inner()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	say := func(b *bool) string {
		switch {
		case b == nil:
			return fmt.Sprintf("not known: more than %d elements, and no rule says it", 1<<20)
		case *b:
			return "yes"
		}
		return "no"
	}
	if l, ok := c.Plain(); ok {
		fmt.Fprintf(t, "layout\t%v\n", l)
	} else if w, ok := c.Outer().(layout.Swizzle); ok && w.Bits() == 0 {
		fmt.Fprintf(t, "layout\t%v from offset %d\n", in, c.Base())
	} else {
		fmt.Fprintf(t, "layout\t%v\n", c)
	}
	fmt.Fprintf(t, "size\t%d\n", in.Size())
	switch {
	case in.Size() == 0:
		fmt.Fprintln(t, "span\t0, no offsets")
	case f.Known:
		fmt.Fprintf(t, "span\t%d, offsets %d to %d\n", uint(f.Most)-uint(f.Least)+1, f.Least, f.Most)
	default:
		fmt.Fprintf(t, "span\t%s\n", say(nil))
	}
	order := f.Order
	if order != "" {
		order = ", " + order
	}
	fmt.Fprintf(t, "injective\t%s\ncontiguous\t%s%s\n", say(f.Injective), say(f.Contiguous), order)
	t.Flush()
}

// printLayoutJSON prints the facts, and the offsets where they could be drawn.
func (p *program) printLayoutJSON(c layout.Composed, f *judge.Facts) error {
	in := c.Inner()
	out := struct {
		Layout     string `json:"layout"` // the inner layout of a swizzle or an offset
		Shape      []int  `json:"shape"`
		Swizzle    []int  `json:"swizzle,omitempty"`
		Base       int    `json:"base"` // added to the offsets of the inner layout
		Size       int    `json:"size"`
		Span       []int  `json:"span,omitempty"` // the smallest and the largest offset, where known
		Injective  *bool  `json:"injective"`      // null: not known
		Contiguous *bool  `json:"contiguous"`
		Offsets    []int  `json:"offsets,omitempty"` // colexicographic: the first mode fastest
	}{Layout: in.String(), Shape: in.Shape(), Base: c.Base(), Size: in.Size(), Injective: f.Injective, Contiguous: f.Contiguous}
	if w, ok := c.Outer().(layout.Swizzle); ok && w.Bits() > 0 {
		out.Swizzle = []int{w.Bits(), w.Base(), w.Shift()}
	}
	if f.Known && in.Size() > 0 {
		out.Span = []int{f.Least, f.Most}
	}
	for i := 0; in.Size() <= draw.MaxCells && i < in.Size(); i++ {
		off, err := c.Offset(i)
		if err != nil {
			return err
		}
		out.Offsets = append(out.Offsets, off)
	}
	return json.NewEncoder(p.out).Encode(&out)
}
