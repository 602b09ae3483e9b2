package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/receipt"
)

// An undecided is the reason why verify can't tell whether a receipt is right.
type undecided struct{ error }

func (e *undecided) Unwrap() error { return e.error }

func (p *program) writeReceipt(file string, r *receipt.Receipt) error {
	b, err := r.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return p.writeTo(file, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// readReceipt reads a receipt, from a file or standard input.
func (p *program) readReceipt(file string) (*receipt.Receipt, error) {
	b, err := p.readObject(file)
	var r *receipt.Receipt
	if err == nil {
		r, err = receipt.Parse(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, disk.Bare(err))
	}
	return r, nil
}

// readObject reads a file that may be a receipt or a certificate, or standard input.
func (p *program) readObject(file string) ([]byte, error) {
	var in io.Reader = p.stdin
	var b bytes.Buffer
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			b.Grow(int(min(info.Size(), receipt.MaxSize)) + bytes.MinRead)
		}
		in = f
	} else {
		p.stdinBy = file
	}
	_, err := b.ReadFrom(io.LimitReader(in, receipt.MaxSize+2))
	if err == nil && (b.Len() == 0 || b.Bytes()[0] != '{') {
		err = errors.New("it is no receipt: ashlar run --receipt writes one, and a model goes behind --model")
	}
	return b.Bytes(), err
}

// bothReceipts compares two receipts. It reports false where neither file is one.
func (p *program) bothReceipts(files []string) (bool, error) {
	var are [2]bool
	for i, file := range files {
		var err error
		if are[i], err = isReceipt(file); err != nil {
			return true, err
		}
	}
	switch {
	case !are[0] && !are[1]:
		return false, nil
	case !are[0]:
		return true, noReceipt(files[1], files[0])
	case !are[1]:
		return true, noReceipt(files[0], files[1])
	}
	var both [2]*receipt.Receipt
	for i, file := range files {
		r, err := p.readReceipt(file)
		if err != nil {
			return true, err
		}
		if d := r.Check(); d != nil {
			return true, p.differs(file, d, "in the file", "of its contents")
		}
		both[i] = r
	}
	d, err := receipt.Compare(both[0], both[1])
	switch {
	case err != nil:
		return true, err
	case d != nil:
		return true, p.differs("the first difference", d, files[0], files[1])
	}
	fmt.Fprintf(p.out, "the same: %s, root %v\n", both[0], both[0].Root())
	return true, nil
}

// differs prints a difference. Its error has no text, and makes the exit status 1.
func (p *program) differs(where string, d *receipt.Difference, a, b string) error {
	fmt.Fprintf(p.out, "%s: %s differs\n", label(where), oneLine(d.What, 1000))
	width := max(len([]rune(label(a))), len([]rune(label(b))))
	for _, side := range [][2]string{{a, d.A}, {b, d.B}} {
		text := oneLine(side[1], 500)
		if text == "" {
			text = "nothing"
		}
		fmt.Fprintf(p.out, "  %-*s  %s\n", width, label(side[0]), text)
	}
	return failures{}
}

// isReceipt reports whether a file is a receipt by its name and its keys; references of Zarr have that name, too.
func isReceipt(file string) (bool, error) {
	if !strings.EqualFold(filepath.Ext(file), ".json") {
		return false, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, disk.Bare(err))
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, receipt.MaxSize+2))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false, nil
	}
	for {
		key, err := d.Token()
		if err != nil || key == "kind" {
			return err == nil, nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false, nil
		}
	}
}

func noReceipt(is, isnt string) error {
	return fmt.Errorf("%s is a receipt, and %s isn't: diff compares two receipts, and ashlar verify compares one with a run of its model", is, isnt)
}
