//go:build !(amd64 || arm64) || purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

var (
	Product32 Levels[*Product[float32]]
	Product64 Levels[*Product[float64]]

	ByteProducts Levels[*Bytes[int16]]
	DotProducts  [cpu.I8MM + 1]*Bytes[int8]
	ByteQuads    *Quads
)
