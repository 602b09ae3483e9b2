package csv_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/csv"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleRead() {
	const text = `year,rain
2023,812.5
2024,nan
`
	t, names, err := csv.Read(strings.NewReader(text), &csv.Options{DType: dtype.Float32, Header: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(names, tensor.Describe(t))
	fmt.Println(t)
	_, _, err = csv.Read(strings.NewReader("1,2\n3,four\n"), nil)
	fmt.Println(err)
	// Output:
	// [year rain] float32[2,2]
	// [[2023.   812.5]
	//  [2024.     nan]]
	// csv: line 2, column 2: "four" is no float64
}

func ExampleWrite() {
	t := tensor.FromSlice([]float32{1, 0.1, 2, 1e-30}, 2, 2)
	if err := csv.Write(os.Stdout, t.Any(), []string{"a", "b"}, &csv.Options{Comma: ';'}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// a;b
	// 1;0.1
	// 2;1e-30
}
