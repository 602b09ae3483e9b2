package ram

import (
	"io"
	"testing"
)

// Guard passes on what isn't a fault in a mapped file.
func TestGuard(t *testing.T) {
	if err := Guard(func() error { return io.EOF }); err != io.EOF {
		t.Errorf("got %v", err)
	}
	var p *int
	for _, f := range []func() error{func() error { panic("here") }, func() error { *p = 1; return nil }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			err := Guard(f)
			t.Errorf("returned %v", err)
		}()
	}
}
