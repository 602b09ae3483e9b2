// Package cast converts rows between element types, makes computed NaNs canonical, and holds the state of a call in
// fixed point: the treatment of results beyond the format, and the element that failed.
//
// A conversion goes through the widest type that holds both, and rounds once. canon.go states the rule of NaNs. The
// callers are packages pointwise, move, reduce, contract and op.
package cast
