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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
}

const (
	maxGenerated = 1 << 16 // references that gen makes, and values of its dimensions
	maxAddress   = 1 << 14 // bytes of a URL
	maxBraces    = 1 << 10 // bytes of an expression or a call, and of a template that is called
)

// References returns the store of a document of kerchunk, version 0 or 1, read only. Its keys stand for values in the document, or for
// parts of other files. Paths are relative to the folder, or absolute and within it; no symbolic link leads out of it. URLs are opened
// by zarr.URL, only if their host is in Hosts. To read another path or URL is an error that wraps ErrOutside. The document must not
// change afterwards. Templates are replaced, also with arguments: f(c='text'). gen makes up to 65,536 references, and up to as many values of its
// dimensions. Between its braces may stand integers, names, parentheses and the operators + - * / // %.
//
// The format: fsspec.github.io/kerchunk, Reference specification. References as Parquet files aren't read.
func References(document []byte, o *ReferenceOptions) (Store, error) {
	o = cmp.Or(o, new(ReferenceOptions))
	fields, err := objectOf(document, math.MaxInt)
	if err != nil {
		return nil, within("references", err)
	}
	s := &references{refs: make(map[string][]byte), hosts: o.Hosts, templates: map[string]string{}}
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
	if o.Folder != "" {
		root, err := os.OpenRoot(o.Folder)
		if err != nil {
			return nil, at(o.Folder, err)
		}
		s.folder = &dir{root}
		if s.absolute, err = filepath.Abs(o.Folder); err != nil {
			return nil, at(o.Folder, err)
		}
	}
	var own http.Client
	if o.Client != nil {
		own = *o.Client
	} else {
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
			return t, fail(ErrFormat, "the reference is %.50s: %v", raw, err)
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
			return t, fail(ErrFormat, "the reference is %.200s; it is a text, an object, or a list of a URL and perhaps an offset and a length", raw)
		}
		t.url, err = s.expand(*address, nil)
	}
	return t, err
}

var (
	braces    = regexp.MustCompile(`\{\{(.*?)\}\}`)
	callForm  = regexp.MustCompile(`^(\w+)\s*\(([^()]*)\)$`)
	argument  = regexp.MustCompile(`^\s*(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)")\s*$`)
	variables = regexp.MustCompile(`^[A-Za-z_]\w*`)
)

// expand replaces text in double braces: templates by name or call, and expressions of numbers.
func (s *references) expand(text string, numbers map[string]int64) (out string, err error) {
	rest := text
	for at := braces.FindStringIndex(rest); at != nil && err == nil; at = braces.FindStringIndex(rest) {
		var t string
		t, err = s.value(rest[at[0]:at[1]], numbers)
		out, rest = out+rest[:at[0]]+t, rest[at[1]:]
		if len(out) > maxAddress {
			break
		}
	}
	if out += rest; err == nil && len(out) > maxAddress {
		err = fail(ErrLimit, "an address of more than %d bytes", maxAddress)
	}
	return out, err
}

// value returns the text that replaces double braces.
func (s *references) value(m string, numbers map[string]int64) (string, error) {
	inner := strings.TrimSpace(m[2 : len(m)-2])
	bad := fail(ErrFormat, "%.100q isn't read here: it is no template, and no short expression of whole numbers", m)
	if len(m) > maxBraces {
		return "", bad
	}
	if t, ok := s.templates[inner]; ok {
		return t, nil
	}
	if call := callForm.FindStringSubmatch(inner); call != nil {
		t, ok := s.templates[call[1]]
		for arg := range strings.SplitSeq(call[2], ",") {
			a := argument.FindStringSubmatch(arg)
			if ok = ok && a != nil && len(t) <= maxBraces; !ok {
				return "", bad
			}
			t = braces.ReplaceAllStringFunc(t, func(m string) string {
				if strings.TrimSpace(m[2:len(m)-2]) == a[1] {
					return a[2] + a[3]
				}
				return m
			})
		}
		return t, nil
	}
	e := expression{text: inner, numbers: numbers}
	v, ok := e.sum(0)
	if !ok || strings.TrimSpace(e.text) != "" {
		return "", bad
	}
	return strconv.FormatInt(v, 10), nil
}

// An expression of integers, which is parsed from left to right.
type expression struct {
	text    string
	numbers map[string]int64
}

func (e *expression) take(signs ...string) string {
	e.text = strings.TrimSpace(e.text)
	for _, s := range signs {
		if rest, ok := strings.CutPrefix(e.text, s); ok {
			e.text = rest
			return s
		}
	}
	return ""
}

func (e *expression) sum(depth int) (int64, bool) {
	v, ok := e.product(depth)
	for ok {
		sign := e.take("+", "-")
		if sign == "" {
			break
		}
		w, good := e.product(depth)
		if sign == "-" {
			w = -w
		}
		sum := v + w
		ok = good && (sum > v) == (w > 0)
		v = sum
	}
	return v, ok
}

