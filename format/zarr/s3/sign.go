package s3

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

// An Error is a server's answer that refuses a request. Unwrap returns fs.ErrExist if a condition doesn't hold, fs.ErrPermission if the login is
// refused, else nil: an absent bucket is no absent object.
type Error struct {
	Method, Path string
	Status       int
	Code         string // S3's code, such as SlowDown; "": the answer has none
	Message      string // the message without secrets of the login
}

func (e *Error) Error() string {
	text := fmt.Sprintf("s3: %s %s: %d %s", e.Method, e.Path, e.Status, cmp.Or(e.Code, http.StatusText(e.Status)))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error {
	switch {
	case e.Status == http.StatusPreconditionFailed, e.Status == http.StatusConflict:
		return fs.ErrExist
	case e.Status == http.StatusForbidden, e.Status == http.StatusUnauthorized:
		return fs.ErrPermission
	}
	return nil
}

// A signer signs requests, and makes errors of answers.
type signer struct {
	next        http.RoundTripper
	region, key string
	secrets     func() (secret, token string) // a function, since fmt would print a string
	now         func() time.Time
}

func newSigner(c Config, next http.RoundTripper) *signer {
	secret, token := c.Secret, c.Token
	return &signer{next: next, region: c.Region, key: c.Key, secrets: func() (string, string) { return secret, token }, now: time.Now}
}

// RoundTrip implements http.RoundTripper. It leaves the answers 404, 410 and 416 to the caller.
func (s *signer) RoundTrip(r *http.Request) (*http.Response, error) {
	to := r.Clone(r.Context())
	to.URL.RawPath = escape(to.URL.Path, true)
	s.sign(to)
	a, err := s.next.RoundTrip(to)
	if err != nil {
		return nil, err
	}
	if err := s.refusal(r, a); err != nil {
		return nil, request.Refuse(a, err)
	}
	return a, nil
}

// refusal makes an error of an answer that refuses the request, and closes the answer.
func (s *signer) refusal(r *http.Request, a *http.Response) error {
	switch {
	case a.StatusCode < 300, a.StatusCode == http.StatusGone, a.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil
	case a.StatusCode == http.StatusNotFound && r.Method == http.MethodHead:
		return nil
	}
	defer a.Body.Close()
	var x struct{ Code, Message, Region string }
	xml.NewDecoder(io.LimitReader(a.Body, 64<<10)).Decode(&x) // any other answer leaves it empty
	if a.StatusCode == http.StatusNotFound && x.Code != "NoSuchBucket" {
		a.Body = http.NoBody
		return nil
	}
	secret, token := s.secrets()
	hide := func(text string) string { // of the server's words, which may repeat the login
		for _, hidden := range []string{secret, token, s.key} {
			if hidden != "" {
				text = strings.ReplaceAll(text, hidden, "***")
			}
		}
		return request.Plain(text)
	}
	e := &Error{Method: r.Method, Path: r.URL.Path, Status: a.StatusCode, Code: hide(x.Code), Message: hide(x.Message)}
	if a.StatusCode < 400 {
		e.Message = "redirects aren't followed"
		if to, err := url.Parse(a.Header.Get("Location")); err == nil && to.Host != "" {
			e.Message += "; this one leads to " + hide(request.URL(to.String()))
		}
	}
	if region := cmp.Or(a.Header.Get("X-Amz-Bucket-Region"), x.Region); region != "" && region != s.region {
		e.Message += "; the bucket is in the region " + hide(region)
	}
	e.Code, e.Message = cut(e.Code, 100), cut(e.Message, 500)
	return e
}

func cut(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }

// escape writes bytes as %XX but for the unreserved characters of RFC 3986, and slashes.
func escape(text string, slashes bool) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0, c == '/' && slashes:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func digest(b []byte) string {
	d := sha256.Sum256(b)
	return hex.EncodeToString(d[:])
}

var nothing = digest(nil)

// sign adds the headers of Signature Version 4 for the service s3. The hash of a body is in its header already.
func (s *signer) sign(r *http.Request) {
	secret, token := s.secrets()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if r.Header.Get("X-Amz-Content-Sha256") == "" {
		r.Header.Set("X-Amz-Content-Sha256", nothing)
	}
	if s.key == "" {
		return
	}
	now := s.now().UTC()
	r.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
	if token != "" {
		r.Header.Set("X-Amz-Security-Token", token)
	}
	r.Header.Set("Authorization", authorization(r, r.Header.Get("X-Amz-Content-Sha256"), now, s.region, "s3", s.key, secret))
}

// authorization makes the header Authorization of a request, by its host, its other headers, its path and its query.
func authorization(r *http.Request, hash string, now time.Time, region, service, key, secret string) string {
	headers := map[string]string{"host": cmp.Or(r.Host, r.URL.Host)}
	for name, values := range r.Header {
		if name = strings.ToLower(name); name == "user-agent" || name == "authorization" {
			continue
		}
		for i, v := range values {
			values[i] = strings.Join(strings.Fields(v), " ")
		}
		headers[name] = strings.Join(values, ",")
	}
	var names []string
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	var pairs [][2]string
	for name, values := range r.URL.Query() {
		for _, v := range values {
			pairs = append(pairs, [2]string{escape(name, false), escape(v, false)})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	var query []string
	for _, p := range pairs {
		query = append(query, p[0]+"="+p[1])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n", r.Method, cmp.Or(r.URL.EscapedPath(), "/"), strings.Join(query, "&"))
	for _, name := range names {
		fmt.Fprintf(&b, "%s:%s\n", name, headers[name])
	}
	signed := strings.Join(names, ";")
	fmt.Fprintf(&b, "\n%s\n%s", signed, hash)
	day := now.Format("20060102")
	scope := day + "/" + region + "/" + service + "/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + now.Format("20060102T150405Z") + "\n" + scope + "\n" + digest([]byte(b.String()))
	k := []byte("AWS4" + secret)
	for _, part := range []string{day, region, service, "aws4_request", text} {
		k = sum(k, part)
	}
	return "AWS4-HMAC-SHA256 Credential=" + key + "/" + scope + ", SignedHeaders=" + signed + ", Signature=" + hex.EncodeToString(k)
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
