package dtype

// Promote returns the type in which NumPy computes with operands of types a and b: the
// smallest that holds both exactly, but float64 for 64-bit integers with floats, and for
// uint64 with signed integers. It returns false for pairs that NumPy doesn't define:
//   - bfloat16 or float8 with another float of at most 16 bits, or with an integer
//   - fixed point, or a type that is only stored, with any other number
//
// Operators of this module don't promote: a program converts with op.Cast.
//
// Source: NumPy's documentation, "Data type promotion in NumPy", without its rules
// for Python numbers.
func Promote(a, b DType) (DType, bool) {
	if rank(a) > rank(b) {
		a, b = b, a // bool, integers, floats, complex numbers
	}
	switch {
	case a.Size() == 0 || b.Size() == 0: // Invalid, or beyond the table
		return Invalid, false
	case a == b, a == Bool:
		return b, true
	case a.IsFixed() || b.IsFixed() || a.IsStored() || b.IsStored(): // NumPy has none
		return Invalid, false
	case b.IsInteger():
		return promoteIntegers(a, b), true
	case a.IsInteger() && b.IsFloat():
		if b != Float16 && b.IsNarrow() {
			return Invalid, false
		}
		return widest(floatFor(a), b), true
	case b.IsFloat(): // and a too
		if b.IsNarrow() || a.IsNarrow() && a.Size() == b.Size() {
			return Invalid, false
		}
		return widest(a, b), true
	case a.IsInteger():
		a = floatFor(a)
	}
	if a.IsComplex() || a == Float64 {
		return Complex128, true // two different complex types, or a type that complex64 doesn't hold
	}
	return b, true
}

func rank(d DType) int {
	switch {
	case d == Invalid:
		return 0
	case d == Bool:
		return 1
	case d.IsInteger():
		return 2
	case d.IsFloat():
		return 3 + d.Size()
	}
	return 12
}

// floatFor returns the smallest float that holds an integer type exactly, or float64
// if no float does.
func floatFor(d DType) DType {
	switch d.Size() {
	case 1:
		return Float16
	case 2:
		return Float32
	}
	return Float64
}

func widest(a, b DType) DType {
	if a.Size() > b.Size() {
		return a
	}
	return b
}

func promoteIntegers(a, b DType) DType {
	if a.IsSigned() == b.IsSigned() {
		return widest(a, b)
	}
	if b.IsSigned() {
		a, b = b, a
	}
	if a.Size() > b.Size() { // a is the signed type
		return a
	}
	switch b.Size() {
	case 1:
		return Int16
	case 2:
		return Int32
	case 4:
		return Int64
	}
	return Float64
}
