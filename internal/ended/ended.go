// Package ended has a context that ends after a number of looks at it, for tests of what stops in the middle.
package ended

import (
	"context"
	"sync/atomic"
)

// A Context is canceled once it was asked a number of times, by Err or Done, whether it has ended.
type Context struct {
	context.Context // whose values it has
	after           int64
	looks           atomic.Int64
	done            chan struct{}
}

// After returns a Context that says k times that it goes on, and from then on that it has ended.
func After(k int) *Context {
	return &Context{Context: context.Background(), after: int64(k), done: make(chan struct{})}
}

// Looks returns how often the Context was asked.
func (c *Context) Looks() int { return int(c.looks.Load()) }

// look counts a look and reports whether the Context has ended.
func (c *Context) look() bool {
	n := c.looks.Add(1)
	if n == c.after+1 {
		close(c.done)
	}
	return n > c.after
}

// Done returns a channel that is closed when the Context has ended.
func (c *Context) Done() <-chan struct{} {
	c.look()
	return c.done
}

// Err returns context.Canceled if the Context has ended.
func (c *Context) Err() error {
	if c.look() {
		return context.Canceled
	}
	return nil
}
