// Package s3 is a store of Zarr in a bucket with the API of S3: of AWS, Cloudflare R2, MinIO, Google Cloud Storage with an HMAC key and others.
// It needs only the standard library, and adds less than a MiB to a program. Package blobstore, a separate module, uses the
// cloud vendors' own clients and logins.
//
//	store, err := s3.Open("s3://bucket/folder", os.Getenv)
//	a, err := zarr.Open(ctx, store, "x")
//
// Requests are signed by Signature Version 4, or not at all if no key is given. An object appears when it is written in full, so a reader sees
// the old chunk or the new one. Swap writes an object on condition that nobody changed it.
//
// # Servers that aren't trusted
//
// No redirect is followed: the error names its target, and the region of the bucket if the server tells it. An answer that doesn't
// begin within a minute, or comes too slowly, is an error that wraps os.ErrDeadlineExceeded. A range other than the requested one, an object
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
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/format/zarr"
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

// Store is a bucket, or a folder of it. It is a zarr.Store and a zarr.Stater.
type Store struct {
	zarr.Store // reads by HTTP with signed requests
	client     *http.Client
	root       *url.URL // of the bucket
	prefix     string   // "" or with a slash at its end
}

// Format writes the address of a Store, whatever the verb.
func (s *Store) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "s3.Store(%s/%s)", s.root.Redacted(), s.prefix)
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
		t := &http.Transport{Proxy: http.ProxyFromEnvironment}
		if usual, ok := http.DefaultTransport.(*http.Transport); ok {
			t = usual.Clone()
		}
		t.DisableCompression = true // so that lengths are the objects' lengths
		t.MaxIdleConnsPerHost = 64
		transport = t
	}
	s := &Store{root: u, client: &http.Client{Transport: newSigner(c, transport)}}
	base := u
	if prefix != "" {
		s.prefix = prefix + "/"
		base = s.at(prefix)
	}
	s.Store, err = zarr.HTTP(base.String(), s.client)
	return s, err
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

// do sends a request and reads up to most bytes of its answer.
func (s *Store) do(ctx context.Context, method string, u *url.URL, body []byte, header http.Header, most int64) ([]byte, http.Header, error) {
	limit := patience + time.Duration(len(body)/pace)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("s3: %s: the server hasn't answered within %v: %w", method, limit, os.ErrDeadlineExceeded))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.URL = u
	r.Header = header
	a, err := s.client.Do(r)
	var b []byte
	if err == nil {
		defer a.Body.Close()
		if b, err = io.ReadAll(io.LimitReader(a.Body, most+1)); err == nil && int64(len(b)) > most {
			err = fmt.Errorf("s3: %s: an answer of more than %d bytes: %w", method, most, zarr.ErrLimit)
		}
		switch {
		case a.StatusCode == http.StatusNotFound, a.StatusCode == http.StatusGone:
			err = &fs.PathError{Op: method, Path: u.Path, Err: fs.ErrNotExist}
		case a.StatusCode >= 300:
			err = &Error{Method: method, Path: u.Path, Status: a.StatusCode}
		}
	}
	var no *Error
	if errors.As(err, &no) {
		err = no // without the URL again
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
// unchanged, and the error wraps fs.ErrExist, or fs.ErrNotExist if the object is gone. The server must support If-Match and If-None-Match.
func (s *Store) Swap(ctx context.Context, key string, value []byte, etag string) (string, error) {
	if etag == "" {
		return s.put(ctx, key, value, http.Header{"If-None-Match": {"*"}})
	}
	return s.put(ctx, key, value, http.Header{"If-Match": {etag}})
}

// ETag returns the ETag of an object, which Swap takes.
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

// List returns the keys that begin with a prefix, in order.
func (s *Store) List(ctx context.Context, prefix string) (keys []string, err error) {
	err = s.States(ctx, prefix, func(key, _ string) { keys = append(keys, key) })
	slices.Sort(keys)
	return keys, err
}

// Bounds of a list.
const (
	maxPage  = 16 << 20 // bytes of a page, which has up to 1000 keys of up to 1 KiB, escaped
	maxPages = 1 << 14
)

// A page is a part of a list.
type page struct {
	XMLName   xml.Name `xml:"ListBucketResult"`
	Encoding  string   `xml:"EncodingType"`
	Truncated bool     `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Contents  []struct {
		Key, ETag, LastModified string
		Size                    int64
	}
}

// States implements zarr.Stater by the sizes, times and ETags of the list.
func (s *Store) States(ctx context.Context, prefix string, f func(key, state string)) error {
	full, last := s.prefix+prefix, ""
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
		var p page
		if err := xml.Unmarshal(b, &p); err != nil {
			return fmt.Errorf("s3: the list of %q: %w", full, err)
		}
		for _, o := range p.Contents {
			key := o.Key
			if p.Encoding == "url" {
				if key, err = url.QueryUnescape(key); err != nil {
					return fmt.Errorf("s3: the list of %q: %w", full, err)
				}
			}
			if !strings.HasPrefix(key, full) || key <= last {
				return fmt.Errorf("s3: the list of %q has %.100q behind %.100q: the server repeats keys, or lists others", full, key, last)
			}
			last = key
			if key = strings.TrimPrefix(key, s.prefix); zarr.ValidKey(key) == nil { // other names, such as a folder's, are no keys of Zarr
				f(key, fmt.Sprint(o.Size, o.LastModified, o.ETag))
			}
		}
		if !p.Truncated {
			return nil
		}
		if len(p.Contents) == 0 || p.Next == "" || p.Next == query.Get("continuation-token") {
			return fmt.Errorf("s3: the list of %q doesn't go on: a page that isn't the last has no keys, or no token of its own", full)
		}
		query.Set("continuation-token", p.Next)
	}
	return fmt.Errorf("s3: the list of %q has more than %d pages: %w", full, maxPages, zarr.ErrLimit)
}
