package exec

// Same reports whether a and b, which may be of a program's own types, are one value. Values of a type that can't be
// compared are never the same: == would panic.
func Same(a, b any) (same bool) {
	defer func() { _ = recover() }()
	return a == b
}
