package safetensors

import (
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// sharded is an open index: the tensors of several safetensors files, its shards,
// under one name each. A shard is opened when one of its tensors is first used.
type sharded struct {
	path     string
	weights  []weight // in the index's order
	byName   []int32  // indices in weights, sorted by name
	shards   []string // the files' names
	metadata map[string]string

	mu     sync.Mutex
	files  []*File // one for each shard, nil until it is opened
	closed bool
}

// weight is an entry of weight_map.
type weight struct {
	name  string
	shard int32 // index in shards
	at    int32 // where the shard's name stands in the index's text
}

// MaxShards is the largest number of files an index may name.
const MaxShards = 1 << 16

// OpenIndex reads an index such as model.safetensors.index.json: a JSON object
// whose weight_map has the file of each tensor, beside the index or in folders
// below it. OpenIndex refuses absolute names and names with .., also names that only
// other systems would read so. It follows symbolic links, since download caches use
// them. It opens no shard yet: a shard is opened when one of its tensors is first used,
// also by Info. Close closes the shards.
//
// The form of the index: github.com/huggingface/transformers, where
// save_pretrained writes it.
func OpenIndex(path string) (*File, error) {
	// Opening a pipe waits for its other end, so look first.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = mem.ErrNotFile
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, formats.Within(path, fail(-1, "", err, "%v", disk.Bare(err)))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxHeader+1))
	switch {
	case err != nil:
		return nil, formats.Within(path, fail(-1, "", err, "%v", disk.Bare(err)))
	case len(text) > MaxHeader:
		return nil, formats.Within(path, fail(-1, "", format.ErrLimit, "an index of more than %d bytes, the most that is accepted", MaxHeader))
	}
	s, failed := parseIndex(text)
	if failed != nil {
		return nil, formats.Within(path, failed)
	}
	s.path = path
	return &File{index: s}, nil
}

// parseIndex reads and checks the text of an index.
func parseIndex(text []byte) (*sharded, *format.Error) {
	const least = 10 // bytes of an entry; shorter ones make weights grow once
	x := &sharded{weights: make([]weight, 0, len(text)/least)}
	files := map[string]int32{}
	s := &scanner{text: text, what: "index"}
	var seen struct{ metadata, weights bool }
	err := s.object("the index", func(at int, key []byte) *format.Error {
		again := &seen.weights
		switch string(key) {
		case "metadata":
			again = &seen.metadata
		case "weight_map":
		default:
			return s.fail(at, format.ErrFormat, "the key %.100q; an index has metadata and weight_map", key)
		}
		if *again {
			return s.fail(at, format.ErrFormat, "the key %q a second time", key)
		}
		if *again = true; again == &seen.metadata {
			return x.readMetadata(s)
		}
		return s.object("weight_map", func(at int, name []byte) *format.Error { return x.readWeight(s, string(name), files) })
	})
	if err == nil {
		if s.space(); s.pos < len(text) {
			err = s.fail(s.pos, format.ErrFormat, "%s after its end", s.found())
		} else if !seen.weights {
			err = s.fail(0, format.ErrFormat, "the key weight_map is missing")
		}
	}
	if err != nil {
		return nil, err
	}
	x.byName = make([]int32, len(x.weights))
	for i := range x.byName {
		x.byName[i] = int32(i)
	}
	slices.SortStableFunc(x.byName, func(a, b int32) int { return cmp.Compare(x.weights[a].name, x.weights[b].name) })
	for i := 1; i < len(x.byName); i++ {
		if w := x.weights[x.byName[i]]; w.name == x.weights[x.byName[i-1]].name {
			return nil, s.fail(int(w.at), format.ErrFormat, "the tensor %.100q a second time", w.name)
		}
	}
	x.files = make([]*File, len(x.shards))
	return x, nil
}

// readMetadata keeps text values unchanged, and other values as JSON.
func (x *sharded) readMetadata(s *scanner) *format.Error {
	x.metadata = map[string]string{}
	return s.object("metadata", func(at int, key []byte) *format.Error {
		if _, twice := x.metadata[string(key)]; twice {
			return s.fail(at, format.ErrFormat, "metadata: the key %.100q a second time", key)
		}
		if len(x.metadata) == MaxMetadata {
			return s.fail(at, format.ErrLimit, "metadata: more than %d keys", MaxMetadata)
		}
		var value string
		if s.pos < len(s.text) && s.text[s.pos] == '"' {
			v, err := s.str("a value of ", "metadata")
			if err != nil {
				return err
			}
			value = string(v)
		} else {
			v := s.any()
			if !json.Valid(v) {
				return s.fail(s.pos, format.ErrFormat, "metadata: the value of %.100q is no JSON", key)
			}
			s.pos += len(v)
			value = string(v)
		}
		x.metadata[string(key)] = value
		return nil
	})
}

func (x *sharded) readWeight(s *scanner, name string, files map[string]int32) *format.Error {
	at := s.pos
	file, err := s.str("a file of ", "weight_map")
	if err != nil {
		return err
	}
	i, ok := files[string(file)]
	if !ok {
		if !below(string(file)) {
			return s.fail(at, format.ErrFormat, "the tensor %.100q is said to be in %.100q; a shard lies beside its index or below it", name, file)
		}
		if len(x.shards) == MaxShards {
			return s.fail(at, format.ErrLimit, "more than %d files", MaxShards)
		}
		i = int32(len(x.shards))
		x.shards = append(x.shards, string(file))
		files[string(file)] = i
	}
	x.weights = append(x.weights, weight{name, i, int32(at)})
	return nil
}

// below reports whether a path stays in its folder on every system: its elements are
// separated by /, and none is . or .. or empty.
func below(path string) bool {
	return path != "." && fs.ValidPath(path) && filepath.IsLocal(path) && !strings.ContainsAny(path, "\\:\x00")
}

// Shards returns the names of the files of an index as it has them, in the order of
// their first use; nil for a file that OpenIndex didn't open.
func (f *File) Shards() []string {
	if f.index == nil {
		return nil
	}
	return slices.Clone(f.index.shards)
}

func (x *sharded) names() []string {
	names := make([]string, len(x.weights))
	for i, w := range x.weights {
		names[i] = w.name
	}
	return names
}

// file returns the shard of a tensor, and an error if the shard doesn't have the tensor.
func (x *sharded) file(name string) (*File, error) {
	i, ok := slices.BinarySearchFunc(x.byName, name, func(i int32, name string) int { return cmp.Compare(x.weights[i].name, name) })
	if !ok {
		return nil, formats.Within(x.path, fail(-1, name, format.ErrName, "the index has no such tensor; Names lists the %d it has", len(x.weights)))
	}
	w := x.weights[x.byName[i]]
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, formats.Within(x.path, fail(-1, name, tensor.ErrClosed, "the index is closed"))
	}
	f, shard := x.files[w.shard], x.shards[w.shard]
	if f == nil {
		var err error
		if f, err = Open(filepath.Join(filepath.Dir(x.path), filepath.FromSlash(shard))); err != nil {
			return nil, err
		}
		x.files[w.shard] = f
	}
	if _, ok := f.byName[name]; !ok {
		return nil, formats.Within(x.path, fail(int64(w.at), name, format.ErrName, "the shard %.100q doesn't have it; it has %d others", shard, len(f.byName)))
	}
	return f, nil
}

// close closes the shards and so every tensor of them.
func (x *sharded) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	var first error
	for _, f := range x.files {
		if f == nil {
			continue
		}
		if err := f.Close(); first == nil {
			first = err
		}
	}
	return first
}
