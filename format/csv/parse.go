package csv

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// maxCell is the longest number accepted, in bytes. Every float64 can be written
// exactly with 1100 digits.
const maxCell = 4096

// describe returns the text of an error about a cell.
func describe(cell, why string) string {
	if cell == "" {
		return "the cell is empty; a missing float is written nan"
	}
	short := cell
	if len(short) > 40 {
		short = short[:40] + "…"
	}
	return fmt.Sprintf("%q %s", short, why)
}

// because returns the reason for which strconv refuses a cell.
func because(err error, what string) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, strconv.ErrRange):
		return "is out of the range of " + what
	}
	return "is no " + what
}

func parseBool(cell string) (bool, string) {
	v, err := strconv.ParseBool(cell)
	return v, because(err, "bool; true, false, 1 and 0 are")
}

func parseInt[T num.Int](cell string) (T, string) {
	if len(cell) > maxCell {
		return 0, tooLong
	}
	d := dtype.Of[T]()
	v, err := strconv.ParseInt(cell, 10, 8*d.Size())
	return T(v), because(err, d.String())
}

func parseUint[T num.Uint](cell string) (T, string) {
	if len(cell) > maxCell {
		return 0, tooLong
	}
	d := dtype.Of[T]()
	v, err := strconv.ParseUint(strings.TrimPrefix(cell, "+"), 10, 8*d.Size())
	if err != nil && strings.HasPrefix(cell, "-") {
		return 0, "is no " + d.String() + ", which has no sign"
	}
	return T(v), because(err, d.String())
}

const tooLong = "is too long for a number"

func parseFloat(cell string, bits int) (float64, string) {
	if len(cell) > maxCell {
		return 0, tooLong
	}
	v, err := parseReal(cell, bits)
	return v, because(err, "float"+strconv.Itoa(bits))
}

// parseReal parses a number, inf or nan as C and NumPy write them. Every NaN becomes the canonical one. It refuses _ between
// digits, which strconv reads, since integers can't have it here.
func parseReal(cell string, bits int) (float64, error) {
	if isNaN(cell) {
		return num.NaN64(), nil
	}
	if strings.Contains(cell, "_") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(cell, bits)
}

// isNaN reports whether a cell is nan in any case, with or without a sign, and with or without letters and digits in
// parentheses behind it.
func isNaN(cell string) bool {
	if cell != "" && (cell[0] == '-' || cell[0] == '+') {
		cell = cell[1:]
	}
	if len(cell) < 3 || !strings.EqualFold(cell[:3], "nan") {
		return false
	}
	inner, open := strings.CutPrefix(cell[3:], "(")
	inner, closed := strings.CutSuffix(inner, ")")
	return open == closed && (open || inner == "") && strings.Trim(inner, "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// parseComplex parses 1.5+2j, (1.5+2j), 1.5 and 2j, with i or j.
func parseComplex(cell string, bits int) (complex128, string) {
	if len(cell) > maxCell {
		return 0, tooLong
	}
	what := "complex" + strconv.Itoa(bits) + ", such as 1.5+2j"
	re, open := strings.CutPrefix(cell, "(")
	if open {
		closed := false
		if re, closed = strings.CutSuffix(re, ")"); !closed {
			return 0, because(strconv.ErrSyntax, what)
		}
	}
	im, has := "", re != "" && (re[len(re)-1] == 'j' || re[len(re)-1] == 'i')
	if has {
		im, re = re[:len(re)-1], ""
		for k := len(im) - 1; k > 0; k-- {
			if (im[k] == '+' || im[k] == '-') && !strings.Contains("eEpP", im[k-1:k]) {
				re, im = im[:k], im[k:]
				break
			}
		}
		if im == "" || im == "+" || im == "-" {
			im += "1"
		}
	}
	var x, y float64
	var err, second error
	if re != "" || !has {
		x, err = parseReal(re, bits/2)
	}
	if has {
		y, second = parseReal(im, bits/2)
	}
	if err == nil || errors.Is(second, strconv.ErrSyntax) {
		err = second
	}
	return complex(x, y), because(err, what)
}

// narrow parses a float of fewer bits than a float32, rounded once.
func narrow[T any](d dtype.DType, of func(bits uint16) T) func(cell string) (T, string) {
	f := d.Format()
	value := func(v float64) float64 { return f.Value(f.Round(v)) }
	least, most := f.Ends()
	return func(cell string) (T, string) {
		v, why := parseFloat(cell, 64)
		if why != "" {
			return of(f.Round(0)), strings.Replace(why, "float64", d.String(), 1)
		}
		bits := f.Round(onOneSide(cell, v, func(a, b float64) bool { return value(a) == value(b) }))
		x := f.Value(bits)
		switch {
		case v != v && x == x:
			return of(bits), "is no " + d.String() + ", which has no NaN"
		case math.IsInf(v, 0) && !math.IsInf(x, 0):
			return of(bits), "is no " + d.String() + ", which has no infinity"
		case v == v && !math.IsInf(v, 0) && (x-x != 0 || d.Bits() < 8 && (v < f.Value(least) || v > f.Value(most))):
			return of(bits), "is out of the range of " + d.String()
		}
		return of(bits), ""
	}
}

// parseSmall parses an integer of less than 8 bits.
func parseSmall(d dtype.DType, cell string) (byte, string) {
	parse, least, most := parseInt[int8], -1<<(d.Bits()-1), 1<<(d.Bits()-1)-1
	if !d.IsSigned() {
		least, most = 0, 1<<d.Bits()-1
	}
	v, why := parse(cell)
	switch {
	case why != "":
		why = strings.Replace(why, "int8", d.String(), 1)
	case int(v) < least && least == 0:
		why = "is no " + d.String() + ", which has no sign"
	case int(v) < least || int(v) > most:
		why = "is out of the range of " + d.String()
	}
	return byte(v), why
}

// onOneSide prepares a number for rounding to a narrow type. v is the float64
// nearest to the number in a cell. It usually returns v. If v lies where the
// narrow type changes from one value to the next, it returns the neighbour of v on
// the side of the exact number. Rounding v there would be a second rounding, of a tie
// that the exact number isn't.
func onOneSide(cell string, v float64, same func(a, b float64) bool) float64 {
	below, above := math.Nextafter(v, math.Inf(-1)), math.Nextafter(v, math.Inf(1))
	if v != v || math.IsInf(v, 0) || v == 0 || same(below, above) {
		return v
	}
	// v is within the narrow type's range, so the exponent in the text is not
	// much larger than the length of the text.
	exact, ok := new(big.Rat).SetString(cell)
	if !ok {
		return v
	}
	switch exact.Cmp(new(big.Rat).SetFloat64(v)) {
	case -1:
		return below
	case 1:
		return above
	}
	return v
}

// parseFixed parses a decimal, rounded once.
func parseFixed[T num.Fixed](cell string) (T, string) {
	if len(cell) > maxCell {
		var zero T
		return zero, tooLong
	}
	v, err := fixed.Parse[T](cell)
	if strings.Contains(cell, "_") {
		err = strconv.ErrSyntax
	}
	if errors.Is(err, fixed.ErrOverflow) {
		err = strconv.ErrRange
	}
	return v, because(err, dtype.Of[T]().String())
}
