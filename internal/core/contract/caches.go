package contract

import (
	"bytes"
	"io/fs"
	"strconv"
	"strings"
	"sync"
)

// blocking is the sizes in bytes of packed operands. A block of a and a panel of b as wide as a tile stay in a core's second-level cache, from where the
// tile fetches them. A block of b stays in the core's share of the last cache. A wider b is less reading of a.
type blocking struct{ a, b int }

// The caches of a core where the system doesn't say: 1 MiB of its own, and 2 MiB of the last cache.
const (
	commonSecond = 1 << 20
	commonLast   = 2 << 20
)

// blocks returns the sizes for this machine. The bits of results don't depend on them.
var blocks = sync.OnceValue(func() blocking { return blockingFor(caches()) })

// blockingFor returns the sizes for a core with its shares of the second-level and the last cache; 0 is an unknown one.
func blockingFor(second, last int) blocking {
	if second <= 0 {
		second, last = commonSecond, commonLast
	}
	last = max(last, second) // where the second is the last
	return blocking{a: min(max(second/4, 64<<10), 1<<20), b: min(max(last, 512<<10), 8<<20)}
}

// cachesOf reads the folder of Linux about the first processor, and returns the share that a core has in the second-level and in the last
// cache: 0 where the folder doesn't say.
func cachesOf(sys fs.FS) (second, last int) {
	text := func(name string) string {
		b, _ := fs.ReadFile(sys, name)
		return string(bytes.TrimSpace(b))
	}
	threads := max(1, listed(text("topology/thread_siblings_list"))) // of a core
	level := 0
	for i := range 8 {
		of := "cache/index" + strconv.Itoa(i) + "/"
		n, _ := strconv.Atoi(text(of + "level"))
		digits, kilo := strings.CutSuffix(text(of+"size"), "K")
		size, err := strconv.Atoi(digits)
		if kind := text(of + "type"); err != nil || size <= 0 || kind == "Instruction" || n < 2 {
			continue
		}
		if kilo {
			size <<= 10
		}
		size /= max(1, (listed(text(of+"shared_cpu_list"))+threads-1)/threads)
		if n == 2 {
			second = size
		}
		if n >= level {
			level, last = n, size
		}
	}
	return second, last
}

// listed counts the processors of a list such as 0-3,8.
func listed(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if b, errB := strconv.Atoi(to); err == nil && isRange && errB == nil {
			n += max(0, b-a)
		}
		if err == nil {
			n++
		}
	}
	return n
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// evenly returns how many of n rows or columns a block takes, whole tiles of them unless all, so that blocks take at most most, where
// tiles are no wider, and all about the same.
func evenly(n, most, tile int) int {
	most = max(tile, most/tile*tile)
	blocks := (n + most - 1) / most
	return min(n, roundUp((n+blocks-1)/blocks, tile))
}

// TileCols returns how many of n columns the next tile takes, whole vectors of them where they are enough, so that all take about
// the same.
func TileCols(n, most, lanes int) int {
	vectors := (n + lanes - 1) / lanes
	tiles := (vectors*lanes + most - 1) / most
	return min(n, lanes*((vectors+tiles-1)/tiles))
}
