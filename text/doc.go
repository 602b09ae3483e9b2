// Package text is in progress.
package text
