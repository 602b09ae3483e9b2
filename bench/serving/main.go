// Command serving measures ashlar serve on the digits model: requests per second and the 99th percentile of their times, for
// 1, 16 and 256 clients on loopback. Beside it are the session called from Go in the same program, and ONNX Runtime behind
// Node's HTTP server. From the root of the repository:
//
//	npm install --prefix /tmp/ort onnxruntime-node@1.30.0
//	go run ./bench/serving -node /tmp/ort
//
// Each server is a process of its own; the clients are one more. All take turns, -rounds times, and the table has medians.
// With -page FILE the table of that page is replaced.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

const model = "testdata/digits.onnx"

// A way is one to get the digits model's answers.
type way struct {
	name string
	ask  func() (func() error, func(), error) // of each client: ask once, and end
}

// A result is the measurement of one way of serving with a number of clients.
type result struct {
	rate float64 // requests per second
	late time.Duration
}

func main() {
	node := flag.String("node", "", "folder in which onnxruntime-node is installed")
	page := flag.String("page", "", "page whose table is to be replaced")
	rounds := flag.Int("rounds", 3, "how often all take their turns")
	long := flag.Duration("for", 1500*time.Millisecond, "how long a turn takes")
	flag.Parse()
	if err := run(*node, *page, *rounds, *long); err != nil {
		fmt.Fprintln(os.Stderr, "serving:", err)
		os.Exit(1)
	}
}

func run(node, page string, rounds int, long time.Duration) error {
	dir, err := os.MkdirTemp("", "serving")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "ashlar")
	if b, err := exec.Command("go", "build", "-o", exe, "./cmd/ashlar").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, b)
	}
	ways, err := inProcess()
	if err != nil {
		return err
	}
	type server struct {
		name    string
		command []string
	}
	servers := []server{
		{"`ashlar serve`", []string{exe, "serve", "--listen", "127.0.0.1:0", model}},
		{"`ashlar serve --batch-delay 1ms`", []string{exe, "serve", "--listen", "127.0.0.1:0", "--batch-delay", "1ms", model}},
	}
	if node != "" {
		servers = append(servers, server{"Node and ONNX Runtime", []string{"node", "bench/serving/server.mjs", node, model}})
	}
	for _, s := range servers {
		url, stop, err := start(s.command)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		defer stop()
		for _, form := range []string{"JSON", "binary"} {
			ways = append(ways, way{s.name + ", " + form, requests(url, form == "binary")})
		}
	}
	clients := []int{1, 16, 256}
	got := make([][][]result, len(ways))
	for i := range got {
		got[i] = make([][]result, len(clients))
	}
	for range rounds {
		for j, n := range clients {
			for i, w := range ways {
				r, err := measure(w, n, long)
				if err != nil {
					return fmt.Errorf("%s, %d clients: %w", w.name, n, err)
				}
				got[i][j] = append(got[i][j], r)
			}
		}
	}
	table := tableOf(ways, clients, got)
	fmt.Print(table)
	if page != "" {
		return replace(page, table)
	}
	return nil
}

// start starts a server, which prints its address first.
func start(command []string) (url string, stop func(), err error) {
	c := exec.Command(command[0], command[1:]...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		c.Process.Kill()
		c.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("it printed no address: %w", err)
	}
	go io.Copy(io.Discard, out)
	url, _, _ = strings.Cut(strings.TrimSpace(line), " ")
	return url, stop, nil
}

// inProcess is the session called from Go.
func inProcess() ([]way, error) {
	m, err := onnx.Open(model)
	if err != nil {
		return nil, err
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		return nil, err
	}
	in := map[string]tensor.Any{"image": tensor.FromSlice(picture(), 1, 1, 8, 8).Any()}
	return []way{{"the session, from Go", func() (func() error, func(), error) {
		return func() error {
			_, err := s.Run(context.Background(), in, nil)
			return err
		}, func() {}, nil
	}}}, nil
}

// measure lets clients ask for a time.
func measure(w way, clients int, long time.Duration) (result, error) {
	asks := make([]func() error, clients)
	for i := range asks {
		ask, end, err := w.ask()
		if err != nil {
			return result{}, err
		}
		defer end()
		if err := ask(); err != nil { // once before the time counts
			return result{}, err
		}
		asks[i] = ask
	}
	type record struct {
		times []time.Duration
		err   error
	}
	records := make(chan record, clients)
	begin := time.Now()
	for _, ask := range asks {
		go func() {
			var r record
			for at := begin; r.err == nil && at.Sub(begin) < long; {
				start := at
				r.err = ask()
				at = time.Now()
				r.times = append(r.times, at.Sub(start))
			}
			records <- r
		}()
	}
	var times []time.Duration
	for range clients {
		r := <-records
		if r.err != nil {
			return result{}, r.err
		}
		times = append(times, r.times...)
	}
	spent := time.Since(begin)
	slices.Sort(times)
	return result{float64(len(times)) / spent.Seconds(), times[len(times)*99/100]}, nil
}

// tableOf writes medians over the rounds as a table.
func tableOf(ways []way, clients []int, got [][][]result) string {
	var b strings.Builder
	b.WriteString("| requests per second (99th percentile) |")
	for _, n := range clients {
		fmt.Fprintf(&b, " %d clients |", n)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(clients)) + "\n")
	for i, w := range ways {
		fmt.Fprintf(&b, "| %s |", w.name)
		for j := range clients {
			var rates []float64
			var late []time.Duration
			for _, r := range got[i][j] {
				rates, late = append(rates, r.rate), append(late, r.late)
			}
			slices.Sort(rates)
			slices.Sort(late)
			fmt.Fprintf(&b, " %.0f (%s ms) |", rates[len(rates)/2], strconv.FormatFloat(float64(late[len(late)/2].Microseconds())/1000, 'f', 1, 64))
		}
		b.WriteByte('\n')
	}
	return strings.Replace(b.String(), " 1 clients", " 1 client", 1)
}

var tables = regexp.MustCompile(`(?m)^\| requests per second .*\n(\|.*\n)+`)

// replace puts the table into a page.
func replace(page, table string) error {
	b, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if n := len(tables.FindAll(b, -1)); n != 1 {
		return fmt.Errorf("%s has %d tables of requests per second, want 1", page, n)
	}
	return os.WriteFile(page, tables.ReplaceAllLiteral(b, []byte(table)), 0o666)
}
