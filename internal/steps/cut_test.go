package steps

import "slices"

// cut makes a sequence that fails small: fewer steps, and smaller choices. text is what differs.
func cut(q sequence, text string) (sequence, *running, string) {
	fails := func(try sequence) bool {
		_, t := play(try)
		if t != "" {
			q, text = try, t
		}
		return t != ""
	}
	for again := true; again; {
		again = false
		for n := len(q); n >= 1; n /= 2 { // steps
			for i := 0; i < len(q); i += n {
				try := slices.Clone(q)
				for k := i; k < min(i+n, len(q)); k++ {
					try[k] = nil
				}
				if slices.ContainsFunc(q[i:min(i+n, len(q))], func(s []int) bool { return s != nil }) && fails(try) {
					again = true
				}
			}
		}
		for i := range q {
			for k := 0; k < len(q[i]); k++ {
				for _, v := range []int{0, q[i][k] / 2, q[i][k] - 1} {
					if v < 0 || v >= q[i][k] {
						continue
					}
					try := slices.Clone(q)
					try[i] = slices.Clone(q[i])
					if try[i][k] = v; fails(try) {
						again = true
						break
					}
				}
				try := slices.Clone(q) // without the choice: those behind it move
				if try[i] = slices.Delete(slices.Clone(q[i]), k, k+1); len(try[i]) > 0 && fails(try) {
					again = true
				}
			}
		}
	}
	r, text := play(q)
	return q, r, text
}
