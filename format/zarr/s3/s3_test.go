package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ashlar-go/ashlar/format/zarr"
)

// The examples of Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)", and of the published suite
// of test vectors aws-sig-v4-test-suite (get-vanilla, get-vanilla-query-order-key-case, post-vanilla).
func TestVectors(t *testing.T) {
	const s3Secret, suite = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	const welcome = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
	for _, c := range []struct {
		method, url, service, hash string
		header                     http.Header
		want                       string
	}{
		{"GET", "https://examplebucket.s3.amazonaws.com/test.txt", "s3", nothing, http.Header{"Range": {"bytes=0-9"}}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", "https://examplebucket.s3.amazonaws.com/test$file.text", "s3", welcome, http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}},
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET", "https://examplebucket.s3.amazonaws.com/?lifecycle", "s3", nothing, http.Header{}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET", "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "s3", nothing, http.Header{}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
		{"GET", "https://example.amazonaws.com/", "service", nothing, http.Header{}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "service", nothing, http.Header{}, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"POST", "https://example.amazonaws.com/", "service", nothing, http.Header{}, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	} {
		r, err := http.NewRequest(c.method, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = c.header
		now, key, secret := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC), "AKIAIOSFODNN7EXAMPLE", s3Secret
		if c.service == "s3" {
			r.Header.Set("X-Amz-Content-Sha256", c.hash)
		} else {
			now, key, secret = time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC), "AKIDEXAMPLE", suite
		}
		r.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
		r.URL.RawPath = escape(r.URL.Path, true)
		if got := authorization(r, c.hash, now, "us-east-1", c.service, key, secret); !strings.HasSuffix(got, "Signature="+c.want) {
			t.Errorf("%s %s: %s, want %s", c.method, c.url, got, c.want)
		}
	}
}

const secret, token, signature = "thesecretofthekey", "thetokenofthesession", "thesignatureofaurl"

// A handler answers requests in this process, so that a bubble of testing/synctest passes the time at once.
type handler func(w http.ResponseWriter, r *http.Request)

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	h(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a := w.Result()
	a.Request = r
	return a, nil
}

// fake is a store whose server is f.
func fake(t *testing.T, f http.HandlerFunc) *Store {
	t.Helper()
	return made(t, Config{Endpoint: "http://bucket.test", Transport: handler(f)})
}

// served is a store whose server is f, over a real connection.
func served(t *testing.T, f http.HandlerFunc) *Store {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return made(t, Config{Endpoint: server.URL})
}

func made(t *testing.T, c Config) *Store {
	t.Helper()
	c.Bucket, c.Prefix, c.Key, c.Secret, c.Token = "bucket", "p", "AKIDEXAMPLE", secret, token
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var methods = map[string]func(ctx context.Context, s *Store) error{
	"Get":      func(ctx context.Context, s *Store) error { _, err := s.Get(ctx, "k", 100); return err },
	"GetRange": func(ctx context.Context, s *Store) error { _, err := s.GetRange(ctx, "k", 0, 4); return err },
	"suffix":   func(ctx context.Context, s *Store) error { _, err := s.GetRange(ctx, "k", -4, 4); return err },
	"Size":     func(ctx context.Context, s *Store) error { _, err := s.Size(ctx, "k"); return err },
	"Set":      func(ctx context.Context, s *Store) error { return s.Set(ctx, "k", []byte("1234")) },
	"Swap":     func(ctx context.Context, s *Store) error { _, err := s.Swap(ctx, "k", []byte("1234"), ""); return err },
	"Delete":   func(ctx context.Context, s *Store) error { return s.Delete(ctx, "k") },
	"List":     func(ctx context.Context, s *Store) error { _, err := s.List(ctx, ""); return err },
	"ETag":     func(ctx context.Context, s *Store) error { _, err := s.ETag(ctx, "k"); return err },
}

// everything calls each method and returns the errors.
func everything(ctx context.Context, s *Store) map[string]error {
	errs := map[string]error{}
	for name, call := range methods {
		errs[name] = call(ctx, s)
	}
	return errs
}

// Servers that refuse, redirect and lie make errors that say so, and no error, no request's URL and no print has a secret.
func TestBadServers(t *testing.T) { synctest.Test(t, testBadServers) }

func testBadServers(t *testing.T) {
	echo := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>Denied</Code><Message>%s %s %s %s</Message></Error>", secret, token, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"))
		}
	}
	for name, c := range map[string]struct {
		f    http.HandlerFunc
		text string
		is   error
		but  string // methods that need not fail
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", "eu-north-1")
			if r.Host != "bucket.test" {
				t.Errorf("a redirect was followed with %q", r.Header.Get("Authorization"))
			}
			w.Header().Set("Location", "https://u:"+secret+"@elsewhere.test/stolen?X-Amz-Signature="+signature+"#"+signature)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "this one leads to https://elsewhere.test/stolen; the bucket is in the region eu-north-1", nil, ""},
		"a message with a URL": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			io.WriteString(w, "<Error><Code>Bad</Code><Message>see https://elsewhere.test/a?s="+signature+" for more</Message></Error>")
		}, "400", nil, ""},
		"denied":  {echo(403), "403", fs.ErrPermission, ""},
		"changed": {echo(412), "412", fs.ErrExist, ""},
		"down":    {echo(503), "503", nil, ""},
		"bucket": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(404)
			io.WriteString(w, "<Error><Code>NoSuchBucket</Code></Error>")
		}, "", nil, ""},
		"absent":        {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404) }, "", fs.ErrNotExist, "Delete"},
		"gone":          {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(410) }, "", fs.ErrNotExist, "Delete"},
		"range refused": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(416) }, "", nil, ""},
		"short": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Header().Set("Content-Range", "bytes 0-3/1000")
			io.WriteString(w, "12")
		}, "", nil, "Size Set Swap ETag Delete"},
		"long": {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 1<<20)) }, "", nil, "GetRange suffix Size ETag"},
		"range": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 8-11/12")
			w.WriteHeader(206)
			io.WriteString(w, "1234")
		}, "", nil, "suffix Size Set Swap Delete ETag"},
	} {
		s := fake(t, c.f)
		for method, err := range everything(t.Context(), s) {
			if err == nil {
				if !strings.Contains(c.but, method) {
					t.Errorf("%s: %s has no error", name, method)
				}
				continue
			}
			text := fmt.Sprintf("%v %+v %#v", err, err, err)
			if name == "bucket" && errors.Is(err, fs.ErrNotExist) != strings.Contains("Size ETag", method) { // HEAD has no body that tells
				t.Errorf("%s: %v", method, err)
			}
			if method == "List" && c.is == fs.ErrNotExist { // the bucket isn't there
				if errors.Is(err, fs.ErrNotExist) || !strings.Contains(text, "404 Not Found") {
					t.Errorf("%s: %s: %v", name, method, err)
				}
				continue
			}
			if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(text, c.text) {
				t.Errorf("%s: %s: %v; want %v with %q", name, method, err, c.is, c.text)
			}
			if strings.Contains(text, secret) || strings.Contains(text, token) || strings.Contains(text, signature) {
				t.Errorf("%s: %s tells a secret: %s", name, method, text)
			}
		}
		c := Config{Bucket: "b", Secret: secret, Token: token}
		for _, text := range []string{fmt.Sprintf("%v %+v %#v %s", s, s, s, s), fmt.Sprintf("%v %+v %#v", c, c, &c), fmt.Sprintf("%+v %#v", *s.client, s.client.Transport)} {
			if strings.Contains(text, secret) || strings.Contains(text, token) {
				t.Errorf("a print tells a secret: %s", text)
			}
		}
	}
}

