package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
)

// serving starts the command, and returns its first line and its end: a call with exit code and errors.
func serving(t *testing.T, ctx context.Context, args ...string) (line string, over chan *call) {
	t.Helper()
	c := newCall(nil)
	r, w := io.Pipe()
	c.stdout = w
	over = make(chan *call, 1)
	go func() {
		c.code = c.run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...))
		w.Close()
		over <- c
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err, (<-over).err.String())
	}
	return line, over
}

// TestServingPage runs the commands of docs/serving.md against the server that it shows.
func TestServingPage(t *testing.T) {
	for _, program := range []string{"curl", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("the page's commands need ", program)
		}
	}
	inRoot(t)
	const page, address = "docs/serving.md", "http://127.0.0.1:8000"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	line, over := serving(t, ctx, "testdata/digits.onnx")
	url, names, _ := strings.Cut(strings.TrimSpace(line), " ")
	if names != "serves digits" {
		t.Errorf("it prints %q", line)
	}
	tmp := t.TempDir() + "/"
	commands := 0
	parts := strings.Split(string(text), "\n$ ")
	got := parts[0]
	for _, part := range parts[1:] {
		block, after, _ := strings.Cut(part, "\n```")
		lines := strings.Split(block, "\n")
		n := 1 // a command goes on in lines that begin with two spaces
		for n < len(lines) && strings.HasPrefix(lines[n], "  ") {
			n++
		}
		command, want := strings.Join(lines[:n], "\n"), strings.Join(lines[n:], "\n")
		commands++
		c := exec.Command("bash", "-ec", strings.NewReplacer(address, url, "/tmp/", tmp).Replace(command))
		c.Stderr = os.Stderr
		b, err := c.Output()
		out := strings.TrimSuffix(string(b), "\n")
		if err != nil || out != want && !*update {
			t.Errorf("$ %s: %v\n--- got\n%s\n--- the page says\n%s", command, err, out, want)
		}
		if got += "\n$ " + command; out != "" {
			got += "\n" + out
		}
		if strings.Contains(part, "\n```") {
			got += "\n```" + after
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if commands < 7 {
		t.Errorf("the page has %d commands", commands)
	}
	stop()
	if c := <-over; c.code != 0 {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
}

// --integers serves the numbers of a run on integers.
func TestServeIntegers(t *testing.T) {
	inRoot(t)
	model := filepath.Join(makeFiles(t), "quantized.onnx")
	for want, flags := range map[string][]string{`"data":[7]`: nil, `"data":[6]`: {"--integers"}} {
		ctx, stop := context.WithCancel(t.Context())
		line, over := serving(t, ctx, append(flags, "q="+model)...)
		url, _, _ := strings.Cut(line, " ")
		r, err := http.Post(url+"/v2/models/q/infer", "application/json", strings.NewReader(`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[0,1.3]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%v: %s, %v", flags, answer, err)
		}
		stop()
		if c := <-over; c.code != 0 {
			t.Errorf("exit %d: %s", c.code, &c.err)
		}
	}
}

// A picture as the body gives the numbers of ashlar run; flags of pictures and a picture that claims too much count.
func TestServePicture(t *testing.T) {
	inRoot(t)
	seven, err := os.ReadFile("testdata/seven.png")
	if err != nil {
		t.Fatal(err)
	}
	large := bytes.Clone(seven)
	binary.BigEndian.PutUint32(large[16:], 60000) // width and height of IHDR
	binary.BigEndian.PutUint32(large[20:], 60000)
	binary.BigEndian.PutUint32(large[29:], crc32.ChecksumIEEE(large[12:29]))
	other := "digits=" + filepath.Join(makeFiles(t), "quantized.onnx")
	for _, c := range []struct {
		args []string
		body []byte
		code int
		want string
	}{
		{[]string{other}, seven, 400, "input x float32[n,2] can't take a picture, send a tensor: its axes aren't those of pictures"},
		{nil, seven, 200, `"shape":[1,10],"data":[5.4830005e-15,`},
		{[]string{"--invert"}, seven, 200, `"shape":[1,10],"data":[`},
		{[]string{"--mean", "0.5,0.5,0.5"}, seven, 400, "1 channels"},
		{nil, seven[:100], 400, "the picture"},
		{nil, []byte("seven"), 400, "neither PNG nor JPEG"},
		{nil, large, 413, "the limit is 1073741824"},
		{[]string{"--max-held", "100GB"}, large, 400, "pixels are over the limit"},
	} {
		ctx, stop := context.WithCancel(t.Context())
		if len(c.args) == 0 || c.args[0] != other {
			c.args = append(c.args, "testdata/digits.onnx")
		}
		line, over := serving(t, ctx, c.args...)
		url, _, _ := strings.Cut(line, " ")
		r, err := http.Post(url+"/v2/models/digits/infer", "image/png", bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != c.code || !strings.Contains(string(answer), c.want) {
			t.Errorf("%v: %d %s, %v, want %d %s", c.args, r.StatusCode, answer, err, c.code, c.want)
		}
		stop()
		if c := <-over; c.code != 0 {
			t.Errorf("exit %d: %s", c.code, &c.err)
		}
	}
}

// The command is told to end while clients ask: each client gets an answer, an error, or no connection, and it exits with 0.
func TestServeTerminated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	inRoot(t)
	before := runtime.NumGoroutine()
	line, over := serving(t, t.Context(), "--batch-delay", "1ms", "--verbose", "--log-json", "d=testdata/digits.onnx", "other=testdata/digits.onnx")
	url, names, _ := strings.Cut(strings.TrimSpace(line), " ")
	if names != "serves d, other" {
		t.Errorf("it prints %q", line)
	}
	body := `{"inputs":[{"name":"image","datatype":"FP32","shape":[1,1,8,8],"data":[` + strings.Repeat("0,", 63) + `0]}]}`
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	client := &http.Client{Transport: tr}
	var served atomic.Int64
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for {
				r, err := client.Post(url+"/v2/models/"+[]string{"d", "other"}[i%2]+"/infer", "application/json", strings.NewReader(body))
				if err != nil {
					return
				}
				b, err := io.ReadAll(r.Body)
				r.Body.Close()
				if err != nil || r.StatusCode != 200 && r.StatusCode != 503 || !bytes.Contains(b, []byte(map[int]string{200: `"data":[`, 503: `{"error":`}[r.StatusCode])) {
					t.Errorf("%v %d %s", err, r.StatusCode, b)
				}
				served.Add(1)
			}
		})
	}
	for served.Load() < 100 {
		time.Sleep(time.Millisecond)
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGTERM)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := <-over
	wg.Wait()
	if c.code != 0 || !strings.Contains(c.err.String(), `"msg":"stopping"`) || !strings.Contains(c.err.String(), `"status":200`) {
		t.Errorf("exit %d: %.1000s", c.code, c.err.String())
	}
	tr.CloseIdleConnections()
	for runtime.NumGoroutine() > before+2 { // the signal package keeps one
		time.Sleep(time.Millisecond)
	}
}

func TestServeErrors(t *testing.T) {
	inRoot(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const model = "testdata/digits.onnx"
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "it takes one or more models, 0 given", nil},
		{2, "--queue can't be -1; it goes from 0 to 1048576", []string{"--queue", "-1", model}},
		{2, "--timeout can't be 0s", []string{"--timeout", "0", model}},
		{2, "--max-body and --max-held can't be none", []string{"--max-body", "none", model}},
		{1, "nowhere.onnx", []string{"nowhere.onnx"}},
		{1, "testdata/seven.png: it isn't an ONNX model", []string{"testdata/seven.png"}},
		{1, "there are two models of this name", []string{model, model}},
		{1, "can't stand in a path", []string{"a/b=" + model}},
		{1, fmt.Sprintf("serve: can't listen on %s: ", l.Addr()), []string{"--listen", l.Addr().String(), model}},
		{1, "serve: can't listen on nonsense: ", []string{"--listen", "nonsense", model}},
	} {
		if got := newCall(nil).with(append([]string{"serve"}, c.args...)...); got.code != c.code || !strings.Contains(got.err.String(), c.want) {
			t.Errorf("serve %v: exit %d: %s\nwant %d %s", c.args, got.code, got.err.String(), c.code, c.want)
		}
	}
}

// A model that can't be served is left out with a warning that says why.
func TestServeLeavesOut(t *testing.T) {
	inRoot(t)
	b := onnx.NewBuilder("sequence")
	b.OutputOf(b.Node("SequenceConstruct", []string{b.Input("x", dtype.Float32, 2)}), onnx.Type{Kind: onnx.KindSequence, Of: &onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemFloat32}})
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	file, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	sequence := filepath.Join(t.TempDir(), "sequence.onnx")
	if err := os.WriteFile(sequence, file, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	line, over := serving(t, ctx, sequence, "testdata/digits.onnx", "nowhere.onnx", "picture=testdata/seven.png", "a/b=testdata/digits.onnx", "--null-nan")
	url, names, _ := strings.Cut(strings.TrimSpace(line), " ")
	if names != "serves digits" {
		t.Errorf("it prints %q", line)
	}
	body := `{"inputs":[{"name":"image","datatype":"FP32","shape":[1,1,8,8],"data":[null` + strings.Repeat(",0", 63) + `]}]}`
	r, err := http.Post(url+"/v2/models/digits/infer", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || !strings.Contains(string(answer), `"data":[NaN,NaN`) {
		t.Errorf("%s, %v", answer, err)
	}
	stop()
	c := <-over
	for _, want := range []string{"nowhere.onnx", "testdata/seven.png: it isn't an ONNX model", `serve: model "sequence": output`, "the protocol has tensors alone", "can't stand in a path"} {
		if c.code != 0 || strings.Count(c.err.String(), "warning: a model is left out: ") != 4 || !strings.Contains(c.err.String(), want) {
			t.Errorf("exit %d: %s\nwant %s", c.code, c.err.String(), want)
		}
	}
	if c := newCall(nil).with("serve", sequence, "nowhere.onnx"); c.code != 1 || !strings.Contains(c.err.String(), "nowhere.onnx") || !strings.Contains(c.err.String(), "tensors alone") {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
}

// The help gives durations and sizes as the flags take them.
func TestServeHelp(t *testing.T) {
	c := newCall(nil).with("serve", "--help")
	for _, want := range []string{"--timeout duration ", "as 30s or 2m (default 1m0s)", "--batch-delay duration ", "(default 64MiB)", "(default 1GiB)", "--verbose    "} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("%q isn't in\n%s", want, c.out.String())
		}
	}
}
