package confined

import (
	"fmt"
	"os"
	"syscall"
)

// limit bounds the addresses of the process by those that it has and room more.
func limit(room uint64) error {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(b), &pages); err != nil {
		return err
	}
	most := pages*uint64(os.Getpagesize()) + room
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
}
