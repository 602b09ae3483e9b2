package contract

import "os"

func caches() (second, last int) { return cachesOf(os.DirFS("/sys/devices/system/cpu/cpu0")) }
