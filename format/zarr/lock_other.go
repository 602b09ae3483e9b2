//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package zarr

import (
	"context"
	"errors"
	"io/fs"
)

func (d *dir) flock(context.Context, string, []byte) (release func() error, err error) {
	return nil, errors.ErrUnsupported
}

func unlinked(fs.FileInfo) bool { return false }
