//go:build !nofetch

package zarr

import "net/http"

func (s *httpStore) do(r *http.Request) (*http.Response, error) { return s.client.Do(r) }
