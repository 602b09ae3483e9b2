// Package job describes a computation on chunked arrays as plain data: an expression, the addresses of its arrays, and
// where the result goes. Another process makes the plan again from the same Job: the plans are equal, so
// that workers on many machines need the Job and the number of a task alone.
package job

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/disk"
)

// A Job is a computation. It goes through encoding/json and back without change, but for Open.
//
// An address is the path of a Zarr folder, of a zip file of one, of kerchunk's references or of an npy file, or a URL of http, https or a scheme
// that zarr.RegisterScheme knows; #group/array behind
// it names an array within, which an address needs unless the array is at the root or alone. Paths are relative to
// the working folder: jobs for other machines have absolute ones.
type Job struct {
	Expr   string            `json:"expr"`             // for chunk.Parse
	Inputs map[string]string `json:"inputs"`           // the address of each array that Expr names
	Out    string            `json:"out,omitempty"`    // the address of the result, a folder
	Memory int64             `json:"memory,omitempty"` // the most bytes that a task holds; 0: 1 GiB
	Chunks []int             `json:"chunks,omitempty"` // of the result; nil: the chunks of the expression
	Codec  string            `json:"codec,omitempty"`  // zstd, gzip, with a level as in zstd:9, or none; "": zstd
	Work   string            `json:"work,omitempty"`   // the folder or URL for the arrays between stages; "": Out

	Unfinished bool `json:"unfinished,omitempty"` // reads inputs that aren't finished: an element that isn't written yet is the fill value

	CF bool `json:"cf,omitempty"` // decodes inputs by the CF conventions, as zarr's CF

	Hosts []string `json:"hosts,omitempty"` // that references within files may lead to

	// Open, unless it is nil, opens the stores of URLs other than http and https; nil: zarr.RegisterScheme says how.
	Open func(ctx context.Context, address string) (zarr.Store, error) `json:"-"`
}

// ErrAddress says that an address can't serve as the argument it is given for.
var ErrAddress = errors.New("address")

// Array opens the inputs and returns the array of the expression. Files stay open as long as the array is used.
// A plan knows an input by its absolute address and its state, as zarr's State tells it: an input that has changed makes another
// plan. An npy file's state is its size and time.
func (j Job) Array(ctx context.Context) (chunk.Array, error) {
	vars, opened := make(map[string]chunk.Array), make(map[string]chunk.Array)
	for _, name := range slices.Sorted(maps.Keys(j.Inputs)) {
		label, a, err := j.input(ctx, j.Inputs[name])
		if err != nil {
			return chunk.Array{}, fmt.Errorf("input %s, %s: %w", name, zarr.PlainURL(j.Inputs[name]), err)
		}
		if _, twice := opened[label]; !twice {
			opened[label] = chunk.From(label, a)
		}
		vars[name] = opened[label]
	}
	a, err := chunk.Parse(j.Expr, vars)
	if err == nil && j.Chunks != nil {
		a = chunk.Rechunk(a, j.Chunks...)
		err = a.Err()
	}
	return a, err
}

// Plan opens the inputs and plans the result. It makes the folder of Out and the one of Work if they aren't there, and writes nothing.
func (j Job) Plan(ctx context.Context) (*chunk.Plan, error) {
	a, err := j.Array(ctx)
	if err != nil {
		return nil, err
	}
	folder, path := split(j.Out)
	var made []string
	store, err := j.output(ctx, folder, &made)
	var p *chunk.Plan
	if err == nil {
		p, err = j.to(ctx, a, store, path, &made)
	} else {
		err = fmt.Errorf("%s: %w", folder, err)
	}
	if err != nil {
		for _, f := range made {
			os.Remove(f) // it is empty
		}
	}
	return p, err
}

// To plans the result as an array at a path of a store, in place of Out. The plan is the same but for the path.
func (j Job) To(ctx context.Context, store zarr.Store, path string) (*chunk.Plan, error) {
	a, err := j.Array(ctx)
	if err != nil {
		return nil, err
	}
	var made []string
	return j.to(ctx, a, store, path, &made)
}

