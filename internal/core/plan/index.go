package plan

import (
	"slices"
	"sync"
)

// An Index holds the operators of some tables, each as an O of its Op. It makes them when it is first asked, so that a
// program links the tables only where it asks.
type Index[O any] struct {
	once   sync.Once
	list   []*O
	byName map[string]*O // the first of each name
}

func (x *Index[O]) made(tables func() []Table, as func(o *Op) *O) *Index[O] {
	x.once.Do(func() {
		x.byName = make(map[string]*O)
		for _, t := range tables() {
			o := as(OpOf(t))
			if name := t.say().Name; x.byName[name] == nil {
				x.byName[name] = o
			}
			x.list = append(x.list, o)
		}
	})
	return x
}

// All returns the operators in the order of the tables, in a slice of the caller's.
func (x *Index[O]) All(tables func() []Table, as func(o *Op) *O) []*O {
	return slices.Clone(x.made(tables, as).list)
}

// Lookup returns the first operator of a name.
func (x *Index[O]) Lookup(name string, tables func() []Table, as func(o *Op) *O) (*O, bool) {
	o, ok := x.made(tables, as).byName[name]
	return o, ok
}