// A server that is busy, and a connection that breaks, are tried four times, unless the request writes on a condition.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, fail := range map[string]func(w http.ResponseWriter){
			"busy":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
			"short":  func(w http.ResponseWriter) { w.Header().Set("Content-Length", "9"); io.WriteString(w, "<E") },
			"broken": nil,
		} {
			for failures := range 6 {
				n, list := 0, "<ListBucketResult></ListBucketResult>"
				s := made(t, Config{Endpoint: "http://bucket.test", Transport: breaking(func(w http.ResponseWriter, r *http.Request) bool {
					b, _ := io.ReadAll(r.Body)
					if n++; n <= failures {
						if fail != nil {
							fail(w)
						}
						return fail == nil
					}
					switch {
					case r.Method == http.MethodPut && string(b) != "1234":
						t.Errorf("the body of try %d is %q", n, b)
					case r.URL.Query().Has("list-type"):
						io.WriteString(w, list)
					case r.Header.Get("Range") != "":
						w.Header().Set("Content-Range", map[string]string{"bytes=0-3": "bytes 0-3/100", "bytes=-4": "bytes 96-99/100"}[r.Header.Get("Range")])
						w.WriteHeader(206)
						io.WriteString(w, "6789")
					case r.Method == http.MethodGet:
						io.WriteString(w, "1234")
					case r.Method == http.MethodHead:
						w.Header().Set("Content-Length", "4")
					}
					return false
				})})
				for method, call := range methods {
					n = 0
					start := time.Now()
					err := call(t.Context(), s)
					tries := 4
					if method == "Swap" {
						tries = 1
					}
					if name == "short" && slices.Contains([]string{"Size", "ETag"}, method) { // HEAD has no body
						continue
					}
					want := min(failures+1, tries)
					if (err == nil) != (failures < tries) || n != want {
						t.Errorf("%s, %d failures: %s: %d requests, want %d; %v", name, failures, method, n, want, err)
					}
					if spent := time.Since(start); spent > time.Duration(1<<want)*100*time.Millisecond {
						t.Errorf("%s: %d requests took %v", method, n, spent)
					}
				}
			}
		}
	})
}

