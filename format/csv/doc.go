// Package csv reads and writes text tables as tensors: CSV (RFC 4180), TSV, and
// the like with another delimiter. All elements have one type; the first row may
// hold the columns' names.
//
// Read gives a tensor of rank 2, rows and columns. Write takes rank 2, or rank 1
// as one column. What Write writes, Read gives back with the same bits, for every
// element type; only a NaN comes back as the canonical one. A table of no rows has
// its columns in the row of names alone, and without names is an error.
//
// Lines end in LF, CRLF or CR, each line in its own way. In a name in quotes, each
// of them is an LF.
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
// Digits stand together: 1_000 is an error for every type, as in numpy.loadtxt.
// White space around a number is dropped. An empty cell is an error: a missing
// float is written nan. Floats are written with the fewest digits that give the
// same value back.
//
// # Untrusted text
//
// A row with another number of cells than the first one, a cell that is no number
// and a quote out of place are errors that name the line and the column. Nothing
// panics. Memory grows with the numbers that have arrived, to at most 64 MiB and
// twice their size in the tensor; a row is at most MaxRow bytes of text.
package csv
