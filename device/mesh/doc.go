// Package mesh holds tensors on several accelerators in software, and moves them between placements.
//
// A grid.Mesh, of package device/grid, says how the devices are wired and named, and a placement how each axis of the
// mesh holds a tensor. Distribute gives each device its part, Gather brings the tensor back, and To
// leads to another placement: an all-gather, a reduce-scatter, an all-reduce, an all-to-all, or
// several of them. The bytes lie in the memory of the devices.
//
// Moves keep every bit. Parts are added in the order of the devices along the axis, whatever the wires are. So
// a result depends on the placements, and not on the shape of a ring.
//
//	m, err := grid.ParseMesh("row=2,col=4 on 2xring4")
//	devs, err := mesh.Open(m, device.Wormhole())
//	t, err := mesh.Distribute(x, devs, grid.OnAxis{Kind: grid.Sharded}, grid.OnAxis{})
//	all, moved, err := t.To(grid.OnAxis{}, grid.OnAxis{})
package mesh
