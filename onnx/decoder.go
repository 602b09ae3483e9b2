package onnx

import (
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
)

// A decoder decodes the messages of a file.
type decoder struct {
	wire.Limit
	graphs int          // how many graphs stand around the message that is decoded
	from   *mem.Buffer  // the buffer of the bytes; nil for a program's own
	folder *wire.Folder // of the file

	strings *text.Table // of the values that are decoded
}

func newDecoder(size int) *decoder { return &decoder{Limit: wire.NewLimit(size)} }

func (d *decoder) entry(m wire.Message, e *Entry) error {
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			e.Key, err = d.Text(f)
		case 2:
			e.Value, err = d.Text(f)
		}
		return err
	})
}

func (d *decoder) opset(m wire.Message, o *Opset) error {
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			o.Domain, err = d.Text(f)
		case 2:
			o.Version, err = f.Int64()
		}
		return err
	})
}

// The bytes that a check needs besides the structures, per node or attribute, per name of a value and per axis; paid for while decoding.
// The budget is for nodes, so other messages of a list are paid for beyond their size: without content, they would fill it.
const (
	checkItem  = 256
	checkNode  = 256
	checkValue = 384
	checkAxis  = 32 // of a stored tensor
)
