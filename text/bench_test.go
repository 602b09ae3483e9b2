package text

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkEncode encodes the lines of the file that ASHLAR_CORPUS names, by each real file; BenchmarkOracle is the same by
// the oracle, on one thread.
func BenchmarkEncode(b *testing.B) {
	forFiles(b, func(b *testing.B, file, corpus string) {
		t, err := Open(file)
		if err != nil {
			b.Fatal(err)
		}
		data, err := os.ReadFile(corpus)
		if err != nil {
			b.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		tokens := 0
		var e Encoding
		before, rounds := processorSeconds(), 0
		for b.Loop() {
			tokens = 0
			for _, l := range lines {
				if err := t.EncodeInto(&e, l, Options{WithoutSpecial: true}); err != nil {
					b.Fatal(err)
				}
				tokens += len(e.IDs)
			}
			rounds++
		}
		if used := processorSeconds() - before; used > 0 {
			b.ReportMetric(used/float64(rounds), "cpu-s")
		}
		b.ReportMetric(float64(tokens), "tokens")
	})
}

func BenchmarkOracle(b *testing.B) {
	forFiles(b, func(b *testing.B, file, corpus string) {
		o := newOracle(b)
		var ns int64
		if err := o.ask(&ns, "file", file); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(corpus)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(info.Size())
		var answer [3]float64
		for b.Loop() {
			if err := o.ask(&answer, "time", corpus); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(answer[1], "tokens")
		b.ReportMetric(answer[2]/1e6, "cpu-s")
	})
}

func BenchmarkOracleOpen(b *testing.B) {
	forFiles(b, func(b *testing.B, file, _ string) {
		o := newOracle(b)
		var ns int64
		for b.Loop() {
			if err := o.ask(&ns, "file", file); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func forFiles(b *testing.B, f func(b *testing.B, file, corpus string)) {
	corpus, root := os.Getenv("ASHLAR_CORPUS"), os.Getenv("ASHLAR_TOKENIZERS")
	if corpus == "" || root == "" {
		b.Skip("name a folder with tokenizers in ASHLAR_TOKENIZERS and a text file in ASHLAR_CORPUS")
	}
	for name, file := range realFiles(b, root) {
		if _, err := os.Stat(file); err != nil {
			continue
		}
		b.Run(strings.TrimSuffix(name, filepath.Ext(name)), func(b *testing.B) { f(b, file, corpus) })
	}
}

// processorSeconds returns the time of the processor that this process took so far, 0 where there is no /proc.
func processorSeconds() float64 {
	data, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(data), ") ") // behind the name
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return float64(user+system) / 100 // ticks, of which Linux has 100 a second
}
