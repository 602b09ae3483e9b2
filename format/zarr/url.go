package zarr

import (
	"context"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

var schemes sync.Map // functions that open addresses, by scheme

// RegisterScheme makes URL open addresses of a scheme. Package format/zarr/s3 does it for s3, in its init function.
func RegisterScheme(scheme string, open func(ctx context.Context, address string) (Store, error)) {
	schemes.Store(scheme, open)
}

// Scheme returns the scheme of an address, such as https, or "" for a path. A scheme of one letter is a drive, so the address is a path.
func Scheme(address string) string {
	s, _, ok := strings.Cut(address, "://")
	if !ok || len(s) < 2 || strings.ContainsAny(s, `/\.`) {
		return ""
	}
	return s
}

// PlainURL returns an address as errors show it: without user and query, which may be secrets. A path stays as it is.
func PlainURL(address string) string {
	if Scheme(address) == "" {
		return address
	}
	at, name, named := strings.Cut(address, "#")
	if at = request.URL(at); named {
		at += "#" + name
	}
	return at
}

// URL returns the store of an address. For http and https it calls HTTP. Other schemes must be registered by a package.
func URL(ctx context.Context, address string) (Store, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	scheme := Scheme(address)
	if open, ok := schemes.Load(scheme); ok {
		return open.(func(context.Context, string) (Store, error))(ctx, address)
	}
	if scheme != "http" && scheme != "https" {
		return nil, fail(ErrScheme, "a URL of %.20q; http, https and the schemes that the program has registered are read", scheme)
	}
	return HTTP(address, nil)
}