// breaking is a handler whose connection breaks if it returns true.
type breaking func(w http.ResponseWriter, r *http.Request) bool

func (b breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	broken := false
	a, err := handler(func(w http.ResponseWriter, r *http.Request) { broken = b(w, r) }).RoundTrip(r)
	if broken {
		err = &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	}
	return a, err
}

// A server that accepts and then is silent ends with an error about time, and so does the caller's context.
func TestSilent(t *testing.T) {
	defer func(p time.Duration) { patience = p }(patience)
	patience = 50 * time.Millisecond
	release := make(chan struct{})
	s := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("list-type") {
			io.WriteString(w, "<ListBucketResult>")
			w.(http.Flusher).Flush()
		}
		<-release
	})
	defer close(release)
	if err := s.Set(t.Context(), "k", []byte("1234")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	if _, err := s.List(t.Context(), ""); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	patience = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for method, err := range everything(ctx, s) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// Lists that repeat keys, name others, don't end or are no XML are errors.
func TestLists(t *testing.T) {
	list := func(more string, keys ...string) string {
		text := "<ListBucketResult><IsTruncated>" + fmt.Sprint(more != "") + "</IsTruncated><NextContinuationToken>" + more + "</NextContinuationToken>"
		for _, k := range keys {
			text += "<Contents><Key>" + k + "</Key></Contents>"
		}
		return text + "</ListBucketResult>"
	}
	for name, c := range map[string]struct {
		text string
		bad  string
	}{
		"repeats":  {list("", "p/a", "p/b", "p/a"), "repeats"},
		"others":   {list("", "q/a"), "others"},
		"endless":  {list("x", "p/a"), ""},
		"stuck":    {list("x"), "doesn't go on"},
		"no token": {strings.Replace(list("x", "p/a"), "x<", "<", 1), "doesn't go on"},
		"no key":   {list("", "p/a", ""), "without a key"},
		"empties":  {"<ListBucketResult>" + strings.Repeat("<Contents/>", 1<<18), "without a key"},
		"page":     {"<html>", "ListBucketResult"},
		"none":     {"", "EOF"},
		"bytes":    {strings.Repeat("<", 100), "syntax"},
		"folders":  {list("", "p/", "p/a/", "p/a/b"), "fine"},
	} {
		s := fake(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, c.text) })
		keys, err := s.List(t.Context(), "")
		if c.bad == "fine" {
			if err != nil || fmt.Sprint(keys) != "[a/b]" {
				t.Error(keys, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Keys may come in any order, and pages may be empty; but pages without end, or with keys of earlier pages, are errors after few requests.
func TestPages(t *testing.T) {
	for name, c := range map[string]struct {
		page     func(n int) string // the keys of a page, separated by spaces
		pages    int
		want     string
		requests int
	}{
		"backward":       {func(n int) string { return fmt.Sprint("p/", 9-n, " p/", 9-n, "a") }, 5, "[5 5a 6 6a 7 7a 8 8a 9 9a]", 5},
		"by folder":      {func(n int) string { return []string{"p/a/b p/a/c", "p/a.b p/A"}[n] }, 2, "[A a.b a/b a/c]", 2},
		"empty":          {func(n int) string { return map[int]string{3: "p/b", 70: "p/a"}[n] }, 100, "[a b]", 100},
		"none":           {func(n int) string { return "" }, 3, "[]", 3},
		"empty for ever": {func(n int) string { return map[int]string{3: "p/b"}[n] }, 1 << 20, "100 pages in a row", 104},
		"again":          {func(n int) string { return []string{"p/a", "p/c", "p/b", "p/a"}[n%4] }, 1 << 20, "repeats keys", 4},
	} {
		requests := 0
		s := fake(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			n, _ := strconv.Atoi(r.URL.Query().Get("continuation-token"))
			fmt.Fprintf(w, "<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%d</NextContinuationToken>", n+1 < c.pages, n+1)
			for _, k := range strings.Fields(c.page(n)) {
				fmt.Fprintf(w, "<Contents><Size>1</Size><Key>%s</Key></Contents>", k)
			}
			io.WriteString(w, "</ListBucketResult>")
		})
		keys, err := s.List(t.Context(), "")
		if got := fmt.Sprint(keys, err); !strings.Contains(got, c.want) || (err == nil) != (c.want[0] == '[') || requests != c.requests {
			t.Errorf("%s: %s after %d requests, want %s after %d", name, got, requests, c.want, c.requests)
		}
	}
}

// A page of many small elements takes little memory.
func TestPageMemory(t *testing.T) {
	const size = maxPage / 8
	for _, part := range []string{"<Contents/>", "<Contents><Key>p/a</Key></Contents>", "<a>", " b=''"} {
		s := fake(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "<ListBucketResult"+map[bool]string{true: "", false: ">"}[part[0] == ' ']+strings.Repeat(part, size/len(part))+">")
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := s.List(t.Context(), "")
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 96*size+(8<<20) {
			t.Errorf("%s: %d bytes, %v", part, took, err)
		}
	}
}

// FuzzList reads any bytes as a page of a list.
func FuzzList(f *testing.F) {
	f.Add([]byte("<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>p/a%2Fb</Key><Size>3</Size></Contents></ListBucketResult>"))
	f.Add([]byte("<Error><Code>AccessDenied</Code></Error>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := New(Config{Endpoint: "http://127.0.0.1:1", Bucket: "bucket", Prefix: "p", Transport: answering(b)})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := c.List(t.Context(), "")
		for _, k := range keys {
			if err == nil && !fs.ValidPath(k) {
				t.Errorf("the key %q", k)
			}
		}
	})
}

// answering answers all requests with 200 and these bytes.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a))), ContentLength: int64(len(a)), Request: r}, nil
}

// Addresses and configurations that are none.
func TestAddresses(t *testing.T) {
	none := func(string) string { return "" }
	for _, a := range []string{"", "s3://", "s3:///x", "https://b", "s3://u:" + secret + "@b/x", "s3://b/../x", "s3://b//x"} {
		if _, err := Open(a, none); !errors.Is(err, ErrAddress) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", a, err)
		}
	}
	for _, e := range []string{"ftp://x", "http://u:" + secret + "@x", "x", "http://", ":"} {
		if _, err := New(Config{Endpoint: e, Bucket: "bucket"}); !errors.Is(err, ErrAddress) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", e, err)
		}
	}
	for _, c := range []struct{ address, region, endpoint, want string }{
		{"s3://bucket/a/b", "", "", "https://bucket.s3.us-east-1.amazonaws.com/"}, {"s3://dotted.bucket", "eu-west-1", "", "https://s3.eu-west-1.amazonaws.com/dotted.bucket"},
		{"s3://bucket", "auto", "http://127.0.0.1:9000/", "http://127.0.0.1:9000/bucket"},
	} {
		s, err := Open(c.address, func(name string) string {
			return map[string]string{"AWS_REGION": c.region, "AWS_ENDPOINT_URL": c.endpoint}[name]
		})
		if err != nil || s.root.String() != c.want {
			t.Errorf("%s: %v, %v", c.address, s, err)
		}
	}
	var _ zarr.Stater = (*Store)(nil)
}
