package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// layoutCase is one case of the layout algebra.
type layoutCase struct {
	ID, Op, Verdict string
	Args            map[string]json.RawMessage
	Expect          layoutExpect
	Alternatives    []layoutExpect `json:"expect_alternatives"`
	MinSize         int            `json:"min_size"`

	read map[string]bool // the arguments that the operation took
	bad  error           // the first argument that couldn't be read
}

// layoutExpect is the expected answer. Fields that aren't compared are here
// too, so that a new one in the data is noticed.
type layoutExpect struct {
	Table       []int
	TrueTable   []int `json:"true_table"`
	TablePrefix []int `json:"table_prefix"`
	Modes       []int
	Size, Rank  *int
	Offset      int
	MaxPlusOne  *int `json:"max_plus_one"`
	Values      []int
	Value       *int
	Coords      []any
	Tuple       string
	Samples     [][2]int
	YMask       *int `json:"yyy_mask"`
	ZMask       *int `json:"zzz_mask"`
	MinSize     int  `json:"min_size"`

	Error        bool   // the verdict says it
	Layout, A, B string // spellings; another nesting is as right
	Depth        int    // the same
	Cosize       int    `json:"pycute_cosize"` // wrong for negative strides
}

// An answer compares the result of an operation with the expected one.
type answer func(want *layoutExpect) error

// runLayout runs the cases of the layout algebra and of LayoutTensor. Cases of the
// algebra without an entry in layoutOps are unsupported under the name of their
// operation.
func runLayout(r *report) error {
	return r.cases(func(path, name string, _ []byte, cases []json.RawMessage) error {
		if name == "layout_tensor" {
			return runTensors(r, path, cases)
		}
		for _, raw := range cases {
			c := &layoutCase{read: map[string]bool{}}
			if err := c.decode(raw); err != nil {
				return fmt.Errorf("%s: %v: %.200s", path, err, raw)
			}
			if r.wants(c.Op) {
				r.judge(c.Op, c.ID, c.run)
			}
		}
		return nil
	})
}

// decode reads a case. Only the expected answer is read strictly: the rest says
// where a case is from.
func (c *layoutCase) decode(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, c); err != nil {
		return err
	}
	var again struct{ Expect json.RawMessage }
	if err := json.Unmarshal(raw, &again); err != nil {
		return err
	}
	return strict(again.Expect, new(layoutExpect))
}

// run judges one case by its verdict.
func (c *layoutCase) run() error {
	f, ok := layoutOps[c.Op]
	if !ok {
		return unsupported{"no operation " + c.Op}
	}
	a, err := f(c)
	if c.bad != nil {
		return c.bad
	}
	for name := range c.Args {
		if !c.read[name] {
			return fmt.Errorf("the runner doesn't read argument %q", name)
		}
	}
	if bad := new(wrong); errors.As(err, &bad) {
		return bad
	}
	switch c.Verdict {
	case "reject":
		if err == nil {
			return errors.New("accepted; an error is right")
		}
		return nil
	case "may":
		if err != nil {
			return nil
		}
		first := a(&c.Expect)
		for i := range c.Alternatives {
			if first != nil && a(&c.Alternatives[i]) == nil {
				return nil
			}
		}
		return first
	case "exact_or_error":
		if err != nil {
			return nil
		}
		return a(&c.Expect)
	case "must":
		if err != nil {
			return err
		}
		return a(&c.Expect)
	}
	return fmt.Errorf("the runner knows no verdict %q", c.Verdict)
}

// wrong is an error of an answer beside which another part was refused: it fails
// also where refusing is right.
type wrong struct{ text string }

func (w *wrong) Error() string { return w.text }

