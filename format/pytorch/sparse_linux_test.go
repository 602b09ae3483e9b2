package pytorch

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// sparse writes to a file, and leaves holes for the slice zeros.
type sparse struct {
	f     *os.File
	zeros []byte
}

func (s sparse) Write(b []byte) (int, error) {
	if len(b) > 0 && &b[0] == &s.zeros[0] {
		_, err := s.f.Seek(int64(len(b)), io.SeekCurrent)
		return len(b), err
	}
	return s.f.Write(b)
}

// TestOpensAtOnce opens files of 2 GiB of holes in under 50 ms and 64 MiB, and reads an element at their end.
func TestOpensAtOnce(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a file of 2 GiB can't be mapped into an address space of 32 bits")
	}
	const each, count = 1 << 28, 8 // of bytes, of storages
	var items, keys []string
	for i := range count {
		key := fmt.Sprint(i)
		items = append(items, tensorOf(store("FloatStorage", key, each/4), 0, []int64{each / 4}, []int64{1}))
		keys = append(keys, text(key))
	}
	zeros := make([]byte, 1<<20)
	write := map[string]func(w sparse) error{
		"zip": func(w sparse) error {
			z := zip.NewWriter(w)
			pickle := "\x80\x02" + listOf(items...) + "."
			e, err := z.CreateHeader(&zip.FileHeader{Name: "x/data.pkl"})
			if err == nil {
				_, err = io.WriteString(e, pickle)
			}
			for i := 0; i < count && err == nil; i++ {
				if e, err = z.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("x/data/%d", i), UncompressedSize64: each, CompressedSize64: each}); err == nil {
					err = z.Flush()
				}
				for n := 0; n < each && err == nil; n += len(zeros) {
					if _, err = e.Write(zeros); err == nil {
						err = z.Flush()
					}
				}
			}
			if err == nil {
				err = z.Close()
			}
			return err
		},
		"legacy": func(w sparse) error {
			_, err := w.Write(legacyOf(listOf(items...), listOf(keys...), ""))
			for i := 0; i < count && err == nil; i++ {
				_, err = w.Write([]byte(le(each/4, 8)))
				for n := 0; n < each && err == nil; n += len(zeros) {
					_, err = w.Write(zeros)
				}
			}
			if err == nil {
				at, _ := w.f.Seek(0, io.SeekCurrent)
				err = w.f.Truncate(at)
			}
			return err
		},
	}
	for form, put := range write {
		path := filepath.Join(t.TempDir(), "a.pt")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := put(sparse{f, zeros}); err != nil {
			t.Skipf("this file system has no files of 2 GiB: %v", err)
		}
		f.Close()
		var before, after runtime.MemStats
		var touched, then syscall.Rusage
		runtime.ReadMemStats(&before)
		syscall.Getrusage(syscall.RUSAGE_SELF, &touched)
		x, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint(count - 1)
		if i, err := x.Info(name); err != nil || i.Bytes != each {
			t.Errorf("%s: %v, %v", form, i, err)
		}
		x.Close()
		syscall.Getrusage(syscall.RUSAGE_SELF, &then)
		runtime.ReadMemStats(&after)
		faults := then.Minflt - touched.Minflt // the whole file has half a million pages, and a fault brings 16 at most
		got := after.TotalAlloc - before.TotalAlloc
		if got > 64<<20 || faults > 20_000 {
			t.Errorf("%s: %d bytes, %d faults of pages", form, got, faults)
		}
		t.Logf("%s: %d bytes, %d faults of pages", form, got, faults)
	}
}
