package gguf

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
)

// The keys of a split model.
const (
	splitCount   = "split.count"
	splitNumber  = "split.no"
	splitTensors = "split.tensors.count"
)

var splitKeys = []string{splitCount, splitNumber, splitTensors}

// A Split limits the tensors of one file. The zero value is one file.
type Split struct {
	Tensors int   // the most tensors; 0: any number
	Bytes   int64 // the most bytes of elements, unless a file has a single tensor; 0: any number
}

// WriteSplit writes a model as Write does, in several files of one folder, and returns their paths: for m.gguf m-00001-of-00003.gguf and so on.
// The tensors keep their order. The first file has the metadata. Each file has its number, and the numbers of files and tensors, as llama.cpp
// writes them; keys of metadata for these numbers are left out. The files appear when all are whole. WriteSplit fails as Write does, and for more
// than 65,535 files.
func WriteSplit(path string, s Split, opts *format.WriteOptions, arrays ...format.Array) ([]string, error) {
	if opts == nil {
		opts = &format.WriteOptions{}
	}
	names, ts := formats.Apart(arrays)
	metadata := pairs(opts.Metadata)
	seen := make(map[string]bool, len(names))
	begins := []int{0} // of the files
	var bytes int64
	for i, t := range ts {
		if seen[names[i]] {
			return nil, fail(-1, names[i], format.ErrName, "the name is given twice")
		}
		seen[names[i]] = true
		n := int64(0)
		if TypeOf(t) != "" { // Write refuses other types
			n = int64(storedAs(t).bytes(t))
		}
		if first := begins[len(begins)-1]; i > first && (s.Tensors > 0 && i-first >= s.Tensors || s.Bytes > 0 && n > 0 && n > s.Bytes-bytes) {
			begins, bytes = append(begins, i), 0
		}
		bytes += n
	}
	count := len(begins)
	if count > math.MaxUint16 || len(ts) > MaxTensors {
		return nil, fail(-1, "", format.ErrLimit, "%d files of %d tensors; the most are %d and %d", count, len(ts), math.MaxUint16, MaxTensors)
	}
	metadata = slices.DeleteFunc(metadata, func(kv KV) bool { return slices.Contains(splitKeys, kv.Key) })
	metadata = blocksIn(ts, metadata)
	paths := make([]string, count)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s-%05d-of-%05d.gguf", strings.TrimSuffix(path, ".gguf"), i+1, count)
	}
	begins = append(begins, len(ts))
	return paths, disk.Atomic{Force: opts.Force, Begun: opts.Begun}.Files(paths, func(i int, w io.Writer) error {
		from, to := begins[i], begins[i+1]
		kv := []KV{{splitNumber, uint16(i)}, {splitCount, uint16(count)}, {splitTensors, int32(len(ts))}}
		if i == 0 {
			kv = slices.Concat(metadata, kv)
		}
		return Write(w, names[from:to], ts[from:to], kv)
	})
}
