package float

import "math/bits"

// Philox4x32 returns 128 random bits for a counter and a key. Another counter or key gives other bits. It keeps no state, so the
// numbers of a sequence can be computed in any order and by any number of threads. The function is Philox4x32-10 of J. Salmon, M.
// Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC11). It isn't for secrets.
func Philox4x32(counter [4]uint32, key [2]uint32) [4]uint32 {
	c, k := counter, key
	for range 10 {
		hi0, lo0 := bits.Mul32(0xD2511F53, c[0])
		hi1, lo1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ k[0], lo1, hi0 ^ c[3] ^ k[1], lo0}
		k[0] += 0x9E3779B9 // the golden ratio
		k[1] += 0xBB67AE85 // √3 − 1
	}
	return c
}
