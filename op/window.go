package op

// Window is how a kernel moves over the spatial axes of a tensor [N, C, D1, D2, …], in Conv and the pools: one entry per
// spatial axis in each list.
type Window struct {
	Kernel    []int  // extents; nil is, for Conv, those of the weights
	Strides   []int  // nil is all 1
	Dilations []int  // nil is all 1
	Pads      []int  // the begins of all axes, then the ends; nil is all 0
	AutoPad   string // "" or NOTSET uses Pads; VALID, SAME_UPPER and SAME_LOWER ignore them
	Ceil      bool   // a last window that reaches past the end counts (pools)
}
