package conv

import (
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
)

func TestReverse(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8} {
		b := make([]byte, 24)
		want := make([]byte, 24)
		for i := range b {
			b[i] = byte(i)
			want[i] = byte(i/n*n + n - 1 - i%n)
		}
		if Reverse(b, n); !slices.Equal(b, want) {
			t.Errorf("Reverse by %d gives %v, want %v", n, b, want)
		}
	}
}

func TestUnit(t *testing.T) {
	if Unit(dtype.Complex128) != 8 || Unit(dtype.Complex64) != 4 || Unit(dtype.BFloat16) != 2 {
		t.Error("Unit")
	}
}
