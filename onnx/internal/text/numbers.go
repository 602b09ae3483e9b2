package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number writes a number with the fewest digits that tell it from its neighbours, as NumPy does.
func Number(x any) string {
	switch x := x.(type) {
	case bool:
		if x {
			return "True"
		}
		return "False"
	case float64:
		return floatText(x, 64)
	case float32:
		return floatText(float64(x), 32)
	case interface{ Float32() float32 }:
		return floatText(float64(x.Float32()), 32)
	}
	return fmt.Sprint(x)
}

func floatText(x float64, bits int) string {
	switch {
	case x != x:
		return "NaN"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strings.ToUpper(strconv.FormatFloat(x, 'g', -1, bits)), "+")
	}
	if m := math.Abs(x); m != 0 && (m < 1e-4 || m >= 1e16) {
		return strconv.FormatFloat(x, 'e', -1, bits)
	}
	s := strconv.FormatFloat(x, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// ParseFloat reads a decimal number, INF or NaN; a number beyond the type is infinite.
func ParseFloat(s string, bits int) (float64, error) {
	if strings.ContainsAny(s, "xX_pP") {
		return 0, strconv.ErrSyntax
	}
	x, err := strconv.ParseFloat(s, bits)
	if err != nil && math.IsInf(x, 0) {
		err = nil
	}
	return x, err
}
