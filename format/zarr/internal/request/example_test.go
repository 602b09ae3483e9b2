package request_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

func ExamplePlain() {
	fmt.Println(request.Plain("a redirect to https://user:password@example.org/x?signature=abc"))
	// Output: a redirect to https://example.org/x
}
