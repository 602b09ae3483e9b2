package contract

import "syscall"

// caches asks about the faster cores, whose second-level cache is the last that the system tells of.
func caches() (second, last int) {
	size, cores := sysctl("hw.perflevel0.l2cachesize"), sysctl("hw.perflevel0.cpusperl2")
	if size == 0 {
		size, cores = sysctl("hw.l2cachesize"), 1
	}
	second = size / max(1, cores)
	return second, max(second, sysctl("hw.l3cachesize")/max(1, sysctl("hw.physicalcpu")))
}

// sysctl returns a number, 0 where there is none of the name. The bytes come as a string without the last one.
func sysctl(name string) (n int) {
	s, err := syscall.Sysctl(name)
	if err != nil {
		return 0
	}
	for i := range min(len(s), 7) {
		n |= int(s[i]) << (8 * i)
	}
	return n
}
