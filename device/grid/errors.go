package grid

import (
	"fmt"
	"strings"
)

// Error is a refused mesh, placement or plan. Err is a reason of package layout, such as layout.ErrAxis.
type Error struct {
	Op   string // Mesh.Box
	Text string
	Err  error
}

func (e *Error) Error() string { return "grid." + e.Op + ": " + e.Text }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

func fail(op string, err error, format string, args ...any) *Error {
	return &Error{op, fmt.Sprintf(format, args...), err}
}

const maxInt = int(^uint(0) >> 1)

// mul returns a product of sizes, and whether it fits an int.
func mul(a, b int) (int, bool) {
	if b > 0 && a > maxInt/b {
		return 0, false
	}
	return a * b, true
}

func product(v []int) int {
	n := 1
	for _, e := range v {
		n *= e
	}
	return n
}

// ints writes [14,28].
func ints(v []int) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ",") }

func divUp(a, n int) int { return a/n + min(a%n, 1) }
