package zarr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

// A Versioner is a Store whose values have versions, so that several ranges can be read of one and the same value. GetVersion is GetRange of a
// version of a value; "" means any. It returns the version of the bytes. If the value has another version by now, the error wraps ErrChanged.
// A returned version is "" if the store never knows one. If it begins with W/, two values may share it.
type Versioner interface {
	Store
	GetVersion(ctx context.Context, key string, off, n int64, version string) (b []byte, now string, err error)
}

// weak reports whether two values may have the same version.
func weak(version string) bool { return version == "" || strings.HasPrefix(version, "W/") }

// getVersion is GetVersion of any store. Without versions now is "".
func getVersion(ctx context.Context, s Store, key string, off, n int64, version string) (b []byte, now string, err error) {
	if v, ok := s.(Versioner); ok {
		return v.GetVersion(ctx, key, off, n, version)
	}
	b, err = s.GetRange(ctx, key, off, n)
	return b, "", err
}

// A stamp has the facts in the header of an answer that tell versions of a value apart.
type stamp struct {
	tag, modified string
	size          int64 // of the whole value; -1: unknown
}

// stampOf reads a stamp. The time of the answer itself says nothing: a server may call every value as new as its answer.
func stampOf(h http.Header, size int64) stamp {
	s := stamp{h.Get("ETag"), h.Get("Last-Modified"), size}
	if s.modified == h.Get("Date") {
		s.modified = ""
	}
	return s
}

// strong reports whether an ETag is one that two values don't share.
func strong(tag string) bool { return strings.HasPrefix(tag, `"`) }

// version writes a stamp as a version, also one without any fact: the next answer must have none either. It is strong if it has a strong ETag,
// or if the answer was made a second or more after the last change. Source: RFC 9110, 8.8.
func (s stamp) version(h http.Header) string {
	text := fmt.Sprintf("%s\n%s\n%d", s.tag, s.modified, s.size)
	changed, err := http.ParseTime(s.modified)
	answered, err2 := http.ParseTime(h.Get("Date"))
	byTime := s.tag == "" && err == nil && err2 == nil && answered.Sub(changed) >= time.Second
	if byTime || strong(s.tag) {
		return text
	}
	return "W/\n" + text
}

// parseStamp reads a version that version has written.
func parseStamp(version string) (s stamp, ok bool) {
	parts := strings.Split(strings.TrimPrefix(version, "W/\n"), "\n")
	if len(parts) != 3 {
		return s, false
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	return stamp{parts[0], parts[1], size}, err == nil
}

// is reports whether two stamps may be of the same value. Servers of one value may disagree about the time, so a strong ETag goes first.
// Without one, all facts count, and so does the absence of one.
func (s stamp) is(t stamp) bool {
	if strong(s.tag) {
		return s.tag == t.tag && (s.size == t.size || min(s.size, t.size) < 0)
	}
	return s == t
}

// condition returns the header of a request for a version.
func (s stamp) condition() http.Header {
	h := http.Header{}
	switch {
	case strong(s.tag):
		h.Set("If-Match", s.tag)
	case s.tag == "" && s.modified != "":
		h.Set("If-Unmodified-Since", s.modified)
	}
	return h
}

func errChanged(key string) error {
	return &Error{key, "the value was replaced while it was read", ErrChanged}
}

// askVersion is ask for a version. It calls take with the answer and with the range of bytes that the answer has: from first to below end of
// size bytes, which is -1 if it is unknown.
func (s *httpStore) askVersion(ctx context.Context, method, key, span, version string, take func(a *http.Response, first, end, size int64) error) (now string, err error) {
	header := http.Header{}
	want, known := parseStamp(version)
	switch {
	case known:
		header = want.condition()
	case version != "":
		return "", errChanged(key)
	}
	if span != "" {
		header.Set("Range", span)
	}
	err = s.ask(ctx, method, key, header, func(a *http.Response) error {
		first, end, size := int64(0), a.ContentLength, a.ContentLength
		if a.StatusCode == http.StatusPartialContent {
			var ok bool
			if first, end, size, ok = contentRange(a.Header.Get("Content-Range")); !ok || a.ContentLength > end-first {
				return wrongRange(a, span)
			}
		}
		got := stampOf(a.Header, size)
		if method == http.MethodHead && !strong(got.tag) { // the answers with ranges may not tell the size
			got.size = -1
		}
		if known && !got.is(want) {
			return errChanged(key)
		}
		now = got.version(a.Header)
		return take(a, first, end, size)
	})
	var r *request.Refusal
	if errors.As(err, &r) && r.Status == http.StatusPreconditionFailed && known {
		err = errChanged(key)
	}
	return now, err
}

// contentRange reads bytes FIRST-LAST/SIZE, of which SIZE may be *. Source: RFC 9110, 14.4.
func contentRange(text string) (first, end, size int64, ok bool) {
	rest, ok := strings.CutPrefix(text, "bytes ")
	span, all, ok2 := strings.Cut(rest, "/")
	from, to, ok3 := strings.Cut(span, "-")
	first, err := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 63)
	size = -1
	var err3 error
	if all != "*" {
		size, err3 = strconv.ParseInt(all, 10, 64)
	}
	ok = ok && ok2 && ok3 && err == nil && err2 == nil && err3 == nil
	return first, last + 1, size, ok && first >= 0 && last >= first && (size < 0 || last < size)
}

