package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// printedCase is an array, and NumPy's text of it.
type printedCase struct {
	ID, Op, Tol string
	In          []array
	Args        struct {
		PrintOptions struct {
			Precision                       *int
			Threshold, EdgeItems, LineWidth int
			Suppress                        bool
			Sign, FloatMode, NaNStr, InfStr string
		}
	}
	Out   struct{ Repr, Str string }
	Error json.RawMessage
}

func printed(raw json.RawMessage, _ string) (string, func() error, error) {
	c := new(printedCase)
	if err := strict(raw, c); err != nil {
		return "", nil, err
	}
	return c.ID, c.run, nil
}

func (c *printedCase) run() error {
	if len(c.In) != 1 {
		return fmt.Errorf("%d arrays", len(c.In))
	}
	t, err := c.In[0].tensor()
	if err != nil {
		return err
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	plain := o
	if t.Rank() == 0 {
		plain = tensor.PrintOptions{} // NumPy prints the scalar then, without options
	}
	if got := tensor.Sprint(t, &plain); got != c.Out.Str {
		return fmt.Errorf("prints\n%s\nwant\n%s", got, c.Out.Str)
	}
	if got := repr(t, o); got != c.Out.Repr {
		return fmt.Errorf("as an expression\n%s\nwant\n%s", got, c.Out.Repr)
	}
	return nil
}

func (c *printedCase) options() (tensor.PrintOptions, error) {
	p := &c.Args.PrintOptions
	o := tensor.PrintOptions{Threshold: p.Threshold, EdgeItems: p.EdgeItems, LineWidth: p.LineWidth,
		Suppress: p.Suppress, NaN: p.NaNStr, Inf: p.InfStr}
	switch {
	case p.Precision == nil:
	case *p.Precision == 0:
		o.Precision = -1 // 0 is the default there
	default:
		o.Precision = *p.Precision
	}
	if p.Sign != "" {
		o.Sign = p.Sign[0]
	}
	modes := map[string]tensor.FloatMode{"": tensor.MaxPrec, "maxprec": tensor.MaxPrec,
		"maxprec_equal": tensor.MaxPrecEqual, "fixed": tensor.Fixed, "unique": tensor.Unique}
	mode, ok := modes[p.FloatMode]
	if !ok {
		return o, unsupported{"floatmode " + p.FloatMode}
	}
	o.FloatMode = mode
	return o, nil
}

// repr writes NumPy's array(…) around the text of Sprint with commas. NumPy leaves
// out the types that literals have, and breaks the line before a type that doesn't
// fit.
func repr(t tensor.Any, o tensor.PrintOptions) string {
	const open = "array("
	width := o.LineWidth
	if width == 0 {
		width = 75
	}
	name := t.DType().String()
	implied := t.Len() > 0 && (name == "bool" || name == "int64" || name == "float64")
	o.Separator, o.Indent, o.LineWidth = ", ", len(open), width-1 // the comma or the bracket behind
	text := open + tensor.Sprint(t, &o)
	if t.Len() == 0 && t.Rank() != 1 {
		text = open + "[], shape=" + strings.NewReplacer("[", "(", "]", ")", " ", ", ").Replace(fmt.Sprint(t.Shape()))
	}
	if implied {
		return text + ")"
	}
	text += ","
	kind := "dtype=" + name + ")"
	if last := len(text) - (strings.LastIndex(text, "\n") + 1); last+len(kind)+1 > width {
		return text + "\n" + strings.Repeat(" ", len(open)) + kind
	}
	return text + " " + kind
}
