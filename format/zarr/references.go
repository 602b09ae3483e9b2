package zarr

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

// ErrOutside is the error about a reference to a path outside the folder, or to a URL whose host isn't allowed.
var ErrOutside = errors.New("a reference leads outside")

// ReferenceOptions limit the targets of references.
type ReferenceOptions struct {
	Folder string // the folder of paths, which can't leave it; "": paths are refused
	// Hosts are the hosts that URLs may name: example.org for the default port of HTTP, example.org:8080, or s3://bucket of other schemes.
	Hosts  []string
	Client *http.Client // the client for URLs; nil: one that follows up to 5 redirects within Hosts. Hosts doesn't limit another client's redirects
}

type references struct {
	refs      map[string][]byte // JSON: a text, an object, or a URL with an offset and a length
	keys      []string          // sorted
	templates map[string]string
	folder    *dir   // nil: none
	absolute  string // its path
	hosts     []string
	client    *http.Client
	stores    sync.Map // the stores of registered schemes, by scheme and host
	versions  sync.Map // of the files of which a part was read, by address
}

const (
	maxGenerated = 1 << 16 // references that gen makes, and values of its dimensions
	maxAddress   = 1 << 14 // bytes of a URL
	maxBraces    = 1 << 10 // bytes of an expression or a call, and of a template that is called
)

// References returns the store of a document of kerchunk, version 0 or 1, read only. Its keys stand for values in the document, or for
// parts of other files. Paths are relative to the folder, or absolute and within it; no symbolic link leads out of it. URLs are opened
// by zarr.URL, only if their host is in Hosts. To read another path or URL is an error that wraps ErrOutside. The document must not
// change afterwards.
//
// Offsets fit one version of a file. If a file is replaced after the first read of a part of it, the error wraps ErrChanged, as far as
// the version shows it: HTTP says which one that is, and a file in the folder has its size and time. A store of another scheme has one if it
// is a Versioner.
//
// Templates are replaced, also with arguments: f(c='text'). gen makes up to 65,536 references, and up to as many values of its
// dimensions. Between its braces may stand integers, names, parentheses and the operators + - * / // %.
//
// The format: fsspec.github.io/kerchunk, Reference specification. References as Parquet files aren't read.
func References(document []byte, opts *ReferenceOptions) (Store, error) {
	opts = cmp.Or(opts, new(ReferenceOptions))
	fields, err := objectOf(document, math.MaxInt)
	if err != nil {
		return nil, within("references", err)
	}
	s := &references{refs: make(map[string][]byte), hosts: opts.Hosts, templates: map[string]string{}}
	list := fields
	if version, ok := fields["version"]; ok {
		if string(version) != "1" {
			return nil, fail(ErrFormat, "references of version %.20s; there are 0 and 1", version)
		}
		if raw := fields["templates"]; raw != nil {
			if err := decode(raw, &s.templates); err != nil {
				return nil, within("templates", err)
			}
		}
		list = nil
		if raw := fields["refs"]; raw != nil {
			if list, err = objectOf(raw, math.MaxInt); err != nil {
				return nil, within("refs", err)
			}
		}
		if err := s.generate(fields["gen"]); err != nil {
			return nil, within("gen", err)
		}
	}
	for key, raw := range list {
		if ValidKey(key) != nil {
			return nil, fail(ErrFormat, "references: %.200q is no key", key)
		}
		s.refs[key] = raw
	}
	s.keys = slices.Sorted(maps.Keys(s.refs))
	if opts.Folder != "" {
		root, err := os.OpenRoot(opts.Folder)
		if err != nil {
			return nil, at(opts.Folder, err)
		}
		s.folder = &dir{root}
		if s.absolute, err = filepath.Abs(opts.Folder); err != nil {
			return nil, at(opts.Folder, err)
		}
	}
	var own http.Client
	if opts.Client != nil {
		own = *opts.Client
	} else {
		own.Transport = request.Transport()
		own.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("more than 5 redirects")
			}
			return s.allowed(r.URL)
		}
	}
	s.client = &own
	return s, nil
}

// A target is the target of a reference.
type target struct {
	inline []byte // unless it is nil
	url    string
	off, n int64 // n < 0: the whole file
}

