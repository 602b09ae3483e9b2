package mem

import "sync"

// A hold counts the claims that keep bytes from being given back: the Buffer itself, bytes lent for good, and pins. It
// outlives the Buffer and must not refer to it, or the Buffer would never be unreachable.
type hold struct {
	mu   sync.Mutex
	pins int
	lent bool         // there may be uncounted slices: only Close ends them
	over bool         // the Buffer is closed or gone; pins alone keep the bytes
	give func() error // returns the bytes to where they came from; nil once called
}

// close ends the Buffer's own claim.
func (h *hold) close() error {
	h.mu.Lock()
	h.over = true
	return h.giveBack()
}

// drop is close for a Buffer that became unreachable. An error of unmapping has nobody to go to.
func (h *hold) drop() {
	h.mu.Lock()
	h.over = h.over || !h.lent
	_ = h.giveBack()
}

func (h *hold) unpin() {
	h.mu.Lock()
	h.pins--
	_ = h.giveBack() // the Close that waited for this has returned
}

// giveBack gives the bytes back if nothing holds them any more. It unlocks h.
func (h *hold) giveBack() error {
	give := h.give
	if !h.over || h.pins > 0 || give == nil {
		h.mu.Unlock()
		return nil
	}
	h.give = nil
	h.mu.Unlock()
	return give()
}

// Pin keeps the bytes where they are until release is called, even if b is closed or becomes unreachable meanwhile.
// Call Bytes after Pin: if it isn't nil, the slice is valid until release. A release that is never called keeps the
// bytes for good; a second call does nothing.
func (b *Buffer) Pin() (release func()) {
	if b.hold == nil || !b.Hold() {
		return func() {} // bytes of the Go heap: the slice itself keeps them
	}
	return sync.OnceFunc(b.hold.unpin)
}

// Hold is Pin without a function to be called, so that it allocates nothing: Release ends it. It reports false, and holds
// nothing, when b is closed.
func (b *Buffer) Hold() bool {
	h := b.hold
	if h == nil {
		return !b.Closed()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return false
	}
	h.pins++
	return true
}

// Release ends one Hold.
func (b *Buffer) Release() {
	if h := b.hold; h != nil {
		h.unpin()
	}
}

// Lend returns the bytes as Bytes does, for as long as b is open, reachable or not: the collector never takes them back
// again. Dropping b without Close then leaks them, if they are not of the Go heap.
func (b *Buffer) Lend() []byte {
	if h := b.hold; h != nil {
		h.mu.Lock()
		h.lent = true
		h.mu.Unlock()
	}
	return b.Bytes()
}
