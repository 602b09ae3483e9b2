//go:build js && wasm

// Command models is the program that reads files of tensors and models for the page,
// compiled to WebAssembly. It gives the worker one function, ashlarAnswer, from JSON and more
// to JSON. More is the file for open, with size and read(offset, length), or a list of such
// files with path, which is a folder; for a run it is the pixels, and to verify the receipt and the inputs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall/js"

	"github.com/ashlar-go/ashlar/judge/ask"
	"github.com/ashlar-go/ashlar/web/show"
)

func main() {
	var open *show.File
	js.Global().Set("ashlarAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		answer, err := answered(&open, args[0].String(), args[1])
		return string(ask.Reply(answer, err))
	}))
	select {}
}

func answered(open **show.File, question string, more js.Value) (any, error) {
	var q struct {
		Op   string `json:"op"`
		Name string `json:"name"`
		At   []int  `json:"at"`

		Labels string `json:"labels"` // for a run: a name of a class on each line
	}
	if err := json.Unmarshal([]byte(question), &q); err != nil {
		return nil, err
	}
	if q.Op == "open" {
		var f *show.File
		var list *show.Listing
		var err error
		if n := more.Get("length"); n.Type() == js.TypeNumber {
			files := make(map[string]*io.SectionReader, n.Int())
			for i := range n.Int() {
				file := more.Index(i)
				files[file.Get("path").String()] = io.NewSectionReader(reader{file}, 0, size(file))
			}
			f, list, err = show.OpenFolder(q.Name, files)
		} else {
			f, list, err = show.Open(q.Name, reader{more}, size(more))
		}
		if err != nil {
			return nil, &ask.Fault{Field: "file", Text: err.Error()}
		}
		*open = f
		return list, nil
	}
	if *open == nil {
		return nil, errors.New("no file is open")
	}
	switch q.Op {
	case "tensor":
		return (*open).Tensor(q.Name, q.At)
	case "picture":
		return (*open).Picture()
	case "verify":
		files, order := make(map[string]*io.SectionReader), []string(nil)
		for i := range more.Length() {
			file := more.Index(i)
			order = append(order, file.Get("path").String())
			files[order[i]] = io.NewSectionReader(reader{file}, 0, size(file))
		}
		return (*open).Verify(context.Background(), files, order)
	case "run":
		b := make([]byte, more.Get("length").Int())
		js.CopyBytesToGo(b, more)
		return (*open).Run(context.Background(), b, q.Labels)
	}
	return nil, fmt.Errorf("no question %q", q.Op)
}

func size(file js.Value) int64 { return int64(file.Get("size").Float()) }

// A reader reads parts of a file of the browser.
type reader struct{ file js.Value }

func (r reader) ReadAt(b []byte, at int64) (int, error) {
	out := r.file.Call("read", float64(at), len(b))
	if out.Type() != js.TypeObject {
		return 0, fmt.Errorf("the browser can't read the file: %v", out)
	}
	n := js.CopyBytesToGo(b, out)
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