func (e *expression) product(depth int) (int64, bool) {
	v, ok := e.number(depth)
	for ok {
		sign := e.take("*", "//", "/", "%")
		if sign == "" {
			break
		}
		w, good := e.number(depth)
		switch {
		case !good, sign != "*" && (w <= 0 || v < 0), sign == "/" && v%w != 0, sign == "*" && w != 0 && v*w/w != v:
			return 0, false
		case sign == "*":
			v *= w
		case sign == "%":
			v %= w
		default:
			v /= w
		}
	}
	return v, ok
}

func (e *expression) number(depth int) (v int64, ok bool) {
	if depth > 20 {
		return 0, false
	}
	if e.take("(") != "" {
		v, ok = e.sum(depth + 1)
		return v, ok && e.take(")") != ""
	}
	if name := variables.FindString(e.text); name != "" {
		e.text = e.text[len(name):]
		v, ok = e.numbers[name]
		return v, ok
	}
	digits := 0
	for digits < len(e.text) && e.text[digits] >= '0' && e.text[digits] <= '9' {
		digits++
	}
	v, err := strconv.ParseInt(e.text[:digits], 10, 64)
	e.text = e.text[digits:]
	return v, err == nil
}

// generate makes the references that gen describes.
func (s *references) generate(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var list []struct {
		Key, URL       string
		Offset, Length json.RawMessage
		Dimensions     map[string]json.RawMessage
	}
	if err := decode(raw, &list); err != nil {
		return err
	}
	size, made := 0, 0
	for _, g := range list {
		names := slices.Sorted(maps.Keys(g.Dimensions))
		values, total := make([][]int64, len(names)), 1
		for i, name := range names {
			var span struct {
				Start, Stop int64
				Step        *int64
			}
			if json.Unmarshal(g.Dimensions[name], &values[i]) != nil {
				if err := decode(g.Dimensions[name], &span); err != nil {
					return within(fmt.Sprintf("the dimension %.50q", name), err)
				}
				step := int64(1)
				if span.Step != nil {
					step = *span.Step
				}
				if step < 1 || span.Stop > span.Start && (span.Start < 0 || (span.Stop-span.Start-1)/step >= maxGenerated) {
					return fail(ErrLimit, "the dimension %.50q from %d to %d by %d; up to %d references are made", name, span.Start, span.Stop, step, maxGenerated)
				}
				for v := span.Start; v < span.Stop; v += step {
					values[i] = append(values[i], v)
					if step >= span.Stop-v { // v + step may be beyond an int64
						break
					}
				}
			}
			made += len(values[i])
			if total = times(total, len(values[i])); total > maxGenerated || made > maxGenerated {
				return fail(ErrLimit, "more than %d references", maxGenerated)
			}
		}
		if made += total; made > maxGenerated {
			return fail(ErrLimit, "more than %d references, and values of their dimensions", maxGenerated)
		}
		for k := range total {
			numbers, rest := map[string]int64{}, k
			for i := len(names) - 1; i >= 0; i-- {
				numbers[names[i]] = values[i][rest%len(values[i])]
				rest /= len(values[i])
			}
			key, err := s.expand(g.Key, numbers)
			var parts [3]string
			for i, text := range []string{g.URL, string(g.Offset), string(g.Length)} {
				if unquoted := ""; i > 0 && json.Unmarshal([]byte(text), &unquoted) == nil {
					text = unquoted
				}
				if err == nil {
					parts[i], err = s.expand(text, numbers)
				}
			}
			if err != nil {
				return err
			}
			address, _ := json.Marshal(parts[0])
			ref := "[" + string(address) + "]"
			if parts[1] != "" || parts[2] != "" {
				ref = fmt.Sprintf("[%s,%s,%s]", address, parts[1], parts[2])
			}
			if ValidKey(key) != nil || !json.Valid([]byte(ref)) {
				return fail(ErrFormat, "it makes the key %.100q and the reference %.100s", key, ref)
			}
			if size += len(key) + len(ref) + len(g.Key) + len(g.URL) + len(g.Offset) + len(g.Length); size > maxMetadata {
				return fail(ErrLimit, "the references have more than %d bytes", maxMetadata)
			}
			s.refs[key] = []byte(ref)
		}
	}
	return nil
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
		return s.read(ctx, t, 0, t.n)
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

// read reads a part of a target.
func (s *references) read(ctx context.Context, t target, off, n int64) ([]byte, error) {
	p, err := s.open(ctx, t.url)
	if err != nil {
		return nil, err
	}
	if t.n >= 0 {
		if off, err = span(off, n, t.n); err != nil {
			return nil, err
		}
		off += t.off
	}
	if p.store != nil {
		return found(p.store.GetRange(ctx, p.key, off, n))
	}
	defer p.value.Close()
	return p.value.readAt(nil, off, n)
}

func (s *references) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	t, err := s.target(key)
	if err != nil {
		return nil, err
	}
	if t.inline != nil {
		start, err := span(off, n, int64(len(t.inline)))
		if err != nil {
			return nil, err
		}
		return slices.Clone(t.inline[start : start+n]), nil
	}
	return s.read(ctx, t, off, n)
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
