// Package s3 is a store of Zarr in a bucket with the API of S3: of AWS, Cloudflare R2, MinIO, Google Cloud Storage with an HMAC key and others.
// It needs only the standard library, and adds less than a MiB to a program. Package blobstore, a separate module, uses the
// cloud vendors' own clients and logins.
//
//	store, err := s3.Open("s3://bucket/folder", os.Getenv)
//	a, err := zarr.Open(ctx, store, "x")
//
// Requests are signed by Signature Version 4, or not at all if no key is given. An object appears when it is written in full, so a reader sees
// the old chunk or the new one. Several ranges of a shard are of one ETag. Swap writes an object on condition that nobody changed it.
//
// A request is sent up to four times, as zarr.HTTP says, unless it has a condition and writes. A list may come in any order and have empty
// pages. It has up to 2^24 keys.
//
// # Servers that aren't trusted
//
// No redirect is followed: the error names its target, and the region of the bucket if the server tells it. An answer that doesn't
// begin within a minute, or comes too slowly, is an error that wraps os.ErrDeadlineExceeded. An answer with a header of more than 64 KiB is
// an error, unless Config has a Transport. A range other than the requested one, an object
// that is too long, and a list that repeats itself or has other keys are errors. The secret key never leaves the process. It appears in no
// error, nor does a session's token; fmt omits both when it prints a Config or a Store.
//
// Sources: docs.aws.amazon.com, Amazon S3 API Reference (GetObject, HeadObject, PutObject, DeleteObject, ListObjectsV2, error responses) and
// AWS General Reference, Signature Version 4 signing process.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

// ErrAddress is the error about a Config or an address that can't be a bucket's.
var ErrAddress = errors.New("no address of a bucket")

// A Config names a bucket and has the login.
type Config struct {
	Endpoint  string // the URL of the service, without the bucket; "": AWS
	Region    string // "": us-east-1; R2 takes auto
	Bucket    string
	Prefix    string // the folder of the keys; "": the whole bucket
	Key       string // the access key; "": requests aren't signed
	Secret    string
	Token     string            // of a session; "": none
	Transport http.RoundTripper // nil: New makes one
}

// Format writes a Config without its secrets, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "s3.Config{%s %s %s/%s}", c.Endpoint, c.Region, c.Bucket, c.Prefix)
}

// Store is a bucket, or a folder of it. It is a zarr.Versioner and a zarr.Stater.
type Store struct {
	zarr.Versioner // reads by HTTP with signed requests
	client         *http.Client
	root           *url.URL // of the bucket
	prefix         string   // "" or with a slash at its end
}

// Format writes the address of a Store, whatever the verb.
func (s *Store) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "s3.Store(%s/%s)", request.URL(s.root.String()), s.prefix)
}

