// Package csv reads and writes text tables as tensors: CSV (RFC 4180), TSV, and
// tables with another delimiter. All elements have one type; the first row may
// hold the columns' names.
//
// Read returns a tensor of rank 2, rows and columns. Write takes rank 2, or rank 1
// as one column. Read returns the elements that Write wrote with the same bits, for
// every element type; only a NaN becomes the canonical NaN. A table of no rows has
// only the row of names; without names it is an error.
//
// Lines end in LF, CRLF or CR, also mixed in one text. Within a quoted name, each
// of these becomes an LF.
//
// # Numbers
//
//	bool      true, false, 1, 0 in any of Go's spellings (strconv.ParseBool)
//	integers  decimal, with an optional sign; out of the type's range is an error
//	floats    decimal or hexadecimal, inf, nan, also -nan and nan(ind) as C writes
//	          them; rounded once, to nearest, ties to even, also to the narrow
//	          types; too large a number is an error, never an infinity
//	complex   1.5+2j, with or without brackets, j or i; a real or imaginary part
//	          alone
//
// Digits can't be separated: 1_000 is an error for every type, as in numpy.loadtxt.
// White space around a number is dropped. An empty cell is an error; a missing
// float is written as nan. Floats are written with the fewest digits that parse to
// the same value.
//
// # Untrusted text
//
// A row with more or fewer cells than the first, a cell that is no number, and a
// misplaced quote are errors that name the line and the column. Nothing panics.
// Memory grows with the numbers that have arrived, to at most 64 MiB plus twice
// their size in the tensor. A row has at most MaxRow bytes of text.
package csv
