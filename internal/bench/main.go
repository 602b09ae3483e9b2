// Command bench measures operators and prints a JSON line for each case:
//
//	{"case": "gemm/f32/256x256x256", "dtype": "f32", "size": "256x256x256", "threads": 1, "peer": "ashlar",
//	 "seconds": 1.6e-4, "min_seconds": 1.5e-4, "gflops": 209.7}
//
//	go run ./internal/bench [-f FILTER] [-t 1|2] [-cpu LEVEL] [-fast] [-b SECONDS] [-calibrate]
//
// seconds is the median over repeated calls, and min_seconds the least time. gflops counts 2 operations for
// each multiply-add. gbps counts the least traffic: every input read once, every output written once.
// Outputs exist before the clock starts. A single figure says little: the machine's clock and memory change
// by themselves. So compare ratios within one run. With -calibrate it prints, for each number that package
// contract chooses by, the times of both ways on either side of it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/op"
)

// line is one line of output.
type line struct {
	Case    string  `json:"case"`
	DType   string  `json:"dtype"`
	Size    string  `json:"size"`
	Threads int     `json:"threads"`
	Peer    string  `json:"peer"`
	Seconds float64 `json:"seconds"`
	Min     float64 `json:"min_seconds"`
	GFLOPS  float64 `json:"gflops,omitempty"`
	GBPS    float64 `json:"gbps,omitempty"`
}

func main() {
	filter := flag.String("f", "", "regular expression on the case name")
	threads := flag.Int("t", 1, "threads")
	level := flag.String("cpu", "", "highest instruction set: generic; avx2 or avx512 on amd64; neon, dot or i8mm on arm64")
	fast := flag.Bool("fast", false, "functions of float32 with op.Fast")
	budget := flag.Float64("b", 0.06, "seconds for each case")
	numbers := flag.Bool("calibrate", false, "print the times around the numbers that package contract chooses by")
	npys := flag.String("npy", "", "a folder of inputs for the cases sel/…, which bench/select.py names on standard input")
	flag.Parse()
	if *fast {
		quick = append(quick, op.Fast())
	}
	if *level != "" && os.Getenv("ASHLAR_CPU") != *level {
		rerun(*level)
	}
	if err := cpu.Err(); err != nil {
		fatal(err)
	}
	want, err := regexp.Compile(*filter)
	if err != nil {
		fatal(err)
	}
	if *threads < 1 {
		fatal(fmt.Errorf("-t %d: want at least one thread", *threads))
	}
	runtime.GOMAXPROCS(*threads)
	if *numbers {
		calibrate(os.Stdout, *budget)
		return
	}
	if *npys != "" {
		if err := serve(*npys, os.Stdin, os.Stdout); err != nil {
			fatal(err)
		}
		return
	}
	out := json.NewEncoder(os.Stdout)
	for _, c := range allCases() {
		if !want.MatchString(c.name) {
			continue
		}
		median, least := measure(c.setup(), *budget)
		l := line{Case: c.name, DType: c.dtype, Size: c.size, Threads: *threads, Peer: "ashlar", Seconds: median, Min: least}
		if c.flop > 0 {
			l.GFLOPS = round3(c.flop / median * 1e-9)
		}
		if c.bytes > 0 {
			l.GBPS = round3(c.bytes / median * 1e-9)
		}
		if err := out.Encode(l); err != nil {
			fatal(err)
		}
	}
}

// measure returns the median and the least time of a call, in seconds. Calls are batched to samples of at
// least 200 µs. There are at least seven samples.
func measure(call func(), budget float64) (median, least float64) {
	call() // pays for fresh pages
	start := time.Now()
	call()
	n := 1
	if once := time.Since(start); once < 200*time.Microsecond {
		n = int(200*time.Microsecond/max(once, 20*time.Nanosecond)) + 1
	}
	var samples []float64
	for begin := time.Now(); len(samples) < 7 || time.Since(begin).Seconds() < budget; {
		start := time.Now()
		for range n {
			call()
		}
		samples = append(samples, time.Since(start).Seconds()/float64(n))
	}
	slices.Sort(samples)
	return samples[len(samples)/2], samples[0]
}

// rerun runs this program at another level, as a level is chosen when a program begins.
func rerun(level string) {
	exe, err := os.Executable()
	if err != nil {
		fatal(err)
	}
	cmd := exec.Command(exe, os.Args[1:]...)
	cmd.Env = append(os.Environ(), "ASHLAR_CPU="+level)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fatal(err)
	}
	os.Exit(0)
}

func round3(v float64) float64 { return math.Round(v*1000) / 1000 }

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(2)
}
