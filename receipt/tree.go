package receipt

import "crypto/sha256"

// A Tree is a Merkle tree with the hash of RFC 6962, section 2.1. The zero value has no leaves. A Tree keeps only the right
// edge: the roots of full trees, the larger trees first.
type Tree struct {
	full []Digest
	size int
}

// Add adds a leaf.
func (t *Tree) Add(leaf []byte) {
	d := Digest(sha256.Sum256(append([]byte{0}, leaf...)))
	for n := t.size; n&1 == 1; n >>= 1 {
		d = join(t.full[len(t.full)-1], d)
		t.full = t.full[:len(t.full)-1]
	}
	t.full = append(t.full, d)
	t.size++
}

// Root returns the root of all leaves. Without leaves it is the SHA-256 of no bytes.
func (t *Tree) Root() Digest {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	d := t.full[len(t.full)-1]
	for i := len(t.full) - 2; i >= 0; i-- {
		d = join(t.full[i], d)
	}
	return d
}

func join(left, right Digest) Digest {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}
