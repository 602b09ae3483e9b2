package pointwise

import "github.com/ashlar-go/ashlar/tensor"

// StepsOf is the number of steps of the pass that computes a deferred result into dst.
func StepsOf(y, dst *tensor.Any) int {
	f := fusion{whole: map[*Note]*tensor.Any{}}
	return len(f.pass(ArgOf("Fuse", y).By, dst).steps)
}
