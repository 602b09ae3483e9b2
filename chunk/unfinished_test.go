package chunk

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

var everyStop = flag.Bool("stops", false, "stop TestStopped before every change of a store, with every number of workers")

var errGone = errors.New("the store is gone")

// A dying is a store that is gone after some changes.
type dying struct {
	zarr.Opener
	mu   *sync.Mutex
	left *int // changes until then; below 0: it stays
}

func (d dying) change(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if *d.left == 0 {
		return errGone
	}
	*d.left--
	return f()
}

func (d dying) Set(ctx context.Context, key string, value []byte) error {
	return d.change(func() error { return d.Opener.Set(ctx, key, value) })
}

func (d dying) Delete(ctx context.Context, key string) error {
	return d.change(func() error { return d.Opener.Delete(ctx, key) })
}

// stopped is a computation whose result, and the arrays between its stages, are in stores that die together. The result is one of
// a group with consolidated metadata that knows an older array of its name.
type stopped struct {
	out, work zarr.Store // as they are
	plan      func() *Plan
}

// newStopped makes the stores; both die after left changes, of which the stale array takes none.
func newStopped(t *testing.T, x Array, old tensor.Any, left *int) stopped {
	t.Helper()
	c := stopped{out: zarr.Memory(), work: zarr.Memory()}
	g, err := zarr.CreateGroup(t.Context(), c.out, "g", map[string]any{"title": "all"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := zarr.Create(t.Context(), c.out, "g/r", zarr.Metadata{DType: old.DType(), Shape: old.Shape(), Chunks: []int{5, 7}}, nil)
	if err == nil {
		err = a.Write(t.Context(), make([]int, old.Rank()), old)
	}
	if err = errors.Join(err, g.Consolidate(t.Context()), zarr.Remove(t.Context(), c.out, "g/r")); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	die := func(s zarr.Store) zarr.Store { return dying{s.(zarr.Opener), &mu, left} }
	mean := Reduce("ReduceMean", x, Reducing{Axes: []int{0}})
	out, work := die(c.out), die(c.work)
	c.plan = func() *Plan {
		p, err := NewPlan(&Options{Work: work}, Target{Array: Map("Sub", nil, x, mean), Store: out, Path: "g/r"}, Target{Array: mean, Store: out, Path: "m"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return c
}

// read reads the targets by their paths, and the one in a group through the group. "" is one that is refused, or isn't there.
func (c stopped) read(t *testing.T) (all []string) {
	t.Helper()
	all = []string{elements(t, c.out, "g/r"), elements(t, c.out, "m"), ""}
	g, err := zarr.OpenGroup(t.Context(), c.out, "g")
	if err != nil {
		t.Fatal(err)
	}
	if title := g.Attributes()["title"]; title != "all" {
		t.Fatalf("the group's attribute is %v", title)
	}
	if _, err := c.out.Size(t.Context(), "g/r/zarr.json"); errors.Is(err, fs.ErrNotExist) {
		return all
	}
	a, err := g.Open(t.Context(), "r", nil)
	var r tensor.Any
	if err == nil {
		r, err = a.Read(t.Context())
	}
	if err == nil {
		b, _ := tensor.Bytes(r)
		all[2] = string(b)
	} else if !errors.Is(err, zarr.ErrUnfinished) && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// unlock removes the locks of a run that died; in time they would count as given up.
func (c stopped) unlock(t *testing.T) {
	for _, s := range []zarr.Store{c.out, c.work} {
		keys, err := s.List(t.Context(), "")
		for _, k := range keys {
			if strings.Contains(k, ".ashlar-lock") {
				err = errors.Join(err, s.Delete(t.Context(), k))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A run that stops before any change of a store leaves targets that are refused, or finished, also through a group whose consolidated
// metadata is older. Resumed, it ends with the bytes of a run that never stopped. So it does where it is begun again without resume.
func TestStopped(t *testing.T) {
	data := drawn(5, 24, 20)
	x := From("x", zarrOf(t, data, 5, 7))
	left := -1
	whole := newStopped(t, x, data, &left)
	if err := whole.plan().Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want, bytes := whole.read(t), contents(t, whole.out, "")
	if slices.Contains(want, "") {
		t.Fatal("a finished target is refused")
	}
	if keys, err := whole.work.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("left in the folder of work: %v, %v", keys, err)
	}
	step, most := 5, 2
	if *everyStop {
		step, most = 1, 5
	}
	cases := 0
	for workers := 1; workers <= most; workers++ {
		for stop := 0; ; stop += step {
			cases++
			left = -1
			c := newStopped(t, x, data, &left)
			left = stop
			err := c.plan().Run(t.Context(), &RunOptions{Workers: workers})
			ended := err == nil
			if !ended && !errors.Is(err, errGone) {
				t.Fatal(err)
			}
			for i, got := range c.read(t) {
				if got != "" && got != want[i] {
					t.Fatalf("stopped before change %d: target %d can be read, and isn't finished", stop, i)
				}
			}
			left = -1
			if !ended {
				c.unlock(t)
				if cases%2 == 0 { // the result is deleted and begun again; the arrays between the stages are left
					if err := errors.Join(zarr.Remove(t.Context(), c.out, "g/r"), zarr.Remove(t.Context(), c.out, "m")); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.plan().Run(t.Context(), &RunOptions{Workers: workers, Resume: cases%2 == 1}); err != nil {
					t.Fatalf("stopped before change %d, and begun again: %v", stop, err)
				}
			}
			if got := c.read(t); !slices.Equal(got, want) {
				t.Fatalf("stopped before change %d, and begun again: other elements", stop)
			}
			if contents(t, c.out, "") != bytes || contents(t, c.work, "") != "" {
				t.Fatalf("stopped before change %d, and begun again: other bytes", stop)
			}
			if ended {
				break
			}
		}
	}
	t.Logf("%d stops", cases)
}
