package expr

import (
	"math"
	"math/big"
	"slices"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Fold computes an operator of two numbers, as Python does. The error is an *Error at the place at.
func Fold(at int, sign string, a, b Node) (Node, error) {
	t := Node{Kind: Float, At: at}
	x, y := a.Value(), b.Value()
	if y == 0 && slices.Contains([]string{"/", "//", "%"}, sign) || x == 0 && y < 0 && sign == "**" {
		return t, Wrong(at, tensor.ErrValue, "a division by 0")
	}
	integers := a.IsInteger() && b.IsInteger()
	if integers && sign != "/" && !(sign == "**" && y < 0) {
		i, j, r := a.Integer(), b.Integer(), new(big.Int)
		switch sign {
		case "+":
			r.Add(i, j)
		case "-":
			r.Sub(i, j)
		case "*":
			r.Mul(i, j)
		case "//", "%":
			q, m := new(big.Int).DivMod(i, j, new(big.Int)) // the remainder is never negative
			if m.Sign() != 0 && j.Sign() < 0 {
				q.Sub(q, big.NewInt(1))
				m.Add(m, j)
			}
			if r = q; sign == "%" {
				r = m
			}
		case "**":
			if n := int64(i.BitLen() - 1); n > 0 && (!j.IsInt64() || j.Int64() > maxBits/n) {
				r.Lsh(big.NewInt(1), maxBits) // it has more than n bits for each
			} else {
				r.Exp(i, j, nil)
			}
		default:
			return t, Wrong(at, op.ErrUnsupported, "%s of numbers alone; one operand must be an array", sign)
		}
		return whole(at, r)
	}
	for _, n := range []Node{a, b} {
		if n.Kind == Big && math.IsInf(n.Value(), 0) && !(integers && sign == "/") {
			return t, Wrong(n.At, tensor.ErrValue, "an integer beyond the largest float64, beside a number that isn't one")
		}
	}
	switch sign {
	case "+":
		t.Float = x + y
	case "-":
		t.Float = x - y
	case "*":
		t.Float = x * y
	case "/":
		if t.Float = x / y; integers && x != 0 { // rounded once
			t.Float, _ = new(big.Rat).SetFrac(a.Integer(), b.Integer()).Float64()
			if math.IsInf(t.Float, 0) {
				return t, Wrong(at, tensor.ErrValue, "a quotient beyond the largest float64")
			}
		}
	case "//", "%":
		q, r := divMod(x, y)
		if t.Float = q; sign == "%" {
			t.Float = r
		}
	case "**":
		t.Float = op.Pow(tensor.Scalar(x), tensor.Scalar(y)).Item()
		switch finite := !math.IsInf(x, 0) && !math.IsInf(y, 0); {
		case t.Float != t.Float && x == x && y == y:
			return t, Wrong(at, tensor.ErrValue, "a fractional power of a negative number, which is complex")
		case math.IsInf(t.Float, 0) && finite:
			return t, Wrong(at, tensor.ErrValue, "a power beyond the largest float64")
		}
	default:
		return t, Wrong(at, op.ErrUnsupported, "%s of numbers alone; one operand must be an array", sign)
	}
	return t, nil
}

// divMod returns Python's x // y and x % y of floats, where y isn't 0: the remainder has the sign of y.
func divMod(x, y float64) (q, r float64) {
	r = math.Mod(x, y)
	q = (x - r) / y
	if r == 0 {
		r = math.Copysign(0, y)
	} else if (r < 0) != (y < 0) {
		r += y
		q--
	}
	if q == 0 {
		return math.Copysign(0, x/y), r
	}
	floor := math.Floor(q)
	if q-floor > 0.5 { // q is an integer except for rounding
		floor++
	}
	return floor, r
}
