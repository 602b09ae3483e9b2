package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// headerLength is the header of a request or an answer with the number of the body's bytes that are JSON; binary data follow.
const headerLength = "Inference-Header-Content-Length"

// errTime is the cause of a context that Options.Timeout ended.
var errTime = errors.New("the time is over")

// headerOf returns the number of the body's bytes that are JSON, -1 for all.
func headerOf(r *http.Request) (int64, error) {
	if c := r.Header.Get("Content-Encoding"); c != "" && c != "identity" {
		return 0, refuse(http.StatusUnsupportedMediaType, "the content encoding %.40q isn't supported; send the body as it is", c)
	}
	switch list := r.Header.Values(headerLength); len(list) {
	case 0:
		return -1, nil
	case 1:
		if n, err := strconv.ParseUint(list[0], 10, 62); err == nil {
			return int64(n), nil
		}
		return 0, refuse(http.StatusBadRequest, "the header %s is %.40q, no number of bytes", headerLength, list[0])
	}
	return 0, refuse(http.StatusBadRequest, "the header %s stands there more than once", headerLength)
}

// admitted reads the body of a request, unless too many wait, and calls answer within the bounds on memory and time.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request, answer func(ctx context.Context, body []byte, held *int64) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if s.queue.Load() >= int64(s.o.MaxQueue) && len(s.slots) == cap(s.slots) {
		return errQueue // before its body is read
	}
	var held int64
	defer func() { s.held.Add(-held) }()
	body, err := s.body(w, r, &held)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.base, func() { cancel(errStopping) })()
	defer time.AfterFunc(s.o.Timeout, func() { cancel(errTime) }).Stop()
	return answer(ctx, body, &held)
}

// body reads the request's body.
func (s *Server) body(w http.ResponseWriter, r *http.Request, held *int64) ([]byte, error) {
	tooLarge := func() error {
		w.Header().Set("Connection", "close")
		return refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", s.o.MaxBody)
	}
	if r.ContentLength > s.o.MaxBody {
		return nil, tooLarge()
	}
	src := http.MaxBytesReader(w, r.Body, s.o.MaxBody)
	// The first piece is small, since a client that announces many bytes has sent none yet.
	size := int64(64 << 10)
	if r.ContentLength >= 0 {
		size = min(size, r.ContentLength+1) // a byte more, for the end to show
	}
	if err := s.take(held, size); err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for {
		n, err := src.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		var over *http.MaxBytesError
		switch {
		case err == io.EOF:
			return b, nil
		case errors.As(err, &over):
			return nil, tooLarge()
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.Header().Set("Connection", "close")
			return nil, refuse(http.StatusRequestTimeout, "the body didn't arrive within %v", s.o.BodyTimeout)
		case err == io.ErrUnexpectedEOF:
			return nil, refuse(http.StatusBadRequest, "the body ends after %d bytes, before its length says", len(b))
		case err != nil:
			if r.Context().Err() != nil {
				return nil, context.Cause(r.Context())
			}
			return nil, refuse(http.StatusBadRequest, "reading the body: %v", err)
		}
		if len(b) == cap(b) {
			size := 2 * int64(cap(b))
			if r.ContentLength >= 0 {
				size = min(size, r.ContentLength+1)
			}
			size = max(size, int64(len(b))+1)
			if err := s.take(held, size); err != nil {
				return nil, err
			}
			before := int64(cap(b))
			b = append(make([]byte, 0, size), b...)
			*held -= before
			s.held.Add(-before)
		}
	}
}

// write answers with bytes.
func write(w http.ResponseWriter, status int, kind string, answer []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(status)
	w.Write(answer) // who reads it may be gone
}
