//go:build nofetch

package zarr

import (
	"errors"
	"net/http"
)

func (s *httpStore) do(*http.Request) (*http.Response, error) {
	return nil, fail(errors.ErrUnsupported, "this program has no client for HTTP: it was built with the tag nofetch")
}