// target reads the reference of a key.
func (s *references) target(key string) (t target, err error) {
	raw, ok := s.refs[key]
	if !ok {
		return t, absent(key)
	}
	switch raw[0] {
	case '{':
		t.inline = raw
	case '"':
		text, err := (&jsonText{b: raw}).string()
		if err != nil {
			return t, fail(ErrFormat, "the reference is a text that can't be read: %v", err)
		}
		t.inline = []byte(text)
		if plain, ok := strings.CutPrefix(text, "base64:"); ok {
			if t.inline, err = base64.StdEncoding.DecodeString(plain); err != nil {
				return t, fail(ErrFormat, "the reference: %v", err)
			}
		}
		if t.inline == nil {
			t.inline = []byte{}
		}
	default:
		var parts []json.RawMessage
		var address *string
		t.n = -1
		if err = json.Unmarshal(raw, &parts); err == nil && len(parts) > 0 {
			err = json.Unmarshal(parts[0], &address)
		}
		if err == nil && len(parts) == 3 {
			if err = json.Unmarshal(parts[1], &t.off); err == nil {
				err = json.Unmarshal(parts[2], &t.n)
			}
			if t.off < 0 || t.n < 0 || t.off > math.MaxInt64-t.n {
				err = fmt.Errorf("%d bytes from %d on", t.n, t.off)
			}
		}
		if err != nil || address == nil || len(parts) != 1 && len(parts) != 3 {
			return t, fail(ErrFormat, "the reference is none; it is a text, an object, or a list of a URL and perhaps an offset and a length") // it may hold a signature
		}
		t.url, err = s.expand(*address, nil)
	}
	return t, err
}

// allowed returns an error for a URL whose host isn't in the list.
func (s *references) allowed(u *url.URL) error {
	host := strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host)
	names := []string{host}
	switch u.Scheme {
	case "http", "https":
		names = []string{strings.ToLower(u.Host)}
		if port := map[string]string{"http": "80", "https": "443"}[u.Scheme]; u.Port() == "" {
			names = append(names, strings.ToLower(u.Host)+":"+port)
		} else if u.Port() == port {
			names = append(names, strings.ToLower(u.Hostname()))
		}
	}
	if u.Host != "" && slices.ContainsFunc(s.hosts, func(h string) bool { return slices.Contains(names, strings.ToLower(h)) }) {
		return nil
	}
	return fail(ErrOutside, "a URL of %.200q; allow the host %.200q if it is right", host, names[0])
}

// A part is an open target: of a file or of a store.
type part struct {
	value *Value // of a file
	store Store
	key   string
}

// open opens the target of a reference.
func (s *references) open(ctx context.Context, address string) (p part, err error) {
	scheme, rest, isURL := strings.Cut(address, "://")
	if !isURL || scheme == "file" {
		if isURL {
			address = rest
		}
		name, err := s.path(address)
		if err == nil {
			p.value, err = s.folder.Open(ctx, name)
		}
		if errors.Is(err, fs.ErrNotExist) { // the key exists: this is no absent chunk
			err = fail(ErrFormat, "the file %.200q isn't there", address)
		}
		return p, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return p, fail(ErrFormat, "the URL of a reference, %.50q…, is none, or has a user", scheme+"://")
	}
	if err := s.allowed(u); err != nil {
		return p, err
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return part{store: &httpStore{client: s.client, base: u, exact: true}, key: "value"}, nil
	}
	p.key = strings.Trim(u.Path, "/")
	if err = ValidKey(p.key); err != nil {
		return p, err
	}
	root := u.Scheme + "://" + u.Host
	kept, ok := s.stores.Load(root)
	if !ok {
		store, err := URL(ctx, root)
		if err != nil {
			return p, err
		}
		kept, _ = s.stores.LoadOrStore(root, store)
	}
	p.store = kept.(Store)
	return p, nil
}

// path returns a path within the folder.
func (s *references) path(name string) (string, error) {
	if s.folder == nil {
		return "", fail(ErrOutside, "the path %.200q: no folder is given for paths", name)
	}
	local := filepath.FromSlash(name)
	if filepath.IsAbs(local) {
		if rel, err := filepath.Rel(s.absolute, local); err == nil {
			local = rel
		}
	}
	if !filepath.IsLocal(local) || filepath.Clean(local) == "." {
		return "", fail(ErrOutside, "the path %.200q isn't in the folder of the references", name)
	}
	return filepath.ToSlash(filepath.Clean(local)), nil
}

func (s *references) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	t, err := s.target(key)
	switch {
	case err != nil:
		return nil, err
	case int64(len(t.inline)) > most || t.n > most:
		return nil, tooLarge(most)
	case t.inline != nil:
		return slices.Clone(t.inline), nil
	case t.n >= 0:
		b, _, err := s.read(ctx, t, 0, t.n, "")
		return b, err
	}
	p, err := s.open(ctx, t.url)
	if err != nil {
		return nil, err
	}
	if p.store != nil {
		return found(p.store.Get(ctx, p.key, most))
	}
	defer p.value.Close()
	if p.value.size > most {
		return nil, tooLarge(most)
	}
	return p.value.readAt(nil, 0, p.value.size)
}

