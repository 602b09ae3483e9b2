//go:build !amd64 || purego

package simd

// Past returns dst: there is no row that stores past the caches.
func Past[T any](dst []T) []T { return dst }
