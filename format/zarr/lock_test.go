package zarr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bare is a store with the methods of Store alone, as others write them.
type bare struct{ Store }

func TestLock(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	dir, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Store{"folder": dir, "folder without locks": bare{dir}, "memory": Memory()} {
		release, err := Lock(ctx, s, "a/b", "the first")
		if err != nil {
			t.Fatal(err)
		}
		_, err = Lock(ctx, s, "a/b", "the second")
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), `"the first"`) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
			t.Errorf("%s: locked twice: %v", name, err)
		}
		other, err := Lock(ctx, s, "a/c", "the second")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // again is no error
			if err := errors.Join(release(), other()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if keys, err := s.List(ctx, ""); err != nil || len(keys) != 0 {
			t.Errorf("%s: left: %v, %v", name, keys, err)
		}
	}
	z := &zipStore{}
	if _, err := Lock(ctx, z, "", "nobody"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a zip file: %v", err)
	}
}

// Of many that ask at once never two hold the lock.
func TestLockAtOnce(t *testing.T) {
	dir, err := Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Store{dir, bare{dir}} {
		var holders, had atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					release, err := Lock(t.Context(), s, "", "one of many")
					if err != nil {
						if !errors.Is(err, ErrLocked) {
							t.Error(err)
						}
						continue
					}
					if n := holders.Add(1); n != 1 {
						t.Errorf("%d holders", n)
					}
					had.Add(1)
					holders.Add(-1)
					if err := release(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d times", had.Load())
	}
}

// A holder that was killed holds nothing, and its unfinished file goes.
func TestLockOfTheDead(t *testing.T) {
	const env = "ZARR_TEST_LOCK"
	if folder := os.Getenv(env); folder != "" {
		s, err := Dir(folder)
		if err == nil {
			_, err = Lock(context.Background(), s, "x", "who dies")
		}
		fmt.Println("locked", err)
		time.Sleep(time.Hour)
	}
	folder := t.TempDir()
	s, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.(flocker).flock(t.Context(), "y", nil); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system has no locks of files")
	}
	c := exec.Command(os.Args[0], "-test.run=^TestLockOfTheDead$")
	c.Env = append(os.Environ(), env+"="+folder)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 100)
	n, _ := out.Read(line)
	if string(line[:n]) != "locked <nil>\n" {
		t.Errorf("the other process: %s", line[:n])
	}
	part := filepath.Join(folder, "x", "c", temporary+"1")
	if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o777), os.WriteFile(part, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	_, err = Lock(t.Context(), s, "x", "who lives")
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(`"who dies" holds the lock, process `, c.Process.Pid)) {
		t.Errorf("while it lives: %v", err)
	}
	if _, err := os.Stat(part); err != nil {
		t.Error(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	release, err := Lock(t.Context(), s, "x", "who lives")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// A lock by a value is renewed while it is held, goes to another when it isn't, and is
// then known as lost.
func TestLease(t *testing.T) { synctest.Test(t, testLease) }

func testLease(t *testing.T) {
	ctx, s := t.Context(), Memory()
	release, err := Lock(ctx, s, "", "the first")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := s.List(ctx, ".ashlar-lock-")
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	alive := func() time.Time {
		var h holder
		b, err := s.Get(ctx, keys[0], 1<<30)
		if err == nil {
			err = json.Unmarshal(b, &h)
		}
		if err != nil {
			t.Fatal(err)
		}
		return h.Alive
	}
	for first := alive(); !alive().After(first); {
		time.Sleep(beat)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	old, err := json.Marshal(holder{Who: "the dead", Alive: time.Now().Add(-gone)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Set(ctx, ".ashlar-lock-0", old); err != nil {
		t.Fatal(err)
	}
	if release, err = Lock(ctx, s, "", "the second"); err != nil {
		t.Fatal(err)
	}
	keys, _ = s.List(ctx, "")
	if len(keys) != 1 || s.Delete(ctx, keys[0]) != nil { // as another does that takes it for dead
		t.Fatal(keys)
	}
	time.Sleep(2 * beat)
	if err := release(); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "lost") {
		t.Errorf("a lock that was lost: %v", err)
	}
}
