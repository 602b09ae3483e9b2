package op

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// An operand in a mapped file that became shorter is an error of tensor.Try,
// whichever goroutine meets the end.
func TestMapShrinks(t *testing.T) {
	switch runtime.GOOS {
	case "windows", "js", "wasip1", "plan9":
		t.Skip("a mapped file can't become shorter here, or there are none")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	buf := must1x(mem.Map(path))
	defer buf.Close()
	x := asOf[float32](must1x(tensor.FromBytes(dtype.Float32, buf, 0, must1x(layout.RowMajor(1024, 1024)))))
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	skipWithoutAddress(t, func() { x.At(1023, 0) })
	for name, f := range map[string]func(){
		"Add":       func() { Add(x, x) },
		"Transpose": func() { Neg(x.Transpose()) },
		"ReduceSum": func() { ReduceSum(x, []int{0}) },
		"MatMul":    func() { MatMul(x, x) },
		"Cast":      func() { Cast[int8](x) },
	} {
		if err := tensor.Try(f); !errors.Is(err, mem.ErrShrunk) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// skipWithoutAddress skips a test where the fault that f meets has no address to
// find the file by, as under qemu-user 7.2; the processors themselves give it.
func skipWithoutAddress(t *testing.T, f func()) {
	if runtime.GOARCH == "amd64" {
		return // never emulated in CI
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if _, ok := recover().(interface{ Addr() uintptr }); !ok {
			t.Skip("this emulator doesn't tell the address of a fault")
		}
	}()
	f()
}
