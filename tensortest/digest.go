package tensortest

import (
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// Digest fails t unless got has the digest want: the 64 hexadecimal digits of
// tensor.Digest. With it, the golden of a large result is one line. The failure shows
// got's digest.
func Digest(t testing.TB, got tensor.Any, want string) bool {
	t.Helper()
	sum, err := tensor.Digest(got)
	if err != nil {
		t.Errorf("tensortest.Digest: %v", err)
		return false
	}
	if d := fmt.Sprintf("%x", sum); d != want {
		t.Errorf("tensortest.Digest: %s has the digest %s, want %s", tensor.Describe(got), d, want)
		return false
	}
	return true
}
