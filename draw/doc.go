// Package draw shows layouts and tensors to people: as text, SVG, PNG and HTML. A Map is the picture of a layout; the
// same one has the same bytes on every platform.
package draw
