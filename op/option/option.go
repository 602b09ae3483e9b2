// Package option has the type of an operator's options, for functions that take them and hand them on.
package option

import "github.com/ashlar-go/ashlar/internal/core/exec"

// Option changes how an operator runs. The functions of package op make it; its content is this module's. Into and Context don't change the result. Fast, Orion, Rectify, RoundScales,
// Saturate and Wrap change the results of some operators, and other operators take no notice of them. KeepDims is for
// reductions, and another operator panics. Options are plain values, so that passing them allocates nothing. The zero
// Option changes nothing.
type Option struct{ content }

type content = exec.Option
