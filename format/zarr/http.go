package zarr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

type httpStore struct {
	client  *http.Client
	base    *url.URL
	exact   bool        // base is the URL of the only value
	byStart atomic.Bool // the server takes no ranges from the end
}

// HTTP returns the store below a URL, read only and without List: arrays are opened by
// their paths, or by consolidated metadata. A part of a value is requested by a range.
// If the server sends the whole value instead, the bytes before the part are dropped. An
// answer with another range is an error. If the server takes no range from the end of a value, HTTP asks for the value's size first.
// Status 404 and 410 mean an absent key.
//
// The store is a Versioner. The version of a value is its ETag. If that isn't strong, all that an answer tells is the version: ETag, the time
// in Last-Modified, and size. Then an answer that tells less, or more, is of another version.
//
// A request is sent up to four times if its answer ends too soon, or has status 408, 429 or one from 500 on. But 501, 505 and 507 are final. The wait
// doubles from 0.2 s on, or is the one that Retry-After says, up to a minute.
//
// An answer must begin within a minute. Then it must bring 16 KiB or end in each 20 seconds. Otherwise the error
// wraps os.ErrDeadlineExceeded. If client is nil, HTTP uses one that follows at most 5 redirects, none to another scheme. It
// takes up to 64 KiB of header in an answer. Errors show URLs without user and query.
//
// The build tag nofetch leaves out the client and TLS, a sixth of the web page's program; requests then fail.
func HTTP(base string, client *http.Client) (Store, error) {
	u, err := url.Parse(base)
	if err != nil { // its text may have a password
		return nil, fail(fs.ErrInvalid, "the URL can't be parsed")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fail(fs.ErrInvalid, "the URL %.200q isn't of http or https", request.URL(base))
	}
	if client == nil {
		client = &http.Client{Transport: request.Transport(), CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("more than 5 redirects")
			}
			if from := via[0].URL.Scheme; r.URL.Scheme != from {
				return fmt.Errorf("a redirect from %s to %.200q; give that URL if it is right", from, request.URL(r.URL.String()))
			}
			return nil
		}}
	}
	return &httpStore{client: client, base: u}, nil
}

// Times of an answer: the wait for its beginning, and the period in which it must bring pace bytes.
var (
	patience = time.Minute
	period   = 20 * time.Second
)

const pace = 16 << 10

// maxValue is the most bytes of one request to a server.
const maxValue = 1<<31 - 1

// An answer is the body of a response, which ends with an error when it comes too slowly.
type answer struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	n      atomic.Int64 // bytes received in this period
}

func (a *answer) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	a.n.Add(int64(n))
	if err != nil && err != io.EOF {
		if cause := context.Cause(a.ctx); cause != nil {
			return n, cause
		}
		err = &request.Broken{Err: err}
	}
	return n, err
}

func (a *answer) Close() error {
	a.timer.Stop()
	defer a.cancel(nil)
	return a.ReadCloser.Close()
}

// tooSlow ends an answer.
func tooSlow(format string, args ...any) error {
	return fail(os.ErrDeadlineExceeded, "the server is too slow: "+format, args...)
}

// ask sends a request, again if its failure may pass, and calls take with each answer of status 200 or 206.
func (s *httpStore) ask(ctx context.Context, method, key string, header http.Header, take func(a *http.Response) error) error {
	if err := cmp.Or(needContext(ctx), ValidKey(key)); err != nil {
		return err
	}
	return request.Again(ctx, func() error {
		a, err := s.once(ctx, method, key, header)
		if err != nil {
			return err
		}
		defer a.Body.Close()
		return take(a)
	})
}

// once sends a request. Its answer ends with an error when it comes too slowly.
func (s *httpStore) once(ctx context.Context, method, key string, header http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	patience, period := patience, period // tests change them
	timer := time.AfterFunc(patience, func() { cancel(tooSlow("no answer in %v", patience)) })
	a, err := s.send(ctx, method, key, header)
	if !timer.Stop() && err == nil {
		a.Body.Close()
		err = ctx.Err()
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	body := &answer{ReadCloser: a.Body, ctx: ctx, cancel: cancel}
	body.timer = time.AfterFunc(math.MaxInt64, func() {
		if n := body.n.Swap(0); n < pace {
			cancel(tooSlow("%d bytes in %v", n, period))
			return
		}
		body.timer.Reset(period)
	})
	body.timer.Reset(period)
	a.Body = body
	return a, nil
}

func (s *httpStore) send(ctx context.Context, method, key string, header http.Header) (*http.Response, error) {
	u := s.base
	if !s.exact {
		parts := strings.Split(key, "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i]) // JoinPath takes them escaped
		}
		u = u.JoinPath(parts...)
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, header)
	a, err := s.do(r)
	var problem *url.Error
	if errors.As(err, &problem) { // its URL may have a signature in its query
		err = problem.Err
		if strings.Contains(err.Error(), "Location header") {
			err = errors.New("a redirect whose address can't be parsed")
		}
		return nil, fmt.Errorf("%s %s: %w", method, request.URL(r.URL.String()), request.Lost(err))
	}
	if err != nil {
		return nil, err
	}
	switch a.StatusCode {
	case http.StatusOK, http.StatusPartialContent:
		if c := a.Header.Get("Content-Encoding"); c != "" && c != "identity" && method != http.MethodHead {
			a.Body.Close()
			return nil, fmt.Errorf("the server compresses its answer with %.50q: %w", c, errors.ErrUnsupported)
		}
		return a, nil
	}
	a.Body.Close()
	switch a.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return nil, absent(key)
	case http.StatusRequestedRangeNotSatisfiable:
		err = fmt.Errorf("%s are outside the value: %w", header.Get("Range"), io.ErrUnexpectedEOF)
	default:
		err = fmt.Errorf("the server answers %d %s", a.StatusCode, http.StatusText(a.StatusCode))
	}
	return nil, request.Refuse(a, err)
}

func (s *httpStore) Get(ctx context.Context, key string, most int64) (b []byte, err error) {
	err = s.ask(ctx, http.MethodGet, key, nil, func(a *http.Response) error {
		if a.StatusCode != http.StatusOK {
			return fmt.Errorf("the server answers %d %s to a request for the whole value", a.StatusCode, http.StatusText(a.StatusCode))
		}
		if a.ContentLength > most {
			return tooLarge(most)
		}
		b, err = inflate(io.LimitReader(a.Body, most+min(1, math.MaxInt64-most)), nil, 1<<13, math.MaxInt)
		switch {
		case err == nil && int64(len(b)) > most:
			err = tooLarge(most)
		case err == nil && int64(len(b)) < a.ContentLength:
			err = &request.Broken{Err: io.ErrUnexpectedEOF}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (s *httpStore) Size(ctx context.Context, key string) (n int64, err error) {
	n, _, err = s.size(ctx, http.MethodHead, key, "")
	return n, err
}

// GetRange implements Store.
func (s *httpStore) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	b, _, err := s.GetVersion(ctx, key, off, n, "")
	return b, err
}

func (s *httpStore) Set(_ context.Context, key string, _ []byte) error {
	return fmt.Errorf("%s: a store of HTTP is read only: %w", key, errors.ErrUnsupported)
}

func (s *httpStore) Delete(ctx context.Context, key string) error { return s.Set(ctx, key, nil) }

func (s *httpStore) List(context.Context, string) ([]string, error) {
	return nil, fmt.Errorf("a store of HTTP has no list of keys, so name an array by its path: %w", errors.ErrUnsupported)
}
