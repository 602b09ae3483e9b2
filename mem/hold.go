package mem

import "sync"

// A hold counts the claims that keep bytes from being given back: the Buffer itself, bytes lent for good, and calls of Hold. It
// outlives the Buffer and must not refer to it, or the Buffer would never be unreachable.
type hold struct {
	mu   sync.Mutex
	held int
	lent bool         // there may be uncounted slices: only Close ends them
	over bool         // the Buffer is closed or gone; calls of Hold alone keep the bytes
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

// release ends one call of Hold. Nobody holds bytes of the Go heap, which have no hold.
func (h *hold) release() {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.held--
	_ = h.giveBack() // the Close that waited for this has returned
}

// giveBack gives the bytes back if nothing holds them any more. It unlocks h.
func (h *hold) giveBack() error {
	give := h.give
	if !h.over || h.held > 0 || give == nil {
		h.mu.Unlock()
		return nil
	}
	h.give = nil
	h.mu.Unlock()
	return give()
}

// Hold keeps the bytes where they are until Release is called, even if b is closed or becomes unreachable meanwhile. Bytes called after
// it gives a slice that is valid until then, or nil where a Close came between. A Hold without a Release keeps the bytes for good. It reports false, and holds nothing, when b
// is closed.
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
	h.held++
	return true
}

// Release ends one Hold that reported true.
func (b *Buffer) Release() { b.hold.release() }

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
