package plan

import (
	"slices"
	"sync"
)

// An Index holds the operators of some tables. It makes them when it is first asked, so that a program links the tables
// only where it asks.
type Index struct {
	once   sync.Once
	list   []*Op
	byName map[string]*Op // the first of each name
}

func (x *Index) made(tables func() []Table) *Index {
	x.once.Do(func() {
		x.byName = make(map[string]*Op)
		for _, t := range tables() {
			o := OpOf(t)
			if _, ok := x.byName[o.Name()]; !ok {
				x.byName[o.Name()] = o
			}
			x.list = append(x.list, o)
		}
	})
	return x
}

// All returns the operators in the order of the tables, in a slice of the caller's.
func (x *Index) All(tables func() []Table) []*Op { return slices.Clone(x.made(tables).list) }

// Lookup returns the first operator of a name.
func (x *Index) Lookup(name string, tables func() []Table) (*Op, bool) {
	o, ok := x.made(tables).byName[name]
	return o, ok
}