var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]+$`) // {1,254} would make 254 copies at each start of a program

// New returns the store of a bucket. It sends no request.
func New(c Config) (*Store, error) {
	c.Region = cmp.Or(c.Region, "us-east-1")
	if len(c.Bucket) > 255 || !bucketName.MatchString(c.Bucket) || strings.Contains(c.Bucket, "..") {
		return nil, fmt.Errorf("s3: the bucket %.100q: %w", c.Bucket, ErrAddress)
	}
	if c.Key != "" && c.Secret == "" {
		return nil, fmt.Errorf("s3: an access key without its secret: %w", ErrAddress)
	}
	text := cmp.Or(c.Endpoint, "https://s3."+c.Region+".amazonaws.com")
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("s3: the endpoint isn't a URL of http or https, such as https://s3.example.org, without a user: %w", ErrAddress)
	}
	if u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+"/"+c.Bucket, ""; c.Endpoint == "" && !strings.Contains(c.Bucket, ".") {
		u = &url.URL{Scheme: "https", Host: c.Bucket + ".s3." + c.Region + ".amazonaws.com", Path: "/"}
	}
	prefix := strings.Trim(c.Prefix, "/")
	if prefix != "" && !fs.ValidPath(prefix) {
		return nil, fmt.Errorf("s3: the prefix %.100q has a part that is empty, . or ..: %w", prefix, ErrAddress)
	}
	transport := c.Transport
	if transport == nil {
		transport = request.Transport()
		if t, ok := transport.(*http.Transport); ok {
			t.DisableCompression = true // so that lengths are the objects' lengths
		}
	}
	s := &Store{root: u, client: &http.Client{Transport: newSigner(c, transport)}}
	base := u
	if prefix != "" {
		s.prefix = prefix + "/"
		base = s.at(prefix)
	}
	reads, err := zarr.HTTP(base.String(), s.client)
	if err != nil {
		return nil, err
	}
	s.Versioner = reads.(zarr.Versioner)
	return s, nil
}

// Open returns the store of an address, s3://BUCKET or s3://BUCKET/FOLDER. getenv, which may be os.Getenv, returns the other settings by the
// names that AWS's programs use: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION, and
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. Open searches no other place for keys.
func Open(address string, getenv func(string) string) (*Store, error) {
	rest, ok := strings.CutPrefix(address, "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if !ok || strings.Contains(bucket, "@") {
		return nil, fmt.Errorf("s3: want s3://BUCKET/FOLDER, and keys in the environment: %w", ErrAddress)
	}
	return New(Config{Bucket: bucket, Prefix: prefix, Endpoint: cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")),
		Region: cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")),
		Key:    getenv("AWS_ACCESS_KEY_ID"), Secret: getenv("AWS_SECRET_ACCESS_KEY"), Token: getenv("AWS_SESSION_TOKEN")})
}

func init() {
	zarr.RegisterScheme("s3", func(_ context.Context, address string) (zarr.Store, error) { return Open(address, os.Getenv) })
}

// at returns the URL of an object.
func (s *Store) at(key string) *url.URL {
	u := *s.root
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + key
	u.RawPath = escape(u.Path, true)
	return &u
}

// A request that writes or lists may take patience, and one more second for each pace bytes of its body.
const pace = 100 << 10

var patience = time.Minute

// do sends a request, again if its failure may pass, and reads up to most bytes of its answer. It doesn't repeat a conditional request: if
// the first one succeeded, its condition no longer holds.
func (s *Store) do(ctx context.Context, method string, u *url.URL, body []byte, header http.Header, most int64) (b []byte, h http.Header, err error) {
	once := func() error {
		b, h, err = s.once(ctx, method, u, body, header, most)
		return err
	}
	if header.Get("If-Match") != "" || header.Get("If-None-Match") != "" {
		err = once()
	} else {
		err = request.Again(ctx, once)
	}
	if err != nil {
		return nil, nil, err
	}
	return b, h, nil
}

func (s *Store) once(ctx context.Context, method string, u *url.URL, body []byte, header http.Header, most int64) ([]byte, http.Header, error) {
	limit := patience + time.Duration(len(body)/pace)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("s3: %s: the server hasn't answered within %v: %w", method, limit, os.ErrDeadlineExceeded))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.URL = u
	r.Header = header.Clone()
	a, err := s.client.Do(r)
	var b []byte
	var broken error
	if err == nil {
		defer a.Body.Close()
		if b, broken = io.ReadAll(io.LimitReader(a.Body, most+1)); broken == nil && method != http.MethodHead && int64(len(b)) < min(a.ContentLength, most) {
			broken = io.ErrUnexpectedEOF
		}
		switch {
		case broken != nil:
			err = &request.Broken{Err: fmt.Errorf("s3: %s %s: %w", method, u.Path, broken)}
		case int64(len(b)) > most:
			err = fmt.Errorf("s3: %s: an answer of more than %d bytes: %w", method, most, format.ErrLimit)
		}
		switch {
		case a.StatusCode == http.StatusNotFound, a.StatusCode == http.StatusGone:
			err = &fs.PathError{Op: method, Path: u.Path, Err: fs.ErrNotExist}
		case a.StatusCode >= 300:
			err = &Error{Method: method, Path: u.Path, Status: a.StatusCode}
		}
	}
	var no *request.Refusal
	var sent *url.Error
	switch {
	case errors.As(err, &no):
		err = no // without the URL again
	case errors.As(err, &sent):
		err = fmt.Errorf("s3: %s %s: %w", method, request.URL(u.String()), request.Lost(sent.Err))
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return nil, nil, err
	}
	return b, a.Header, nil
}

// Set writes an object.
func (s *Store) Set(ctx context.Context, key string, value []byte) error {
	_, err := s.put(ctx, key, value, http.Header{})
	return err
}

func (s *Store) put(ctx context.Context, key string, value []byte, header http.Header) (string, error) {
	if err := zarr.ValidKey(key); err != nil {
		return "", err
	}
	header.Set("X-Amz-Content-Sha256", digest(value))
	_, h, err := s.do(ctx, http.MethodPut, s.at(s.prefix+key), value, header, 1<<16)
	return h.Get("ETag"), err
}

// Swap writes an object if its ETag is etag, or if the object is absent and etag is "". It returns the new ETag. Otherwise the object stays
// unchanged, and the error wraps fs.ErrExist, or fs.ErrNotExist if the object is gone. After any other error the object may have been written.
// The server must support If-Match and If-None-Match.
func (s *Store) Swap(ctx context.Context, key string, value []byte, etag string) (string, error) {
	if etag == "" {
		return s.put(ctx, key, value, http.Header{"If-None-Match": {"*"}})
	}
	return s.put(ctx, key, value, http.Header{"If-Match": {etag}})
}

// ETag returns the ETag of an object, which Swap takes. To change a value, call ETag before Get: then Swap notices every change since.
func (s *Store) ETag(ctx context.Context, key string) (string, error) {
	if err := zarr.ValidKey(key); err != nil {
		return "", err
	}
	_, h, err := s.do(ctx, http.MethodHead, s.at(s.prefix+key), nil, http.Header{}, 0)
	return h.Get("ETag"), err
}

// Delete removes an object. To delete an absent object is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := zarr.ValidKey(key); err != nil {
		return err
	}
	_, _, err := s.do(ctx, http.MethodDelete, s.at(s.prefix+key), nil, http.Header{}, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List returns the keys that begin with a prefix, in order. For more than 256 MiB of keys the error wraps format.ErrLimit.
func (s *Store) List(ctx context.Context, prefix string) (keys []string, err error) {
	text := 0
	err = s.each(ctx, prefix, func(key, _ string) error {
		if text += len(key) + 16; text > maxText {
			return fmt.Errorf("s3: the list of %q has more than %d bytes of keys: %w", s.prefix+prefix, maxText, format.ErrLimit)
		}
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	return keys, nil
}

// Bounds of a list.
const (
	maxPage  = 4 << 20 // bytes of a page, which has up to 1000 keys of up to 1 KiB, escaped
	maxPages = 1 << 14
	maxKeys  = 1 << 24
	maxEmpty = 100       // pages in a row that have no key
	maxText  = 256 << 20 // bytes of the keys that List returns
)

// A page is a part of a list.
type page struct {
	encoding  string
	truncated bool
	next      string
	objects   []object
}

type object struct {
	Key, ETag, LastModified string
	Size                    int64
}

// parsePage reads a page of a list.
func parsePage(b []byte) (p page, err error) {
	d, root := xml.NewDecoder(bytes.NewReader(b)), false
	for {
		token, err := d.Token()
		if err != nil {
			return p, err
		}
		if _, end := token.(xml.EndElement); end {
			return p, nil
		}
		e, begin := token.(xml.StartElement)
		switch name := e.Name.Local; {
		case !begin:
		case !root && name != "ListBucketResult":
			return p, fmt.Errorf("it is %.50q, and no ListBucketResult", name)
		case !root:
			root = true
		case name == "EncodingType":
			err = d.DecodeElement(&p.encoding, &e)
		case name == "IsTruncated":
			err = d.DecodeElement(&p.truncated, &e)
		case name == "NextContinuationToken":
			err = d.DecodeElement(&p.next, &e)
		case name == "Contents":
			var o object
			if err = d.DecodeElement(&o, &e); err == nil && o.Key == "" {
				err = errors.New("it has an object without a key")
			}
			p.objects = append(p.objects, o)
		default:
			err = d.Skip()
		}
		if err != nil {
			return p, err
		}
	}
}

// States implements zarr.Stater by the sizes, times and ETags of the list, whose keys may come in any order.
func (s *Store) States(ctx context.Context, prefix string, f func(key, state string)) error {
	return s.each(ctx, prefix, func(key, state string) error { f(key, state); return nil })
}

// each calls f for each object whose key begins with a prefix. The error of f ends it.
func (s *Store) each(ctx context.Context, prefix string, f func(key, state string) error) error {
	full, empty := s.prefix+prefix, 0
	seen, seed := map[uint64]struct{}{}, maphash.MakeSeed() // hashes of the keys
	query := url.Values{"list-type": {"2"}, "prefix": {full}, "encoding-type": {"url"}}
	for range maxPages {
		u := *s.root
		if u.Path == "" {
			u.Path = "/"
		}
		u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
		b, _, err := s.do(ctx, http.MethodGet, &u, nil, http.Header{}, maxPage)
		if errors.Is(err, fs.ErrNotExist) { // the bucket doesn't exist; fs.ErrNotExist would mean an absent value
			err = &Error{Method: http.MethodGet, Path: u.Path, Status: http.StatusNotFound}
		}
		if err != nil {
			return err
		}
		p, err := parsePage(b)
		if err != nil {
			return fmt.Errorf("s3: the list of %q: %w", full, err)
		}
		for _, o := range p.objects {
			key := o.Key
			if p.encoding == "url" {
				if key, err = url.QueryUnescape(key); err != nil {
					return fmt.Errorf("s3: the list of %q: %w", full, err)
				}
			}
			hash := maphash.String(seed, key)
			if _, again := seen[hash]; again || !strings.HasPrefix(key, full) {
				return fmt.Errorf("s3: the list of %q has %.100q: the server repeats keys, or lists others", full, key)
			}
			if seen[hash] = struct{}{}; len(seen) > maxKeys {
				return fmt.Errorf("s3: the list of %q has more than %d keys: %w", full, maxKeys, format.ErrLimit)
			}
			if key = strings.TrimPrefix(key, s.prefix); zarr.ValidKey(key) == nil { // other names, such as a folder's, are no keys of Zarr
				if err := f(key, fmt.Sprint(o.Size, o.LastModified, o.ETag)); err != nil {
					return err
				}
			}
		}
		if empty++; len(p.objects) > 0 {
			empty = 0
		}
		switch {
		case !p.truncated:
			return nil
		case p.next == "" || p.next == query.Get("continuation-token"):
			return fmt.Errorf("s3: the list of %q doesn't go on: a page that isn't the last has no token of its own", full)
		case empty == maxEmpty:
			return fmt.Errorf("s3: the list of %q doesn't go on: %d pages in a row have no keys", full, maxEmpty)
		}
		query.Set("continuation-token", p.next)
	}
	return fmt.Errorf("s3: the list of %q has more than %d pages: %w", full, maxPages, format.ErrLimit)
}
