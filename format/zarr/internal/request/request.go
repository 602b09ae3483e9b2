// Package request has the parts that the stores of HTTP and of S3 share. Again sends a request again after a failure that may pass. Plain
// prints URLs without their secrets. Transport bounds the header of an answer.
package request

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bounds of Again.
const (
	Tries   = 4                      // the most times that a request is sent
	first   = 200 * time.Millisecond // the wait before the second try, which doubles before each next one
	longest = time.Minute            // the longest wait that a server may ask for
)

// A Refusal is an answer whose status refuses the request. It keeps no header: fmt would print a secret in it.
type Refusal struct {
	Status int
	Wait   time.Duration // that the server asks for
	Err    error         // describes the answer
}

// Refuse returns the refusal that an answer is.
func Refuse(a *http.Response, err error) *Refusal {
	return &Refusal{Status: a.StatusCode, Wait: after(a.Header), Err: err}
}

func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the error that describes the answer.
func (r *Refusal) Unwrap() error { return r.Err }

// Broken is the error about a connection or a body that ended too soon.
type Broken struct{ Err error }

func (b *Broken) Error() string { return b.Err.Error() }

// Unwrap returns the reason.
func (b *Broken) Unwrap() error { return b.Err }

// Lost returns an error of a client as Broken if the connection ended before an answer came, else unchanged.
func Lost(err error) error {
	var op *net.OpError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write") {
		return &Broken{err}
	}
	return err
}

// Again calls f until it succeeds, at most Tries times. It calls f again after a Broken error and after a Refusal with status 408, 429 or
// one from 500 on. But 501, 505 and 507 are final. It waits for half to all of a time that doubles, or as long as the header Retry-After says. If
// that is more than a minute, the error comes at once. Again ends when the context does.
func Again(ctx context.Context, f func() error) error {
	for try := 0; ; try++ {
		err := f()
		var r *Refusal
		var b *Broken
		refused := errors.As(err, &r)
		if err == nil || refused && !busy(r.Status) || !refused && !errors.As(err, &b) {
			return err
		}
		if try+1 == Tries {
			return fmt.Errorf("%w; it was tried %d times", err, Tries)
		}
		wait := first<<try - rand.N(first<<try/2)
		if refused {
			if r.Wait > longest {
				return fmt.Errorf("%w; the server asks to come back in %v", err, r.Wait)
			}
			wait = max(wait, r.Wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// busy reports whether the same request may succeed after an answer of this status.
func busy(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusInsufficientStorage:
		return false
	}
	return status >= 500
}

// after returns the time that the header Retry-After asks for: seconds, or a date beside that of the answer. Source: RFC 9110, 10.2.3.
func after(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(n) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}

var urls = regexp.MustCompile("[A-Za-z][A-Za-z0-9+.-]*://[^\\s\"'`<>]*")

// Plain returns a text in which each URL has lost its user, query and fragment, which may be secrets.
func Plain(text string) string { return urls.ReplaceAllStringFunc(text, URL) }

// URL returns a URL without its user, query and fragment. Of one that can't be parsed, and may have a user anywhere, only the scheme stays.
func URL(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	if _, err := url.Parse(text); err != nil {
		return scheme + "://…"
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	end := strings.IndexByte(rest+"/", '/')
	return scheme + "://" + rest[strings.LastIndexByte(rest[:end], '@')+1:]
}
