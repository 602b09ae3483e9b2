package zarr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// A holder describes the holder of a lock. It is the lock's value.
type holder struct {
	Who   string    `json:"who"`
	PID   int       `json:"process"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Alive time.Time `json:"alive"`
}

// heldBy returns the error about a lock that another program holds; b is the lock's value.
func heldBy(key string, b []byte) error {
	var h holder
	if json.Unmarshal(b, &h) != nil {
		return &Error{key, "another program holds the lock; wait until it ends", ErrLocked}
	}
	return &Error{key, fmt.Sprintf("%.200q holds the lock, process %d on %.100q, since %s; wait until it ends", h.Who, h.PID, h.Host, h.Since.Format(time.DateTime)), ErrLocked}
}

// A flocker is a store whose values the operating system locks for a process, until it ends.
type flocker interface {
	// flock makes a value and locks it. It fails with ErrLocked, and with
	// errors.ErrUnsupported if the operating system has no such lock.
	flock(ctx context.Context, key string, value []byte) (release func() error, err error)
	// sweep removes below a path the unfinished files of writers that crashed.
	sweep(ctx context.Context, p string) error
}

// Times of a lock that isn't the operating system's: the interval at which its holder
// renews it, and the time without renewal after which the lock is free.
var (
	beat = 15 * time.Second
	gone = 2 * time.Minute
)

// Lock takes the lock of a path, "" for the root. One program at a time holds it: for an
// array, it is the right to write. A program that doesn't take the lock can still write.
// release gives the lock back; its error means that the lock was lost meanwhile. If another
// program holds the lock, the error wraps ErrLocked and names that holder by its who. If the
// store is read only, the error wraps errors.ErrUnsupported.
//
// In a folder, on Linux, macOS and the BSDs, it is the operating system's lock on the file
// .ashlar-lock: a crash gives it back at once. Lock then removes the unfinished files that a
// crash left behind. Elsewhere, and in other stores, the lock is a value .ashlar-lock-… that
// its holder renews every 15 seconds. After two minutes without renewal others may take it.
// The clocks must agree within a minute, and the store must list a new value at once. If two
// programs ask at the same moment, both may be refused.
func Lock(ctx context.Context, s Store, p, who string) (release func() error, err error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	p, err = place(s, p)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	h := holder{Who: who, PID: os.Getpid(), Since: now, Alive: now}
	h.Host, _ = os.Hostname()
	key := path.Join(p, own+"lock")
	f, ok := s.(flocker)
	if ok {
		b, err := json.Marshal(h)
		if err != nil {
			return nil, at(key, err)
		}
		release, err = f.flock(ctx, key, b)
		if errors.Is(err, errors.ErrUnsupported) {
			ok = false
		} else if err != nil {
			return nil, at(key, err)
		}
	}
	if !ok {
		if release, err = lease(ctx, s, key, h); err != nil {
			return nil, at(key, err)
		}
	}
	if f != nil {
		if err := f.sweep(ctx, p); err != nil {
			return nil, at(p, errors.Join(err, release()))
		}
	}
	giveBack := release
	return sync.OnceValue(func() error { return at(key, giveBack()) }), nil
}

// lease takes a lock by a value that its holder renews.
func lease(ctx context.Context, s Store, prefix string, h holder) (release func() error, err error) {
	key := fmt.Sprintf("%s-%016x", prefix, rand.Uint64())
	set := func(ctx context.Context) error {
		h.Alive = time.Now().UTC()
		b, err := json.Marshal(h)
		if err == nil {
			err = s.Set(ctx, key, b)
		}
		return err
	}
	// Each program sets its own value before it looks for others, so at least one of two programs sees the other.
	if err := set(ctx); err != nil {
		return nil, err
	}
	keys, err := s.List(ctx, prefix+"-")
	for _, other := range keys {
		if err != nil {
			break
		}
		if other == key {
			continue
		}
		var b []byte
		if b, err = s.Get(ctx, other, 1<<16); errors.Is(err, fs.ErrNotExist) {
			err = nil
			continue
		}
		var o holder
		if err == nil && json.Unmarshal(b, &o) == nil && time.Since(o.Alive) < gone {
			err = heldBy(other, b)
		} else if err == nil {
			err = s.Delete(ctx, other)
		}
	}
	bg := context.WithoutCancel(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Delete(bg, key))
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	var lost error
	go func() {
		defer close(stopped)
		returned := false
		defer func() {
			if r := recover(); !returned {
				lost = fail(ErrLocked, "the lock may be lost: a method of the store ended the goroutine that renews it (panic: %v); it must return", r)
			}
		}()
		t := time.NewTicker(beat)
		defer t.Stop()
		for {
			select {
			case <-stop:
				returned = true
				return
			case <-t.C:
			}
			if _, err := s.Size(bg, key); errors.Is(err, fs.ErrNotExist) {
				lost = fail(ErrLocked, "the lock was lost: it wasn't renewed for %v, and another took it", gone)
				returned = true
				return
			}
			lost = set(bg)
		}
	}()
	return func() error {
		close(stop)
		<-stopped
		return errors.Join(lost, s.Delete(bg, key))
	}, nil
}

// sweep removes unfinished files.
func (d *dir) sweep(ctx context.Context, p string) error {
	return d.walk(ctx, p, func(name string, e fs.DirEntry) error {
		if e.IsDir() || !strings.HasPrefix(e.Name(), temporary) {
			return nil
		}
		return d.root.Remove(name)
	})
}
