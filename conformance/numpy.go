package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// numpyAreas runs a case of an area; areas without a runner are unsupported.
var numpyAreas = map[string]func(raw json.RawMessage, folder string) (name string, run func() error, err error){
	"views": arrayViews, "reshape": arrayViews, "npy": npyFile, "format": printed,
	"broadcast": numpyOp, "reduce": numpyOp, "select": numpyOp, "linalg": numpyOp, "cast": numpyOp, "intops": numpyOp, "floatops": numpyOp,
}

// runNumPy runs the goldens of NumPy, each area as one operation.
func runNumPy(r *report) error {
	return r.cases(func(path, area string, _ []byte, cases []json.RawMessage) error {
		read := numpyAreas[area]
		switch {
		case !r.wants(area):
			return nil
		case read == nil:
			r.unsupportedFile(area, len(cases))
			return nil
		}
		for _, raw := range cases {
			name, run, err := read(raw, filepath.Dir(path))
			if err != nil {
				return fmt.Errorf("%s: %v: %.200s", path, err, raw)
			}
			r.judge(area, name, run)
		}
		return nil
	})
}

// npyCase is a file, and the array that NumPy reads from it.
type npyCase struct {
	File    string
	Bytes   int64
	OK      bool
	Array   *array
	Arrays  map[string]*array
	Version []int
	Descr   string
	Fortran *bool `json:"fortran_order"`

	DType string          // beside an exotic array; its elements are not compared
	Shape []int           // the same
	Error json.RawMessage // OK says it
}

func npyFile(raw json.RawMessage, folder string) (string, func() error, error) {
	c := new(npyCase)
	if err := strict(raw, c); err != nil {
		return "", nil, err
	}
	path := filepath.Join(folder, filepath.FromSlash(c.File))
	return c.File, func() error { return c.run(path) }, nil
}

func (c *npyCase) run(path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() != c.Bytes {
		return fmt.Errorf("%s: not the file of %d bytes that the case describes (%v)", path, c.Bytes, err)
	}
	switch {
	case !c.OK:
		return refused(path)
	case c.Arrays != nil:
		return c.zip(path)
	case c.Array == nil:
		// NumPy reads it as raw bytes; refusing it is as right, and what reading
		// it should give nobody says.
		if err := refused(path); err != nil {
			return unsupported{err.Error()}
		}
		return nil
	}
	want, err := c.Array.tensor()
	if err != nil {
		if e := refused(path); e != nil {
			return e
		}
		return err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	h, err := npy.ReadHeader(bytes.NewReader(file), nil)
	if err != nil {
		return err
	}
	if c.Version != nil && (h.Version != c.Version[0] || h.Descr != c.Descr || c.Fortran == nil || h.Fortran != *c.Fortran) {
		return fmt.Errorf("the header says version %d, %s, Fortran order %t", h.Version, h.Descr, h.Fortran)
	}
	if !slices.Equal(h.Shape, want.Shape()) || h.DType != want.DType() {
		return fmt.Errorf("the header says %s%v", h.DType, h.Shape)
	}
	opened, err := npy.Open(path, nil)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := compare(opened, want, exactly); err != nil {
		return fmt.Errorf("npy.Open: %w", err)
	}
	got, err := npy.Read(bytes.NewReader(file), nil)
	if err != nil {
		return err
	}
	if err := compare(got, want, exactly); err != nil {
		return fmt.Errorf("npy.Read: %w", err)
	}
	var again bytes.Buffer
	if err := npy.Write(&again, got, &npy.WriteOptions{Fortran: h.Fortran}); err != nil {
		return err
	}
	if h.Version == 1 && !h.BigEndian && c.Version != nil && !bytes.Equal(again.Bytes(), file) {
		return errors.New("npy.Write doesn't make the file that was read")
	}
	return nil
}

func (c *npyCase) zip(path string) error {
	z, err := npy.OpenZip(path, nil)
	if err != nil {
		return err
	}
	defer z.Close()
	if len(z.Names()) != len(c.Arrays) {
		return fmt.Errorf("the archive has %q", z.Names())
	}
	for name, a := range c.Arrays {
		want, err := a.tensor()
		if err != nil {
			return err
		}
		got, err := z.Tensor(name)
		if err != nil {
			return err
		}
		if err := compare(got, want, exactly); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// refused returns an error unless a file is refused in every way of reading it,
// with little memory.
func refused(path string) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	arena := held()
	for how, read := range map[string]func() (tensor.Any, error){
		"Open": func() (tensor.Any, error) { return npy.Open(path, nil) },
		"Read": func() (tensor.Any, error) { return npy.Read(bytes.NewReader(file), nil) },
	} {
		a, err := read()
		if err == nil {
			return fmt.Errorf("%s accepts it as %s", how, tensor.Describe(a))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	runtime.ReadMemStats(&after)
	if n := int64(after.TotalAlloc-before.TotalAlloc) + held() - arena; n > 4<<20 {
		return fmt.Errorf("refused after allocating %.1f MiB", mib(n))
	}
	return nil
}

// held returns the bytes that the arena has taken.
func held() int64 {
	u := mem.Stats()
	return u.Live + u.Free
}
