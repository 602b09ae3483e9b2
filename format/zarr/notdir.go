package zarr

import "syscall"

// errNotDir is the system's error about a path that goes through a file.
const errNotDir = syscall.ENOTDIR
