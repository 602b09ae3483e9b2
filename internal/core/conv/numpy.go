package conv

import "github.com/ashlar-go/ashlar/dtype"

// NumPy has NumPy's codes of element types without their byte order: kind and bytes. A
// code is "" for a type that NumPy doesn't have.
var NumPy = [dtype.Count]string{
	dtype.Bool: "b1",
	dtype.Int8: "i1", dtype.Int16: "i2", dtype.Int32: "i4", dtype.Int64: "i8",
	dtype.Uint8: "u1", dtype.Uint16: "u2", dtype.Uint32: "u4", dtype.Uint64: "u8",
	dtype.Float16: "f2", dtype.Float32: "f4", dtype.Float64: "f8",
	dtype.Complex64: "c8", dtype.Complex128: "c16",
}
