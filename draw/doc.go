// Package draw shows layouts and tensors to people: as text, SVG, PNG and HTML. A Map is the picture of a layout. The
// same Map gives the same bytes on every platform.
//
// The build tag layoutonly leaves out PNG and the functions that read tensors. It makes a program for the browser that
// draws only layouts a fifth smaller.
package draw
