// Package web is a page that judges layouts and shows tensors. It is a module of its own, so that nobody who needs
// Ashlar needs what tests it in a browser:
//
//	go run ./build DIR
//
// makes the folder, which any file server serves.
package web

import "embed"

// Page holds the page, its style and its scripts, under page/. The programs in WebAssembly aren't in it.
//
//go:embed page
var Page embed.FS
