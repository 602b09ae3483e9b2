//go:build !nofetch

package request

import "net/http"

// maxHeader is the most bytes of the header of an answer.
const maxHeader = 64 << 10

// Transport returns the program's usual transport with a bound on the header of an answer, and more connections that stay open. If the
// program has set http.DefaultTransport to one of its own kind, Transport returns that.
func Transport() http.RoundTripper {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t := usual.Clone()
	t.MaxResponseHeaderBytes, t.MaxIdleConnsPerHost = maxHeader, 64
	return t
}
