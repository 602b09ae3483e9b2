package zarr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

type httpStore struct {
	client *http.Client
	base   *url.URL
}

// HTTP returns the store below a URL, read only and without List: a hierarchy there is
// opened by its paths, or by consolidated metadata. A part of a value is asked for by
// a range. When the server sends the whole value instead, the bytes before the part are
// dropped. An answer that holds another range is an error. client may be nil:
// http.DefaultClient. Status 404 and 410 are an absent key.
func HTTP(base string, client *http.Client) (Store, error) {
	u, err := url.Parse(base)
	if err == nil && u.Scheme != "http" && u.Scheme != "https" {
		err = errors.New("it isn't of http or https")
	}
	if err != nil {
		return nil, fail(err, "the URL %.200q: %v", base, err)
	}
	if client == nil {
		client = http.DefaultClient
	}
	return &httpStore{client, u}, nil
}

func (s *httpStore) ask(ctx context.Context, method, key, span string) (*http.Response, error) {
	if err := valid(key); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(strings.Split(key, "/")...).String(), nil)
	if err != nil {
		return nil, err
	}
	if span != "" {
		r.Header.Set("Range", span)
	}
	a, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	switch a.StatusCode {
	case http.StatusOK, http.StatusPartialContent:
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

func (s *httpStore) Get(ctx context.Context, key string) ([]byte, error) {
	a, err := s.ask(ctx, http.MethodGet, key, "")
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s to a request for the whole value", a.Status)
	}
	return inflate(a.Body, nil, 1<<13, maxValue)
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
	drop := int64(0) // bytes that come before the part
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
		if off < 0 && last-first+1 < -off && first == 0 { // a value shorter than what was asked for
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
