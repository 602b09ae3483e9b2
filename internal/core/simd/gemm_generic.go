//go:build !(amd64 || arm64) || purego

package simd

var (
	Product32 Levels[*Product[float32]]
	Product64 Levels[*Product[float64]]

	ByteProducts Levels[*Bytes]
)
