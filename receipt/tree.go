package receipt

import "crypto/sha256"

// A tree is the right edge of a Merkle tree of RFC 6962, section 2.1: the roots of full trees, the larger ones first.
type tree struct {
	full []Digest
	size int
}

// add adds a leaf.
func (t *tree) add(leaf []byte) {
	d := Digest(sha256.Sum256(append([]byte{0}, leaf...)))
	for n := t.size; n&1 == 1; n >>= 1 {
		d = join(t.full[len(t.full)-1], d)
		t.full = t.full[:len(t.full)-1]
	}
	t.full = append(t.full, d)
	t.size++
}

// root returns the root of what was added: the SHA-256 of nothing if that is nothing.
func (t *tree) root() Digest {
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
