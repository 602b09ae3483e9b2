package request

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

// A failure that passes is tried again, after the time that the server asks for; another one is returned at once.
func TestAgain(t *testing.T) {
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	answer := func(status int, after string) error {
		h := http.Header{"Retry-After": {after}}
		if strings.HasSuffix(after, "GMT") {
			h.Set("Date", date(-time.Hour)) // of a clock that is an hour late
		}
		return fmt.Errorf("an answer: %w", Refuse(&http.Response{StatusCode: status, Header: h}, errors.New("no")))
	}
	synctest.Test(t, func(t *testing.T) {
		plain := 350 * time.Millisecond // the least sum of the waits
		for _, c := range []struct {
			err    error
			tries  int
			waited time.Duration
		}{
			{answer(503, ""), 4, plain}, {answer(429, "3"), 4, 9 * time.Second}, {answer(500, "x"), 4, plain}, {answer(408, "-1"), 4, plain}, {answer(520, "0"), 4, plain},
			{answer(503, date(-time.Hour+40*time.Second)), 4, 2 * time.Minute}, {answer(503, date(-2*time.Hour)), 4, plain},
			{answer(503, "61"), 1, 0}, {answer(503, "99999999999999999999"), 1, 0}, {answer(503, date(time.Hour)), 1, 0},
			{answer(501, ""), 1, 0}, {answer(505, "1"), 1, 0}, {answer(507, ""), 1, 0}, {answer(404, "1"), 1, 0}, {answer(400, ""), 1, 0}, {answer(403, ""), 1, 0}, {answer(412, ""), 1, 0}, {answer(301, ""), 1, 0},
			{&Broken{io.ErrUnexpectedEOF}, 4, plain}, {Lost(io.EOF), 4, plain}, {Lost(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), 4, plain}, {Lost(&net.OpError{Op: "write", Err: syscall.EPIPE}), 4, plain},
			{Lost(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), 1, 0}, {Lost(errors.New("a certificate")), 1, 0}, {io.ErrUnexpectedEOF, 1, 0}, {context.Canceled, 1, 0},
		} {
			n, start := 0, time.Now()
			err := Again(t.Context(), func() error { n++; return c.err })
			if spent := time.Since(start); !errors.Is(err, c.err) || n != c.tries || spent < c.waited || spent > 2*c.waited+2*time.Second {
				t.Errorf("%v: %d tries in %v, want %d in %v; %v", c.err, n, spent, c.tries, c.waited, err)
			}
			n = 0
			if err := Again(t.Context(), func() error {
				if n++; n == c.tries {
					return nil
				}
				return c.err
			}); err != nil {
				t.Errorf("%v, then none: %v", c.err, err)
			}
			// A context that ends while it waits ends the wait.
			ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
			start = time.Now()
			err = Again(ctx, func() error { return c.err })
			if c.tries > 1 && (!errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 50*time.Millisecond) {
				t.Errorf("%v in a context that ends: %v after %v", c.err, err, time.Since(start))
			}
			stop()
		}
	})
}

// No part of a URL that may be a secret is printed, wherever it stands in a text; the rest stays.
func TestPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const secret = "S3CR3T"
		u := url.URL{Scheme: rapid.SampledFrom([]string{"http", "https", "s3", "x+y.z-1"}).Draw(t, "scheme"), Host: rapid.SampledFrom([]string{"h", "h:80", "[::1]:80"}).Draw(t, "host"),
			Path: "/" + rapid.StringMatching(`[a-z@:/ é.]{0,9}`).Draw(t, "path")}
		want := u.String()
		u.RawQuery = rapid.SampledFrom([]string{"", "a=" + secret, secret, "a=b&c=" + secret + "@x/y:z?"}).Draw(t, "query")
		u.Fragment = rapid.SampledFrom([]string{"", secret, "a@" + secret}).Draw(t, "fragment")
		u.User = rapid.SampledFrom([]*url.Userinfo{nil, url.User(secret), url.UserPassword("u", secret), url.UserPassword(secret, "p@:/?#")}).Draw(t, "user")
		if got := URL(u.String()); got != want {
			t.Errorf("%s: %s, want %s", u.String(), got, want)
		}
		begin, end := rapid.SampledFrom([]string{"", "see ", `"`, "<", "a://b "}).Draw(t, "begin"), rapid.SampledFrom([]string{"", " is", `" is`, "> ?", "\nx"}).Draw(t, "end")
		if got := Plain(begin + u.String() + end); got != begin+want+end {
			t.Errorf("%s, want %s", got, begin+want+end)
		}
	})
	for text, want := range map[string]string{"": "", "a?b@c#d": "a?b@c#d", "http://": "http://", "http://u:S@h": "http://h", "http://h?S": "http://h", "http://h#S": "http://h", "://x?y": "://x?y",
		"see http://u:S?@h/x, or": "see http://… or", "http://h/%zz?S": "http://…"} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The header of an answer is bounded.
func TestHeader(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", len(r.URL.Path)*maxHeader/2))
	}))
	defer server.Close()
	client := http.Client{Transport: Transport()}
	for path, ok := range map[string]bool{"/": true, "/long": false} {
		a, err := client.Get(server.URL + path)
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			a.Body.Close()
		}
	}
	usual := http.DefaultTransport
	defer func() { http.DefaultTransport = usual }()
	http.DefaultTransport = http.NewFileTransport(http.Dir("."))
	if Transport() != http.DefaultTransport {
		t.Error("the program's own transport isn't used")
	}
}
