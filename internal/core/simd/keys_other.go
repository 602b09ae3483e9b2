//go:build !(amd64 || arm64) || purego

package simd

// TryKeys32 does nothing.
func TryKeys32(dst, src []uint32, turn uint32) (blurred bool, done int) { return false, 0 }

// TryElements32 does nothing.
func TryElements32(dst, keys []uint32) (done int) { return 0 }

// TryReverse32 does nothing.
func TryReverse32(dst, src []uint32) (done int) { return 0 }

// TryReverse64 does nothing.
func TryReverse64(dst, src []uint64) (done int) { return 0 }
