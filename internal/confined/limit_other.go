//go:build !linux

package confined

// limit does nothing: there, memory ends where the machine's does.
func limit(uint64) error { return nil }
