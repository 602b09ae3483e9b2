//go:build !unix && !windows

package mem

import (
	"errors"
	"os"
)

const canMap = false

// mapMemory and unmapMemory are not reached: without mappings the arena is always full.
func mapMemory(n int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapMemory(b []byte) error { return errors.ErrUnsupported }

// mapFile fails, so that the file is read.
func mapFile(f *os.File, n int, readOnly bool) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile(b []byte) error { return errors.ErrUnsupported }
