package zarr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

type httpStore struct {
	client *http.Client
	base   *url.URL
	exact  bool // base is the URL of the only value
}

// HTTP returns the store below a URL, read only and without List: arrays are opened by
// their paths, or by consolidated metadata. A part of a value is requested by a range.
// If the server sends the whole value instead, the bytes before the part are dropped. An
// answer with another range is an error. Status 404 and 410 mean an absent key.
//
// An answer must begin within a minute. Then it must bring 16 KiB or end in each 20 seconds. Otherwise the error
// wraps os.ErrDeadlineExceeded. If client is nil, HTTP uses one that follows at most 5 redirects, none to another scheme.
//
// The build tag nofetch leaves out the client and TLS, a sixth of the web page's program; requests then fail.
func HTTP(base string, client *http.Client) (Store, error) {
	u, err := url.Parse(base)
	if err == nil && u.Scheme != "http" && u.Scheme != "https" {
		err = errors.New("it isn't of http or https")
	}
	if err != nil {
		return nil, fail(err, "the URL %.200q: %v", base, err)
	}
	if client == nil {
		client = &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("more than 5 redirects")
			}
			if from := via[0].URL.Scheme; r.URL.Scheme != from {
				return fmt.Errorf("a redirect from %s to %.200q; give that URL if it is right", from, r.URL.Redacted())
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
	if cause := context.Cause(a.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
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

func (s *httpStore) ask(ctx context.Context, method, key, span string) (*http.Response, error) {
	if err := cmp.Or(needContext(ctx), ValidKey(key)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	patience, period := patience, period // tests change them
	timer := time.AfterFunc(patience, func() { cancel(tooSlow("no answer in %v", patience)) })
	a, err := s.send(ctx, method, key, span)
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

func (s *httpStore) send(ctx context.Context, method, key, span string) (*http.Response, error) {
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
	if span != "" {
		r.Header.Set("Range", span)
	}
	a, err := s.do(r)
	var problem *url.Error
	if errors.As(err, &problem) { // its URL may have a signature in its query
		u := *r.URL
		u.RawQuery = ""
		return nil, fmt.Errorf("%s %s: %w", method, u.Redacted(), problem.Err)
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
	if a.StatusCode == http.StatusNotFound || a.StatusCode == http.StatusGone {
		return nil, absent(key)
	}
	if a.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return nil, fmt.Errorf("%s are outside the value: %w", span, io.ErrUnexpectedEOF)
	}
	return nil, fmt.Errorf("the server answers %s", a.Status)
}

func (s *httpStore) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	a, err := s.ask(ctx, http.MethodGet, key, "")
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s to a request for the whole value", a.Status)
	}
	if a.ContentLength > most {
		return nil, tooLarge(most)
	}
	b, err := inflate(io.LimitReader(a.Body, most+min(1, math.MaxInt64-most)), nil, 1<<13, math.MaxInt)
	if err == nil && int64(len(b)) > most {
		err = tooLarge(most)
	}
	return b, err
}

func (s *httpStore) Size(ctx context.Context, key string) (int64, error) {
	a, err := s.ask(ctx, http.MethodHead, key, "")
	if err != nil {
		return 0, err
	}
	a.Body.Close()
	if a.ContentLength < 0 {
		return 0, fmt.Errorf("the server doesn't say how large the value is: %w", errors.ErrUnsupported)
	}
	return a.ContentLength, nil
}

func (s *httpStore) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if n < 0 || n > maxValue || off < 0 && n > -off || off > math.MaxInt64-n {
		return nil, errRange(off, n, -1)
	}
	if n == 0 {
		return nil, ctx.Err()
	}
	span := fmt.Sprintf("bytes=%d-%d", off, off+n-1)
	if off < 0 {
		span = fmt.Sprintf("bytes=%d", off)
	}
	a, err := s.ask(ctx, http.MethodGet, key, span)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	drop := int64(0) // the bytes before the part
	if a.StatusCode == http.StatusOK {
		size := a.ContentLength
		switch drop = off; {
		case off < 0 && size < 0:
			return nil, fmt.Errorf("the server sends neither a range nor the size: %w", errors.ErrUnsupported)
		case off < 0:
			drop += size
		}
		if drop < 0 || size >= 0 && n > size-drop {
			return nil, errRange(off, n, size)
		}
	} else {
		// RFC 9110, 14.4: bytes FIRST-LAST/SIZE, of which SIZE may be *
		var first, last int64
		var size string
		text := a.Header.Get("Content-Range")
		if _, err := fmt.Sscanf(text, "bytes %d-%d/%s", &first, &last, &size); err != nil || first < 0 || last < first || last == math.MaxInt64 {
			return nil, fmt.Errorf("the server answers %s with the range %.50q", a.Status, text)
		}
		if off < 0 && last-first+1 < -off && first == 0 { // the value is shorter than the requested part
			return nil, errRange(off, n, last+1)
		}
		if off < 0 && (last-first+1 != -off || size != "*" && size != strconv.FormatInt(last+1, 10)) || off >= 0 && first != off {
			return nil, fmt.Errorf("the server answers %q with the range %.50q", span, text)
		}
	}
	if _, err := io.CopyN(io.Discard, a.Body, drop); err != nil {
		return nil, unexpected(err)
	}
	b, err := inflate(io.LimitReader(a.Body, n), nil, int(min(n, 1<<17)), int(n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, unexpected(err)
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *httpStore) Set(_ context.Context, key string, _ []byte) error {
	return fmt.Errorf("%s: a store of HTTP is read only: %w", key, errors.ErrUnsupported)
}

func (s *httpStore) Delete(ctx context.Context, key string) error { return s.Set(ctx, key, nil) }

func (s *httpStore) List(context.Context, string) ([]string, error) {
	return nil, fmt.Errorf("a store of HTTP has no list of keys: %w", errors.ErrUnsupported)
}
