//go:build !amd64 || purego

package simd

// Past returns dst: there is no row that stores past the caches.
func Past[T any](dst []T) []T { return dst }

// IsPast reports false.
func IsPast[T any](dst []T) bool { return false }

// TryCopyLines has nothing to copy with.
func TryCopyLines(dst, src []byte, ahead int) bool { return false }

// Ahead returns dst: no row fetches anything.
func Ahead[T any](dst []T, f Fetch) []T { return dst }

// A Fetch is none.
type Fetch uint8

// NewFetch returns none.
func NewFetch() Fetch { return 0 }

// Free does nothing.
func (Fetch) Free() {}

// After does nothing.
func (Fetch) After(...[]byte) {}
