// Package draw shows layouts and tensors to people: as text, SVG, PNG and HTML. A Map is the picture of a layout; the
// same one has the same bytes on every platform.
//
// The build tag layoutonly leaves out PNG and what reads tensors. A program for the browser that draws layouts alone is a
// fifth smaller with it.
package draw
