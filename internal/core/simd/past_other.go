//go:build !amd64 || purego

package simd

// Past returns dst: no row has non-temporal stores.
func Past[T any](dst []T, _ Fetch) []T { return dst }

// TryCopyLines has nothing to copy with.
func TryCopyLines(dst, src []byte, ahead int) bool { return false }

// A Fetch names no streams.
type Fetch uint8

// NewFetch returns 0.
func NewFetch() Fetch { return 0 }

// Free does nothing.
func (Fetch) Free() {}

// After does nothing.
func (Fetch) After(...[]byte) {}