// gives is the answer of operations whose result is a layout.
func gives(l layout.Layout) answer {
	return func(want *layoutExpect) error {
		table := want.Table
		if table == nil {
			table = want.TrueTable
		}
		if table == nil {
			return errors.New("the case has no table")
		}
		got, err := tableOf(&l)
		if err != nil {
			return err
		}
		if !slices.Equal(got, table) {
			return fmt.Errorf("%v has the offsets %v, want %v", l, some(got), some(table))
		}
		if want.Modes != nil && !slices.Equal(l.Shape(), want.Modes) {
			return fmt.Errorf("%v has modes of sizes %v, want %v", l, l.Shape(), want.Modes)
		}
		if want.Size != nil && l.Size() != *want.Size {
			return fmt.Errorf("%v has %d coordinates, want %d", l, l.Size(), *want.Size)
		}
		return nil
	}
}

// give is gives for the results of the library's functions.
func give(l layout.Layout, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	return gives(l), nil
}

// right is the answer of operations that judge themselves.
func right(*layoutExpect) error { return nil }

// tableOf returns the offset of every linear coordinate.
func tableOf(l *layout.Layout) ([]int, error) {
	t := make([]int, l.Size())
	var err error
	for i := range t {
		if t[i], err = l.Offset(i); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// some returns as much of a table as a message shows.
func some(t []int) string {
	if len(t) <= 16 {
		return fmt.Sprint(t)
	}
	return fmt.Sprintf("%v and %d more", t[:16], len(t)-16)
}

// arg reads an argument as JSON.
func (c *layoutCase) arg(name string, to any) {
	raw, ok := c.Args[name]
	c.read[name] = true
	if !ok {
		c.fail(fmt.Errorf("the case has no argument %q", name))
		return
	}
	if err := json.Unmarshal(raw, to); err != nil {
		c.fail(fmt.Errorf("argument %q: %v", name, err))
	}
}

func (c *layoutCase) fail(err error) {
	if c.bad == nil {
		c.bad = err
	}
}

// has reports whether an argument is there and not null.
func (c *layoutCase) has(name string) bool {
	raw, ok := c.Args[name]
	if ok && string(raw) == "null" {
		c.read[name] = true
		return false
	}
	return ok
}

func (c *layoutCase) int(name string) (n int) {
	c.arg(name, &n)
	return n
}

func (c *layoutCase) ints(name string) (n []int) {
	c.arg(name, &n)
	return n
}

func (c *layoutCase) text(name string) (s string) {
	c.arg(name, &s)
	return s
}

func (c *layoutCase) layout(name string) layout.Layout {
	l, err := layout.Parse(c.text(name))
	if err != nil {
		c.fail(fmt.Errorf("argument %q: %w", name, err))
	}
	return l
}

// operand returns the layout that an operation works on, under whatever name.
func (c *layoutCase) operand() layout.Layout {
	for _, name := range []string{"layout", "block", "tile", "a"} {
		if c.has(name) {
			return c.layout(name)
		}
	}
	c.fail(errors.New("the case has no layout"))
	return layout.Layout{}
}

func (c *layoutCase) layouts(name string) []layout.Layout {
	var text []string
	c.arg(name, &text)
	list := make([]layout.Layout, len(text))
	for i, s := range text {
		var err error
		if list[i], err = layout.Parse(s); err != nil {
			c.fail(fmt.Errorf("argument %q: %w", name, err))
		}
	}
	return list
}

func (c *layoutCase) tuple(name string) layout.Tuple {
	t, err := layout.ParseTuple(c.text(name))
	if err != nil {
		c.fail(fmt.Errorf("argument %q: %w", name, err))
	}
	return t
}

// nested returns the tuple that JSON's integers, lists and nulls stand for.
func (c *layoutCase) nested(v any) layout.Tuple {
	switch v := v.(type) {
	case nil:
		return layout.Hole()
	case float64:
		return layout.Int(int(v))
	case []any:
		list := make([]layout.Tuple, len(v))
		for i, e := range v {
			list[i] = c.nested(e)
		}
		return layout.List(list...)
	}
	c.fail(fmt.Errorf("%v is no coordinate", v))
	return layout.Tuple{}
}