func (j Job) to(ctx context.Context, a chunk.Array, store zarr.Store, path string, made *[]string) (*chunk.Plan, error) {
	codecs, err := codecsOf(j.Codec)
	if err != nil {
		return nil, err
	}
	o := chunk.Options{Memory: j.Memory}
	if j.Work != "" {
		if o.Work, err = j.output(ctx, j.Work, made); err != nil {
			return nil, fmt.Errorf("%s: %w", j.Work, err)
		}
	}
	t := chunk.Target{Array: a, Store: store, Path: path, Codecs: codecs}
	if j.Expr != "" {
		t.Attributes = map[string]any{"ashlar_expr": j.Expr}
	}
	return chunk.NewPlan(&o, t)
}

func codecsOf(text string) ([]zarr.Codec, error) {
	name, number, leveled := strings.Cut(cmp.Or(text, "zstd"), ":")
	level := map[string]int{"zstd": 3, "gzip": 6}[name]
	if leveled {
		var err error
		if level, err = strconv.Atoi(number); err != nil || name == "none" {
			return nil, fmt.Errorf("the codec %.40q: want zstd, gzip, either with a level as zstd:9, or none", text)
		}
	}
	switch name {
	case "none":
		return []zarr.Codec{zarr.Bytes(binary.LittleEndian)}, nil
	case "zstd":
		c := zarr.Zstd(level)
		c.Configuration["checksum"] = true
		return []zarr.Codec{zarr.Bytes(binary.LittleEndian), c}, nil
	case "gzip":
		return []zarr.Codec{zarr.Bytes(binary.LittleEndian), zarr.Gzip(level)}, nil
	}
	return nil, fmt.Errorf("the codec %.40q: want zstd, gzip, either with a level as zstd:9, or none", text)
}

// split takes the name of an array off an address: behind the first # of a URL, and behind the last # that a file which is
// there has before it. Both may have # in their names.
func split(address string) (store, array string) {
	if zarr.Scheme(address) != "" {
		store, array, _ = strings.Cut(address, "#")
		return store, array
	}
	for i := len(address); i > 0; i = strings.LastIndexByte(address[:i], '#') {
		if _, err := os.Lstat(address[:i]); err == nil {
			return address[:i], strings.TrimPrefix(address[i:], "#")
		}
	}
	if i := strings.LastIndexByte(address, '#'); i >= 0 {
		return address[:i], address[i+1:]
	}
	return address, ""
}

// remote opens the store of a URL.
func (j Job) remote(ctx context.Context, address string) (zarr.Store, error) {
	if s := zarr.Scheme(address); j.Open != nil && s != "http" && s != "https" {
		return j.Open(ctx, address)
	}
	store, err := zarr.URL(ctx, address)
	if errors.Is(err, zarr.ErrScheme) {
		err = fmt.Errorf("%w: %w", ErrAddress, err)
	}
	return store, err
}

// input opens an input, and returns its absolute address with its state.
func (j Job) input(ctx context.Context, address string) (string, *zarr.Array, error) {
	at, name := split(address)
	var store zarr.Store
	var err error
	if zarr.Scheme(at) != "" {
		store, err = j.remote(ctx, at)
	} else if store, err = local(ctx, at, j.Hosts); store != nil {
		if n, ok := store.(*npyStore); ok && name != "" {
			n.f.Close()
			return "", nil, fmt.Errorf("%w: #%s names an array of a Zarr group; an npy file holds one array", ErrAddress, name)
		}
		at = absolute(at)
	}
	if err != nil {
		return "", nil, err
	}
	// A task is one goroutine; the plan counts the chunks that it reads at once.
	o := &zarr.Options{Workers: 1, Unfinished: j.Unfinished, CF: j.CF}
	mark := ""
	if j.CF {
		mark = " cf"
	}
	a, err := zarr.Open(ctx, store, name, o)
	if err != nil && name == "" {
		name, a, err = alone(ctx, store, err, o)
	}
	if err != nil {
		return "", nil, err
	}
	state, err := a.State(ctx)
	if plain := zarr.PlainURL(at); plain != at { // its query tells it from other inputs, and may be a secret
		at = fmt.Sprintf("%s?%x", plain, sha256.Sum256([]byte(at)))
	}
	return fmt.Sprintf("%s#%s %s%s", at, strings.Trim(name, "/"), state, mark), a, err
}

