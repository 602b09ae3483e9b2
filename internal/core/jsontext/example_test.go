package jsontext_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/jsontext"
)

func Example() {
	fmt.Println(jsontext.Number("-1.5e3,2"), jsontext.Number("-,2"))
	r, n := jsontext.Escape([]byte(`\u00e9t\u00e9`))
	fmt.Printf("%c %d\n", r, n)
	// Output:
	// 6 0
	// é 6
}
