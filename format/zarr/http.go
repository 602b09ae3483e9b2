package zarr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

type httpStore struct {
	client *http.Client
	base   *url.URL
}

// HTTP returns the store below a URL, read only and without List: a hierarchy there is
// opened by its paths, or by consolidated metadata. Ranges are asked for as such; of
// a server that sends the whole value instead, as much as the range needs is read, and
// one from the end is an error. client may be nil: http.DefaultClient. Status 404 and
// 410 are an absent key.
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

func (s *httpStore) get(ctx context.Context, key, span string) (*http.Response, error) {
	if err := valid(key); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(strings.Split(key, "/")...).String(), nil)
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
	a, err := s.get(ctx, key, "")
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	return inflate(a.Body, 1<<13, maxValue)
}

func (s *httpStore) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if n < 0 || n > maxValue || off < 0 && n > -off {
		return nil, errRange(off, n, -1)
	}
	if n == 0 {
		return nil, ctx.Err()
	}
	span := fmt.Sprintf("bytes=%d-%d", off, off+n-1)
	if off < 0 {
		span = fmt.Sprintf("bytes=%d", off)
	}
	a, err := s.get(ctx, key, span)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if a.StatusCode == http.StatusOK {
		if off < 0 {
			return nil, fmt.Errorf("the server sends no ranges: %w", errors.ErrUnsupported)
		}
		if _, err := io.CopyN(io.Discard, a.Body, off); err != nil {
			return nil, err
		}
	} else if off < 0 && a.ContentLength >= 0 && a.ContentLength < -off {
		return nil, errRange(off, n, a.ContentLength)
	}
	b, err := inflate(io.LimitReader(a.Body, n), int(min(n, 1<<17)), int(n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func (s *httpStore) Set(_ context.Context, key string, _ []byte) error {
	return fmt.Errorf("%s: a store of HTTP is read only: %w", key, errors.ErrUnsupported)
}

func (s *httpStore) Delete(ctx context.Context, key string) error { return s.Set(ctx, key, nil) }

func (s *httpStore) List(context.Context, string) ([]string, error) {
	return nil, fmt.Errorf("a store of HTTP has no list of keys: %w", errors.ErrUnsupported)
}