// absolute is the path from the root of the file system, without links.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// alone opens the one array of the group at the root of a store.
func alone(ctx context.Context, store zarr.Store, no error, o *zarr.Options) (string, *zarr.Array, error) {
	if !errors.Is(no, zarr.ErrNode) && !errors.Is(no, fs.ErrNotExist) {
		return "", nil, no // of an array that can't be read
	}
	g, err := zarr.OpenGroup(ctx, store, "")
	if errors.Is(err, fs.ErrNotExist) {
		err = no
	}
	if err != nil {
		return "", nil, err
	}
	names, err := g.Arrays(ctx)
	switch {
	case err != nil:
		return "", nil, err
	case len(names) == 1:
		a, err := g.Open(ctx, names[0], o)
		return names[0], a, err
	case len(names) > 12:
		names = append(names[:12], "…")
	}
	return "", nil, fmt.Errorf("%w: a group; name one of its arrays behind a #: %s", ErrAddress, strings.Join(names, ", "))
}

// local opens the store of a path.
func local(ctx context.Context, path string, hosts []string) (zarr.Store, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, disk.Bare(err)
	}
	if info.IsDir() {
		return zarr.Dir(path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is no regular file; a Zarr folder, a zip file of one, or an npy file is read", ErrAddress)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.Bare(err)
	}
	var magic [6]byte
	f.ReadAt(magic[:], 0)
	var store zarr.Store
	switch {
	case string(magic[:]) == "\x93NUMPY":
		var n *npyStore
		if n, err = newNpyStore(ctx, f, info.Size(), npyChunk); err == nil {
			store = n
		}
	case string(magic[:2]) == "PK", magic[0] == '{':
		store, err = zarr.FileStore(f, info.Size(), filepath.Dir(path), hosts)
	default:
		err = fmt.Errorf("%w: it is none of the files that are read by parts: Zarr folders, zip files of them, references, and npy", ErrAddress)
	}
	if err != nil {
		f.Close()
	}
	return store, err
}

// output opens the store that is written to, and notes the folder if it makes one.
func (j Job) output(ctx context.Context, address string, made *[]string) (zarr.Store, error) {
	switch s := zarr.Scheme(address); {
	case address == "":
		return nil, fmt.Errorf("%w: there is none for the result", ErrAddress)
	case s == "http" || s == "https":
		return nil, fmt.Errorf("%w: a URL of %s is read only", ErrAddress, s)
	case s != "":
		return j.remote(ctx, address)
	}
	info, err := os.Stat(address)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%w: it is a file; the result is a folder", fs.ErrExist)
	case errors.Is(err, fs.ErrNotExist):
		if err = os.Mkdir(address, 0o777); err != nil && !errors.Is(err, fs.ErrExist) { // two workers at once
			return nil, disk.Bare(err)
		}
		*made = append(*made, address)
	case err != nil:
		return nil, disk.Bare(err)
	default:
		if err := foreign(address); err != nil {
			return nil, err
		}
	}
	return zarr.Dir(address)
}

// foreign refuses a folder that holds something else than Zarr.
func foreign(folder string) error {
	list, err := os.ReadDir(folder)
	if err != nil {
		return disk.Bare(err)
	}
	for _, e := range list {
		name := e.Name()
		if strings.HasPrefix(name, "ashlar-") || slices.Contains([]string{"zarr.json", ".zgroup", ".zarray"}, name) {
			return nil
		}
		if _, err := os.Stat(filepath.Join(folder, name, "zarr.json")); err == nil {
			return nil
		}
	}
	if len(list) > 0 {
		return fmt.Errorf("%w: a folder of other files; take a new one, or an empty one", fs.ErrExist)
	}
	return nil
}
