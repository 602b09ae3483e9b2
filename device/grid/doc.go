// Package grid says where the parts of a tensor are on a mesh of devices, and how they move: integers alone, no bytes.
//
// A Mesh is devices in rows and rings, with named axes. A placement has an OnAxis for each axis. Box gives
// the part of a device, and Plan the way to another placement, with the bytes over each link. Package device/mesh does it with
// accelerators in software.
//
//	m, err := grid.ParseMesh("row=2,col=4 on 2xring4")
//	on, err := m.ParsePlacement("S(0) R")
//	first, extent, err := m.Box([]int{129, 64}, on, 5)
package grid
