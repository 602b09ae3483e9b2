package wire

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// WriteNew writes a file that isn't there yet, to the disk.
func WriteNew(path string, put func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := put(f); err != nil {
		f.Close()
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// A DataFile is written beside a model, with the elements of its weights.
type DataFile struct {
	w  *bufio.Writer
	at int64
}

// NewDataFile returns a file that is written to w.
func NewDataFile(w io.Writer) *DataFile { return &DataFile{w: bufio.NewWriterSize(w, 1<<20)} }

// Put appends elements and returns where they start.
func (d *DataFile) Put(raw []byte) (at int64, err error) {
	align := int64(64)
	if len(raw) >= 1<<16 {
		align = 4096
	}
	if pad := (align - d.at%align) % align; pad > 0 {
		d.w.Write(make([]byte, pad)) // the writer keeps its first error
		d.at += pad
	}
	at = d.at
	_, err = d.w.Write(raw)
	d.at += int64(len(raw))
	return at, err
}

// Flush ends the file.
func (d *DataFile) Flush() error { return d.w.Flush() }

// Size is how many bytes the file has.
func (d *DataFile) Size() int64 { return d.at }