// found returns an answer about a value that a reference names. It replaces fs.ErrNotExist, which would mean an absent chunk.
func found[T any](v T, err error) (T, error) {
	if errors.Is(err, fs.ErrNotExist) {
		err = fail(ErrFormat, "what the reference names isn't there: %v", err)
	}
	return v, err
}

// read reads a part of a target. A part of a part is of the version of which the first one was.
func (s *references) read(ctx context.Context, t target, off, n int64, version string) (b []byte, now string, err error) {
	p, err := s.open(ctx, t.url)
	if err != nil {
		return nil, "", err
	}
	if p.value != nil {
		defer p.value.Close()
	}
	first := any("")
	if t.n >= 0 {
		if off, err = span(off, n, t.n); err != nil {
			return nil, "", err
		}
		off += t.off
		if v, ok := s.versions.Load(t.url); ok {
			first = v
		}
	}
	version = cmp.Or(first.(string), version)
	if p.store != nil {
		b, now, err = getVersion(ctx, p.store, p.key, off, n, version)
		b, err = found(b, err)
	} else if now, err = p.value.version(); err == nil && version != "" && now != version {
		err = ErrChanged
	} else if err == nil {
		b, err = p.value.readAt(nil, off, n)
	}
	switch {
	case errors.Is(err, ErrChanged) && first != "":
		return nil, "", fail(ErrChanged, "the file of the reference was replaced after a part of it was read: open the references again, if they fit the new file")
	case err != nil:
		return nil, "", err
	case t.n >= 0 && now != "" && first == "":
		if was, other := s.versions.LoadOrStore(t.url, now); other && was != now { // another goroutine was the first
			return s.read(ctx, t, off-t.off, n, "")
		}
	}
	return b, now, nil
}

// version returns the version of a file: its size and time.
func (v *Value) version() (string, error) {
	info, err := v.r.(*os.File).Stat()
	if err != nil {
		return "", err
	}
	return fmt.Sprint("W/", info.Size(), " ", info.ModTime().UnixNano()), nil
}

func (s *references) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	b, _, err := s.GetVersion(ctx, key, off, n, "")
	return b, err
}

// GetVersion implements Versioner.
func (s *references) GetVersion(ctx context.Context, key string, off, n int64, version string) (b []byte, now string, err error) {
	t, err := s.target(key)
	if err != nil {
		return nil, "", err
	}
	if t.inline != nil {
		start, err := span(off, n, int64(len(t.inline)))
		if err != nil {
			return nil, "", err
		}
		return slices.Clone(t.inline[start : start+n]), "inline", nil
	}
	return s.read(ctx, t, off, n, version)
}

func (s *references) Size(ctx context.Context, key string) (int64, error) {
	t, err := s.target(key)
	switch {
	case err != nil:
		return 0, err
	case t.inline != nil:
		return int64(len(t.inline)), nil
	case t.n >= 0:
		return t.n, nil
	}
	p, err := s.open(ctx, t.url)
	if err != nil {
		return 0, err
	}
	if p.store != nil {
		return found(p.store.Size(ctx, p.key))
	}
	return p.value.size, p.value.Close()
}

func (s *references) List(ctx context.Context, prefix string) ([]string, error) {
	i, _ := slices.BinarySearch(s.keys, prefix)
	j := i
	for j < len(s.keys) && strings.HasPrefix(s.keys[j], prefix) {
		j++
	}
	return slices.Clone(s.keys[i:j]), ended(ctx)
}

// States implements Stater by the references themselves, and the sizes and times of the files in the folder.
func (s *references) States(ctx context.Context, prefix string, f func(key, state string)) error {
	keys, err := s.List(ctx, prefix)
	files := map[string]string{}
	for _, key := range keys {
		t, err := s.target(key)
		if err != nil {
			return at(key, err)
		}
		state, known := files[t.url]
		if name, err := s.path(strings.TrimPrefix(t.url, "file://")); !known && t.inline == nil && err == nil {
			if info, err := s.folder.root.Stat(name); err == nil {
				state = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
			}
			files[t.url] = state
		}
		f(key, string(s.refs[key])+" "+state)
	}
	return err
}

func (s *references) Set(_ context.Context, key string, _ []byte) error {
	return fmt.Errorf("%s: a store of references is read only: %w", key, errors.ErrUnsupported)
}

func (s *references) Delete(ctx context.Context, key string) error { return s.Set(ctx, key, nil) }
