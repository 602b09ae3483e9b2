//go:build nofetch

package request

import "net/http"

// Transport returns nil: the program has no client.
func Transport() http.RoundTripper { return nil }
