package op

import "github.com/ashlar-go/ashlar/internal/core/contract"

// Window is how a kernel moves over the spatial axes of a tensor [N, C, D1, D2,
// …], in Conv and the pools: one entry per spatial axis in each list. A nil list
// is all 1 for Strides and Dilations, all 0 for Pads.
type Window = contract.Window
