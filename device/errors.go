package device

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/tensor"
)

// The reasons that this package adds to the reasons of package tensor. Memory that is
// exhausted is tensor.ErrMemory; a deallocated tensor or a closed device is tensor.ErrClosed.
var (
	ErrSpec    = errors.New("spec")    // a copy between tensors of different types, shapes or pages
	ErrSpace   = errors.New("space")   // a tensor that lives elsewhere: on the host, in DRAM, on another device or core
	ErrPending = errors.New("pending") // a copy or a kernel that nobody has waited for
	ErrBusy    = errors.New("busy")    // commands are queued or at work
	ErrKernel  = errors.New("kernel")  // a function on a core failed or panicked
)

func fail(op string, err error, format string, args ...any) *tensor.Error {
	return &tensor.Error{Op: op, Text: fmt.Sprintf(format, args...), Err: err}
}

const maxInt = int(^uint(0) >> 1)

// mul returns a product of sizes, and whether it fits an int.
func mul(a, b int) (int, bool) {
	if b > 0 && a > maxInt/b {
		return 0, false
	}
	return a * b, true
}

// roundUp returns the smallest multiple of n from a up, and whether it fits an int.
func roundUp(a, n int) (int, bool) {
	r := a % n
	if r == 0 {
		return a, true
	}
	return a + (n - r), a <= maxInt-(n-r)
}

func divUp(a, n int) int {
	if a%n > 0 {
		return a/n + 1
	}
	return a / n
}
