package contract

import (
	"testing"
	"testing/fstest"
)

// The sizes of packed operands follow the caches that Linux reports.
func TestBlocking(t *testing.T) {
	index := func(m fstest.MapFS, i, level, kind, size, shared string) {
		for name, text := range map[string]string{"level": level, "type": kind, "size": size, "shared_cpu_list": shared} {
			m["cache/index"+i+"/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
	}
	machine := func(threads string, second, secondOf, last, lastOf string) fstest.MapFS {
		m := fstest.MapFS{"topology/thread_siblings_list": {Data: []byte(threads + "\n")}}
		index(m, "0", "1", "Data", "32K", threads)
		index(m, "1", "1", "Instruction", "32K", threads)
		index(m, "2", "2", "Unified", second, secondOf)
		if last != "" {
			index(m, "3", "3", "Unified", last, lastOf)
		}
		return m
	}
	for name, c := range map[string]struct {
		sys          fstest.MapFS
		second, last int
		want         blocking
	}{
		"none":           {fstest.MapFS{}, 0, 0, blocking{256 << 10, 2 << 20}},
		"two threads":    {machine("0,8", "1024K", "0,8", "32768K", "0-15"), 1 << 20, 4 << 20, blocking{256 << 10, 4 << 20}},
		"a server":       {machine("0", "1024K", "0", "32768K", "0-63"), 1 << 20, 512 << 10, blocking{256 << 10, 1 << 20}},
		"four cores":     {machine("0", "1024K", "0-3", "", ""), 256 << 10, 256 << 10, blocking{64 << 10, 512 << 10}},
		"a cache of all": {machine("0", "12288K", "0-3", "", ""), 3 << 20, 3 << 20, blocking{768 << 10, 3 << 20}},
		"nonsense":       {machine("x", "much", "0-", "-5K", "3-1"), 0, 0, blocking{256 << 10, 2 << 20}},
	} {
		second, last := cachesOf(c.sys)
		if got := blockingFor(second, last); second != c.second || last != c.last || got != c.want {
			t.Errorf("%s: %d and %d bytes, blocks %+v; want %d and %d, %+v", name, second, last, got, c.second, c.last, c.want)
		}
	}
	if b := blocks(); b.a < 64<<10 || b.b < 512<<10 {
		t.Errorf("blocks of %+v", b)
	}
}

// The sums are the rule's whatever the sizes are.
func TestBlockedTiles(t *testing.T) {
	old := blocks
	defer func() { blocks = old }()
	blocks = func() blocking { return blocking{a: 8 * 8 * GemmK, b: 24 * 8 * GemmK} }
	eachTiler(t, testTiles[float32], testTiles[float64])
}
