package gguf

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A KV is a key of the metadata with its value, of a type that [File.Value] returns.
type KV struct {
	Key   string
	Value any
}

// The key and value in files with blocks.
const (
	blocksKey     = "general.quantization_version"
	blocksVersion = uint32(2)
)

// Write writes ts[i] under names[i], in their order, as version 3. The file has the keys of metadata in their order, and behind
// them general.quantization_version if a tensor has blocks. Tensors begin at multiples of 32, or of metadata's general.alignment. That is a
// multiple of 8, at most 1 GiB.
//
// Plain elements are written row-major for every layout, and a pack.Tensor as its blocks. Write fails with w's error, and for:
//   - a type that the format doesn't have, such as bool and complex64
//   - a tensor that is padded, has more than MaxRank axes, or has no elements of its own
//   - a name or a key twice
//   - a value of another type
func Write(w io.Writer, names []string, ts []tensor.Any, metadata []KV) error {
	switch {
	case len(names) != len(ts):
		return fail(-1, "", format.ErrName, "%d names for %d tensors", len(names), len(ts))
	case w == nil || slices.ContainsFunc(ts, tensor.Any.IsZero):
		return fail(-1, "", format.ErrType, "the writer is nil or a tensor the zero value")
	case len(ts) > MaxTensors || len(metadata) >= MaxKeys:
		return fail(-1, "", format.ErrLimit, "%d tensors and %d keys; the most are %d and %d", len(ts), len(metadata), MaxTensors, MaxKeys-1)
	}
	kinds := make([]*kind, len(ts))
	for i, t := range ts {
		k := storedAs(t)
		switch {
		case k == nil:
			return fail(-1, names[i], format.ErrType, "%s is no type of the format; convert the tensor first", described(t))
		case t.Rank() > MaxRank:
			return fail(-1, names[i], format.ErrLimit, "rank %d; the largest is %d: reshape the tensor", t.Rank(), MaxRank)
		}
		kinds[i] = k
	}
	head, align, err := headOf(len(ts), blocksIn(ts, metadata))
	if err != nil {
		return err
	}
	seen := make(map[string]bool, len(names))
	at := 0
	sizes := make([]int, len(ts))
	for i, t := range ts {
		if seen[names[i]] || len(names[i]) > maxName {
			return fail(-1, names[i], format.ErrName, "the name is given twice, or is longer than %d bytes", maxName)
		}
		seen[names[i]] = true
		head = appendText(head, names[i])
		shape := t.Shape()
		head = binary.LittleEndian.AppendUint32(head, uint32(len(shape)))
		for _, n := range slices.Backward(shape) {
			head = binary.LittleEndian.AppendUint64(head, uint64(n))
		}
		head = binary.LittleEndian.AppendUint32(head, kinds[i].code)
		head = binary.LittleEndian.AppendUint64(head, uint64(at))
		sizes[i] = kinds[i].bytes(t)
		if sizes[i] > math.MaxInt-at-align {
			return fail(-1, names[i], format.ErrLimit, "the file would be larger than the address space")
		}
		at = (at + sizes[i] + align - 1) / align * align
	}
	out := &aligned{w: bufio.NewWriterSize(w, 64<<10), align: align}
	out.Write(head)
	out.pad()
	for i, t := range ts {
		var err error
		if e := tensor.Try(func() { err = encode(out, t) }); e != nil {
			err = e // the tensor is closed, or the zero value
		}
		if err != nil {
			return fail(-1, names[i], err, "writing %s: %v", tensor.Describe(t), err)
		}
		out.pad()
	}
	if err := out.w.Flush(); err != nil {
		return fail(-1, "", err, "writing: %v", err)
	}
	return nil
}

// WriteFile is Write to a file. The file appears, or replaces an earlier one, when it is
// whole; after an error the earlier file is unchanged.
func WriteFile(path string, names []string, ts []tensor.Any, metadata []KV) error {
	return formats.PutFile(path, func(w io.Writer) error { return Write(w, names, ts, metadata) })
}

// blocksIn adds the key of blocks to metadata if a tensor has them.
func blocksIn(ts []tensor.Any, metadata []KV) []KV {
	blocks := func(t tensor.Any) bool { return TypeOf(t) != "" && storedAs(t).format != nil }
	if slices.ContainsFunc(ts, blocks) && !slices.ContainsFunc(metadata, func(kv KV) bool { return kv.Key == blocksKey }) {
		metadata = append(slices.Clip(metadata), KV{blocksKey, blocksVersion})
	}
	return metadata
}

// headOf writes the header up to the tensors.
func headOf(tensors int, metadata []KV) (b []byte, align int, err error) {
	b, align = append(b, magic...), alignment
	b = binary.LittleEndian.AppendUint32(b, 3)
	b = binary.LittleEndian.AppendUint64(b, uint64(tensors))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(metadata)))
	seen := make(map[string]bool, len(metadata))
	for _, kv := range metadata {
		if seen[kv.Key] || len(kv.Key) > maxName {
			return nil, 0, fail(-1, kv.Key, format.ErrName, "the key is given twice, or is longer than %d bytes", maxName)
		}
		seen[kv.Key] = true
		if kv.Key == alignKey {
			n, ok := kv.Value.(uint32)
			if !ok || !aligns(n) {
				return nil, 0, fail(-1, kv.Key, format.ErrFormat, "%v of Go type %[1]T; want a uint32, a multiple of 8 from 8 to 2^30", kv.Value)
			}
			align = int(n)
		}
		b = appendText(b, kv.Key)
		var e error
		if b, e = appendValue(b, kv.Value, 0); e != nil {
			return nil, 0, fail(-1, kv.Key, format.ErrType, "%v", e)
		}
	}
	return b, align, nil
}

func described(t tensor.Any) string {
	if p, ok := t.Foreign().(pack.Tensor); ok {
		return p.Spec.String()
	}
	return tensor.Describe(t)
}

// encode writes the elements of a tensor.
func encode(w io.Writer, t tensor.Any) error {
	p, packed := t.Foreign().(pack.Tensor)
	if !packed {
		return tensor.Encode(w, t)
	}
	data, err := p.Data()
	if err != nil {
		return err
	}
	b, _ := tensor.Bytes(data)
	_, err = w.Write(b)
	runtime.KeepAlive(data)
	return err
}

// aligned counts the bytes that it writes. It may ignore errors, since w keeps its first one.
type aligned struct {
	w     *bufio.Writer
	n     int
	align int
}

func (a *aligned) Write(b []byte) (int, error) {
	n, err := a.w.Write(b)
	a.n = (a.n + n) % a.align
	return n, err
}

// pad writes zeros up to a multiple of align.
func (a *aligned) pad() {
	for a.n != 0 {
		if _, err := a.Write(zeros[:min(len(zeros), a.align-a.n)]); err != nil {
			return // Flush returns the error
		}
	}
}

var zeros [4096]byte
