package zarr

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Group is a group of a store: arrays and groups by name.
type Group struct {
	store      Store
	path       string
	version    int
	attributes map[string]any
	members    map[string]json.RawMessage // consolidated metadata by path below the group; nil: none
}

// groupDocument is zarr.json of a group.
type groupDocument struct {
	Format       int            `json:"zarr_format"`
	Node         string         `json:"node_type"`
	Attributes   map[string]any `json:"attributes,omitempty"`
	Consolidated *consolidated  `json:"consolidated_metadata,omitempty"`
}

// consolidated is the metadata of all members, as zarr-python 3 writes it.
type consolidated struct {
	Kind     string                     `json:"kind"`
	Must     bool                       `json:"must_understand"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// OpenGroup opens the group at a path of the store, "" for its root. An array of version 3 there is an error
// that wraps ErrNode.
func OpenGroup(ctx context.Context, s Store, p string) (*Group, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	p, err := place(s, p)
	if err != nil {
		return nil, err
	}
	g := &Group{store: s, path: p, version: 3}
	key := path.Join(g.path, "zarr.json")
	b, err := read(ctx, s, key)
	if errors.Is(err, fs.ErrNotExist) {
		return g.open2(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	fields, err := node(b, "group")
	if err == nil {
		g.attributes, err = attributesOf(fields["attributes"])
		err = within("attributes", err)
	}
	if raw := fields["consolidated_metadata"]; err == nil && len(raw) > 0 && string(raw) != "null" {
		g.members, err = members(raw)
		err = within("consolidated_metadata", err)
	}
	if err != nil {
		return nil, at(key, err)
	}
	return g, nil
}

// members reads consolidated metadata. It returns nil if its kind isn't known and needn't be understood.
func members(raw json.RawMessage) (map[string]json.RawMessage, error) {
	fields, err := fieldsOf(raw)
	if err != nil {
		return nil, err
	}
	var kind string
	if raw, ok := fields["kind"]; ok {
		if err := decode(raw, &kind); err != nil {
			return nil, within("kind", err)
		}
	}
	switch {
	case kind != "inline" && mustUnderstand(raw):
		return nil, fail(ErrCodec, "the kind %.50q isn't known here; inline is", kind)
	case kind != "inline":
		return nil, nil
	case fields["metadata"] == nil:
		return map[string]json.RawMessage{}, nil
	}
	list, err := fieldsOf(fields["metadata"])
	for name := range list {
		if ValidKey(name) != nil {
			return nil, fail(ErrFormat, "%.200q is no path", name)
		}
	}
	return list, err
}

// open2 opens a group of version 2.
func (g *Group) open2(ctx context.Context, v3 string) (*Group, error) {
	key := path.Join(g.path, ".zgroup")
	b, err := read(ctx, g.store, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, at(g.path, fail(fs.ErrNotExist, "no group: neither %s nor %s is there", v3, key))
	}
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf(b)
	if err != nil {
		return nil, at(key, err)
	}
	if string(fields["zarr_format"]) != "2" {
		return nil, at(key, fail(ErrFormat, "zarr_format %.20q in a .zgroup", fields["zarr_format"]))
	}
	g.version = 2
	b, err = read(ctx, g.store, path.Join(g.path, ".zattrs"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g, nil
	case err != nil:
		return nil, err
	}
	if g.attributes, err = attributesOf(b); err != nil {
		return nil, at(path.Join(g.path, ".zattrs"), err)
	}
	return g, nil
}

// nodes are the names of the values that mark a path as an array or a group.
var nodes = []string{"zarr.json", ".zarray", ".zgroup"}

// free returns an error if there is an array or a group at a path.
func free(ctx context.Context, s Store, p string) error {
	for _, name := range nodes {
		key := path.Join(p, name)
		if _, err := s.Size(ctx, key); err == nil {
			return at(key, fail(fs.ErrExist, "it is there; delete what is at this path, or take another"))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return at(key, err)
		}
	}
	return nil
}

// parents makes the groups above a path that don't exist. Version 3 and zarr-python require
// metadata of each.
func parents(ctx context.Context, s Store, p string, version int) error {
	for p != "" {
		if p = path.Dir(p); p == "." {
			p = ""
		}
		for _, name := range nodes {
			key := path.Join(p, name)
			b, err := read(ctx, s, key)
			switch {
			case err == nil && (name == ".zarray" || name == "zarr.json" && isArray(b)):
				return at(key, fail(fs.ErrExist, "an array; nothing can be below it"))
			case err == nil:
				return nil // those above it are there
			case !errors.Is(err, fs.ErrNotExist):
				return at(key, err)
			}
		}
		key, text := path.Join(p, "zarr.json"), `{"zarr_format":3,"node_type":"group"}`
		if version == 2 {
			key, text = path.Join(p, ".zgroup"), `{"zarr_format":2}`
		}
		if err := s.Set(ctx, key, []byte(text+"\n")); err != nil {
			return at(key, err)
		}
	}
	return nil
}

// CreateGroup writes the metadata of a group of version 3, and of the groups above it that
// don't exist.
func CreateGroup(ctx context.Context, s Store, p string, attributes map[string]any) (*Group, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	p, err := place(s, p)
	if err != nil {
		return nil, err
	}
	g := &Group{store: s, path: p, version: 3, attributes: attributes}
	if err := free(ctx, s, g.path); err != nil {
		return nil, err
	}
	if err := parents(ctx, s, g.path, 3); err != nil {
		return nil, err
	}
	return g, g.write(ctx, nil)
}

func (g *Group) write(ctx context.Context, c *consolidated) error {
	key := path.Join(g.path, "zarr.json")
	b, err := json.MarshalIndent(groupDocument{3, "group", g.attributes, c}, "", "  ")
	if err == nil {
		err = g.store.Set(ctx, key, append(b, '\n'))
	}
	return at(key, err)
}

// Attributes returns the user's attributes, as encoding/json reads them.
func (g *Group) Attributes() map[string]any { return g.attributes }

// Open opens an array, or a field of an array of structs, by its path below the group, as the function Open
// does. It uses consolidated metadata if there is any. If that says that the array isn't finished, the array's
// own metadata counts.
func (g *Group) Open(ctx context.Context, name string, opts *Options) (*Array, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	if _, err := place(g.store, name); err != nil {
		return nil, err
	}
	p := path.Join(g.path, name)
	if b, ok := g.members[name]; ok {
		m, err := parse3(b)
		if err == nil && m.Unfinished != "" {
			return Open(ctx, g.store, p, opts)
		}
		if err != nil {
			return nil, at(p, err)
		}
		a, err := newArray(g.store, p, m, opts)
		return a, at(p, err)
	}
	return Open(ctx, g.store, p, opts)
}

// Arrays returns the sorted paths below the group of all arrays in it and in its groups. It reads them from the
// consolidated metadata if there is any, else it lists the store. In version 2 it uses consolidated metadata only if the store has no
// list, like HTTP.
func (g *Group) Arrays(ctx context.Context) ([]string, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	var list []string
	if g.members != nil {
		for name, b := range g.members {
			if isArray(b) {
				list = append(list, name)
			}
		}
		slices.Sort(list)
		return list, nil
	}
	prefix := ""
	if g.path != "" {
		prefix = g.path + "/"
	}
	keys, err := g.store.List(ctx, prefix)
	if errors.Is(err, errors.ErrUnsupported) && g.version == 2 {
		keys, err = g.listed2(ctx, prefix, err)
	}
	if err != nil {
		return nil, at(g.path, err)
	}
	for _, key := range keys {
		name := strings.TrimPrefix(path.Dir(key), prefix)
		switch path.Base(key) {
		case ".zarray":
			list = append(list, name)
		case "zarr.json":
			if path.Dir(key) == path.Clean("./"+g.path) {
				continue
			}
			b, err := read(ctx, g.store, key)
			if errors.Is(err, fs.ErrNotExist) { // it was removed since the list
				continue
			}
			if err != nil {
				return nil, err
			}
			if isArray(b) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// listed2 returns the keys below a prefix in .zmetadata of version 2. It is for a store that can't list; no is the error of its List.
func (g *Group) listed2(ctx context.Context, prefix string, no error) (keys []string, err error) {
	key := path.Join(g.path, ".zmetadata")
	b, err := read(ctx, g.store, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, no
	}
	var fields, list map[string]json.RawMessage
	if err == nil {
		fields, err = fieldsOf(b)
	}
	if err == nil {
		list, err = fieldsOf(fields["metadata"])
	}
	for name := range list {
		if ValidKey(name) != nil {
			return nil, at(key, fail(ErrFormat, "%.200q is no path", name))
		}
		keys = append(keys, prefix+name)
	}
	return keys, at(key, err)
}

func isArray(b []byte) bool {
	fields, err := fieldsOf(b)
	var node string
	return err == nil && decode(fields["node_type"], &node) == nil && node == "array"
}

// Consolidate writes the metadata of all members into that of the group, so that a
// reader needs one value of the store to know them. Members that are made or changed
// later need another call.
func (g *Group) Consolidate(ctx context.Context) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	if g.version != 3 {
		return at(g.path, fail(ErrFormat, "a group of version 2; metadata of version 3 is consolidated"))
	}
	prefix := ""
	if g.path != "" {
		prefix = g.path + "/"
	}
	keys, err := g.store.List(ctx, prefix)
	if err != nil {
		return at(g.path, err)
	}
	c := &consolidated{Kind: "inline", Metadata: map[string]json.RawMessage{}}
	for _, key := range keys {
		name := strings.TrimPrefix(path.Dir(key), prefix)
		if path.Base(key) != "zarr.json" || path.Dir(key) == path.Clean("./"+g.path) {
			continue
		}
		b, err := read(ctx, g.store, key)
		if errors.Is(err, fs.ErrNotExist) { // it was removed since the list
			continue
		}
		if err != nil {
			return err
		}
		if !json.Valid(b) {
			return at(key, fail(ErrFormat, "it is no JSON, which has no NaN and no Infinity: put them in quotes"))
		}
		c.Metadata[name] = b
	}
	g.members = c.Metadata
	return g.write(ctx, c)
}
