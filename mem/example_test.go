package mem_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/ashlar-go/ashlar/mem"
)

func Example() {
	b, err := mem.Alloc(4 << 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Bytes()[0] = 1
	fmt.Println(b.Kind(), b.Len(), b.Align() >= 4096)
	fmt.Println(b.Close(), b.Bytes() == nil)

	_, err = mem.Alloc(-1)
	fmt.Println(errors.Is(err, mem.ErrSize))
	// Output:
	// owned 4194304 true
	// <nil> true
	// true
}

// A hold keeps the bytes for work that goes on after someone else closes the Buffer.
func ExampleBuffer_Hold() {
	b := mem.Borrow([]byte{1, 2, 3}, func() { fmt.Println("released") })
	if !b.Hold() {
		fmt.Println("it is closed")
		return
	}
	bytes := b.Bytes()
	b.Close()
	fmt.Println(b.Closed(), bytes)
	b.Release()
	// Output:
	// true [1 2 3]
	// released
}

// A file of a folder that no name and no link leads out of.
func ExampleMapFile() {
	root, err := os.OpenRoot(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	f, err := root.Open("file.go")
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := mem.MapFile(f)
	f.Close()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	fmt.Println(string(b.Bytes()[:11]), b.ReadOnly())
	// Output: package mem true
}
