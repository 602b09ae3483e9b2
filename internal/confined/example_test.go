package confined_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/ashlar-go/ashlar/internal/confined"
)

func ExampleEach() {
	sizes := []int{10, 1000}
	test := func(t *testing.T) { // a test function
		confined.Each(t, len(sizes), strconv.Itoa, func(i int) string { return fmt.Sprint(sizes[i], " bytes") }, func(i int) {
			if len(make([]byte, sizes[i])) == 0 {
				t.Error("no bytes")
			}
		})
	}
	_ = test
}
