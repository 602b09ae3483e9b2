package zarr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// unfinishedField is the field of zarr.json that marks an array as unfinished. The specification of version 3 forbids a program that
// doesn't know the field to read the array.
const unfinishedField = "ashlar_unfinished"

type unfinished struct {
	Must bool   `json:"must_understand"`
	By   string `json:"by"`
}

// newFinished is newArray for an array that is opened.
func newFinished(s Store, p string, m Metadata, o *Options) (*Array, error) {
	a, err := newArray(s, p, m, o)
	if err == nil && m.Unfinished != "" && !a.set.Unfinished {
		return nil, fail(ErrUnfinished, "the array isn't finished: %.100q is writing it, or was interrupted; resume that, or read it as it is by the option Unfinished", m.Unfinished)
	}
	return a, err
}

// Finish removes the mark of an array that was created with Metadata.Unfinished: all its chunks are
// written, and it is read like any other from then on. In a folder it first waits until the disk has the names of the chunks. If there
// is no mark, it does nothing.
func (a *Array) Finish(ctx context.Context) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	if a.meta.Version == 2 {
		return nil
	}
	key := path.Join(a.path, "zarr.json")
	b, err := read(ctx, a.store, key)
	var fields map[string]json.RawMessage
	if err == nil {
		fields, err = fieldsOf(b)
	}
	if _, marked := fields[unfinishedField]; err == nil && !marked {
		return nil
	}
	if s, ok := a.store.(interface {
		sync(ctx context.Context, p string) error
	}); ok && err == nil {
		err = s.sync(ctx, a.path)
	}
	if err == nil {
		err = setWithout(ctx, a.store, key, fields, unfinishedField)
	}
	return at(key, err)
}

// setWithout writes the fields of a document of metadata except one, with unchanged text.
func setWithout(ctx context.Context, s Store, key string, fields map[string]json.RawMessage, field string) error {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != field {
			text, _ := json.Marshal(name)
			fmt.Fprintf(&b, ",\n  %s: %s", text, fields[name])
		}
	}
	return s.Set(ctx, key, fmt.Appendf(nil, "{%s\n}\n", bytes.TrimPrefix(b.Bytes(), []byte(","))))
}

// forget removes the consolidated metadata of groups above a path if it has an array or a group at the path. Several programs may do
// that at once, since all write the same.
func forget(ctx context.Context, s Store, p string) error {
	const field = "consolidated_metadata"
	for above := p; above != ""; {
		if above = path.Dir(above); above == "." {
			above = ""
		}
		key := path.Join(above, "zarr.json")
		b, err := read(ctx, s, key)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var fields, list map[string]json.RawMessage
		if err == nil {
			fields, err = fieldsOf(b)
		}
		if raw := fields[field]; err == nil && len(raw) > 0 && string(raw) != "null" {
			list, _ = members(raw) // OpenGroup reports an error here
		}
		if _, stale := list[strings.TrimPrefix(strings.TrimPrefix(p, above), "/")]; err == nil && stale {
			err = setWithout(ctx, s, key, fields, field)
		}
		if err != nil {
			return at(key, err)
		}
	}
	return nil
}