// unanswered is the error of a server that takes no range from the end.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

func wrongRange(a *http.Response, span string) error {
	return unanswered{fmt.Errorf("the server answers %q with status %d and the range %.50q", span, a.StatusCode, a.Header.Get("Content-Range"))}
}

// size returns the size of a value and its version, by HEAD or by a request for the first byte.
func (s *httpStore) size(ctx context.Context, method, key, version string) (n int64, now string, err error) {
	span := ""
	if method == http.MethodGet {
		span = "bytes=0-0"
	}
	now, err = s.askVersion(ctx, method, key, span, version, func(_ *http.Response, _, _, size int64) error {
		if n = size; n < 0 {
			return fmt.Errorf("the server doesn't say how large the value is: %w", errors.ErrUnsupported)
		}
		return nil
	})
	return n, now, err
}

// GetVersion implements Versioner.
func (s *httpStore) GetVersion(ctx context.Context, key string, off, n int64, version string) (b []byte, now string, err error) {
	if n < 0 || n > maxValue || off < 0 && n > -off || off > math.MaxInt64-n {
		return nil, "", errRange(off, n, -1)
	}
	if n == 0 {
		return nil, version, ended(ctx)
	}
	if off >= 0 || !s.byStart.Load() {
		b, now, err = s.part(ctx, key, off, n, version)
		var r *request.Refusal
		var u unanswered
		refused := errors.As(err, &r) && slices.Contains([]int{400, 405, 416, 500, 501}, r.Status)
		if off >= 0 || !refused && !errors.As(err, &u) {
			return b, now, err
		}
	}
	for range request.Tries {
		size, seen, problem := s.size(ctx, http.MethodGet, key, version)
		if problem != nil && !errors.Is(problem, fs.ErrNotExist) && !errors.Is(problem, ErrChanged) {
			size, seen, problem = s.size(ctx, http.MethodHead, key, version)
		}
		switch {
		case errors.Is(problem, fs.ErrNotExist), errors.Is(problem, ErrChanged):
			return nil, "", problem
		case problem != nil:
			return nil, "", cmp.Or(err, problem)
		case -off > size:
			return nil, "", errRange(off, n, size)
		}
		b, now, problem = s.part(ctx, key, size+off, n, seen)
		if problem == nil {
			s.byStart.Store(true)
		}
		if version != "" || !errors.Is(problem, ErrChanged) {
			return b, now, problem
		}
	}
	return nil, "", errChanged(key)
}

// part reads n bytes from byte off on by one request.
func (s *httpStore) part(ctx context.Context, key string, off, n int64, version string) (b []byte, now string, err error) {
	span := fmt.Sprintf("bytes=%d-%d", off, off+n-1)
	if off < 0 {
		span = fmt.Sprintf("bytes=%d", off)
	}
	now, err = s.askVersion(ctx, http.MethodGet, key, span, version, func(a *http.Response, first, end, size int64) error {
		whole, start := a.StatusCode == http.StatusOK, off
		switch {
		case off < 0 && whole && size < 0:
			return unanswered{fmt.Errorf("the server sends neither a range nor the size: %w", errors.ErrUnsupported)}
		case off < 0 && first == 0 && end < -off && (size < 0 || size == end): // the value is shorter than the requested part
			return errRange(off, n, end)
		case off < 0 && !whole && (end-first != -off || size >= 0 && size != end):
			return wrongRange(a, span)
		case off < 0:
			start += end
		case !whole && first != off:
			return wrongRange(a, span)
		}
		if end >= 0 && n > end-start {
			return errRange(off, n, size)
		}
		if _, err := io.CopyN(io.Discard, a.Body, start-first); err != nil {
			return short(err)
		}
		b, err = inflate(io.LimitReader(a.Body, n), nil, int(min(n, 1<<17)), int(n))
		if err == nil && int64(len(b)) < n {
			err = io.EOF
		}
		return short(err)
	})
	if err != nil {
		return nil, "", err
	}
	return b, now, nil
}

// short replaces the end of a body that should have gone on.
func short(err error) error {
	if err == io.EOF {
		return &request.Broken{Err: io.ErrUnexpectedEOF}
	}
	return err
}
