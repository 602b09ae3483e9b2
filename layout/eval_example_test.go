package layout_test

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/layout"
)

func ExampleEval() {
	c, err := layout.Eval("(8,8):(8,1) / <2:1,4:1>")
	if err != nil {
		panic(err)
	}
	tiles, _ := c.Plain()
	fmt.Println(tiles)
	c, _ = layout.Eval("Sw<2,0,3> o (8,8):(8,1)")
	fmt.Println(c)
	// Output:
	// ((2,4),(4,2)):((8,16),(1,4))
	// Sw<2,0,3> ∘ 0 ∘ (8,8):(8,1)
}

func ExampleEvalEach() {
	c, err := layout.EvalEach("coalesce ((2,2):(4,1) * 6)", func(function string, args ...string) {
		fmt.Println(function, args)
	})
	fmt.Println(c.Inner(), err)
	// Output:
	// logical_product [(2,2):(4,1) 6]
	// coalesce [((2,2),(2,3)):((4,1),(2,8))]
	// (2,4,3):(4,1,8) <nil>
}

func ExampleEvalError_Mark() {
	_, err := layout.Eval("coalesce ((6,2):(8,2) o 3:4)")
	var e *layout.EvalError
	if errors.As(err, &e) {
		fmt.Printf("%s\n%v\n", e.Mark(), e.Err)
	}
	// Output:
	// coalesce ((6,2):(8,2) o 3:4)
	//                       ^
	// layout.Compose: (6,2):(8,2) ∘ 3:4: leaf 3:4 of the second crosses leaf 6:8 of the first unevenly
}

func ExampleComposed_Plain() {
	c, _ := layout.Eval("(8,8):(8,1)[2:4]")
	_, plain := c.Plain()
	fmt.Println(c.Inner(), "from", c.Base(), plain)
	// Output:
	// (2,8):(8,1) from 16 false
}

func ExampleEvalError_Error() {
	_, err := layout.Eval("(8,8):(8,1) / <2:1")
	fmt.Println(err)
	// Output:
	// layout.Eval: "(8,8):(8,1) / <2:1" at byte 18: want ',' or '>'
}

func ExampleEvalError_Unwrap() {
	_, err := layout.Eval("(6,2):(8,2) o 3:4")
	var rule *layout.Error
	fmt.Println(errors.Is(err, layout.ErrSyntax), errors.As(err, &rule), rule.Op)
	_, err = layout.Eval("6:8 / (3:4")
	fmt.Println(errors.Is(err, layout.ErrSyntax))
	// Output:
	// false true Compose
	// true
}
