// Package device places tensors in the memory of an accelerator, moves them there and
// back on queues, and has such an accelerator in software.
//
// A device has banks of two kinds of memory: the banks of DRAM, and the L1 of each core. A
// tensor is placed in pages: tiles, or rows of its matrix. A MemoryConfig determines the bank
// of each page. Interleaved pages are dealt to the banks one by one. Sharded pages are dealt
// in shards, boxes of pages, to the cores of a grid. Both follow one rule; its result is a
// Placement, which maps a page to its bank and offset, and back.
//
//	dev, err := device.Open("sim:wormhole", nil)
//	t, err := device.ToDevice(x, dev, device.MemoryConfig{Memory: device.L1})
//	y, err := device.FromDevice(t)
//
// Copies and kernels go through queues. A Queue runs its commands in order, in parallel to
// other queues. A queue sees the writes of another one after somebody has waited for them. A
// command that fails has written nothing.
//
// The rules are the rules of TT-NN at commit 923191064229 of github.com/tenstorrent/tt-metal;
// docs/devices.md shows them in pictures, docs/from-ttnn.md has every name.
package device
