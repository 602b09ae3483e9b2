package onnx

import (
	"strconv"

	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"google.golang.org/protobuf/encoding/protowire"
)

func (d *decoder) tensor(m wire.Message, t *TensorProto) error {
	t.from = d.from
	n, err := m.Scan()
	if err != nil {
		return err
	}
	if t.Dims, err = d.Int64s(m, 1); err != nil {
		return err
	}
	if err := d.Spend(int64(len(t.Dims)) * checkAxis); err != nil {
		return err
	}
	if t.Metadata, err = wire.List[Entry](&d.Limit, n[16], checkItem); err != nil {
		return err
	}
	entries, err := wire.List[Entry](&d.Limit, n[13], checkItem)
	if err != nil {
		return err
	}
	outside := false
	err = d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 2:
			var v int32
			v, err = f.Int32()
			t.Type = ElemType(v)
		case 3:
			t.Segment = true
		case 8:
			t.Name, err = d.Text(f)
		case rawField:
			var m wire.Message
			m, err = f.Message()
			t.Raw, t.rawAt = m.Bytes, m.At
		case 12:
			t.Doc, err = d.Text(f)
		case 13:
			entries, err = wire.Append(entries, f, d.entry)
		case 14:
			var v int64
			v, err = f.Int64()
			outside = v == 1
		case 16:
			t.Metadata, err = wire.Append(t.Metadata, f, d.entry)
		}
		return err
	})
	if err != nil {
		return err
	}
	if outside {
		if err := d.Spend(96); err != nil {
			return err
		}
		t.External, err = external(entries, d.folder)
		return err
	}
	for num := range n {
		if l, ok := lists[protowire.Number(num)]; ok && n[num] > 0 {
			if err := t.counted(m, protowire.Number(num), l.width); err != nil {
				return err
			}
		}
	}
	if t.list == stringField {
		return d.Spend(int64(len(m.Bytes)) + int64(t.count)*24)
	}
	// Loading allocates no more than this, by check.
	dt, _ := t.Type.DType()
	return d.Spend(int64(len(t.Raw))*int64(dt.PerByte()) + int64(t.count)*int64(dt.PerByte()*dt.Size()))
}

// counted notes the list num of m as the one that holds the elements, unless it is empty.
func (t *TensorProto) counted(m wire.Message, num protowire.Number, width int) error {
	var n int
	var err error
	if width < 0 {
		var f wire.Field
		for rest, ok := m, true; ok && err == nil; {
			if ok, err = rest.Next(&f); ok && f.Num == num {
				if n++; f.Type != protowire.BytesType {
					err = f.WrongType("a string")
				}
			}
		}
	} else {
		n, err = m.Numbers(num, width, nil)
	}
	switch {
	case err != nil || n == 0:
		return err
	case t.list != 0:
		return failf("elements stand both in %s and in %s", lists[t.list].name, lists[num].name)
	case len(t.Raw) > 0:
		return failf("elements stand both in raw_data and in %s", lists[num].name)
	}
	t.body, t.list, t.count, t.Raw = m, num, n, nil
	return nil
}

func external(entries []Entry, from *wire.Folder) (*External, error) {
	e := &External{Length: -1, Entries: entries, from: from}
	for _, kv := range entries {
		var err error
		switch kv.Key {
		case "location":
			e.Location = kv.Value
		case "offset":
			e.Offset, err = strconv.ParseInt(kv.Value, 10, 64)
		case "length":
			e.Length, err = strconv.ParseInt(kv.Value, 10, 64)
		}
		if err != nil || e.Offset < 0 || e.Length < -1 {
			return nil, failf("external_data: %s is %.40q, not a count of bytes", kv.Key, kv.Value)
		}
	}
	if e.Location == "" {
		return nil, failf("external_data names no location")
	}
	return e, nil
}

func (d *decoder) sparse(m wire.Message, s *SparseTensor) (err error) {
	if s.Dims, err = d.Int64s(m, 3); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		var to *TensorProto
		switch f.Num {
		case 1:
			to = &s.Values
		case 2:
			to = &s.Indices
		default:
			return nil
		}
		m, err := f.Message()
		if err != nil {
			return err
		}
		*to = TensorProto{}
		return d.tensor(m, to)
	})
}
