package contract

// The numbers that choose between two ways, or set a size, and were measured. go run ./internal/bench -calibrate prints the times around each on
// a machine, and sets them for that. Limits of memory stand beside their use, and rates of cost models beside the model.
var (
	// Products.
	FewRows     = 4         // rows of a product for which b isn't packed unless it must be
	gemmLarge   = 512 << 20 // steps times bytes of an element from which on b is packed
	rowsPacked  = 32        // rows for which a matrix that stays packed is faster; four times as many if its columns are runs
	mostPacked  = 16 << 20  // bytes of such a matrix for each of up to four rows: a larger one comes from memory, which is slower than the sums of few rows
	copiedOnce  = 32 << 10  // elements of a copy of b that one tile reads
	longBlocks  = 4         // blocks of k from which on a single sum has them side by side
	skinnyStrip = 4096      // columns of few rows whose sums stay in the first-level cache

	// Ways of a convolution: see route.go.
	turnedPlane    = 60 // outputs of a plane up to which turning it takes less time than a product with few columns
	leastChannels  = 8  // output channels of a group: fewer leave most of a vector empty
	singleChannels = 16 // output channels that read one channel
	singleLine     = 16 // outputs of a line, of these
	shortLine      = 16 // outputs of a line: longer ones are rows of sums as they lie
	deepChannels   = 32 // channels side by side
	PoolLine       = 16 // outputs of a line of a pool with a stride of 1, up to which planes go side by side
	PoolPlanes     = 64 // planes side by side, at least

	// Sizes of convolutions.
	directRoom  = 48 << 10 // elements of a strip, in and out
	directLine  = 64 << 10 // elements of a line of outputs and of what it is made of, where lines may be cut
	directPanel = 32       // output channels of a panel: narrow ones divide evenly among workers
	deepTile    = 256      // channels of a depthwise convolution that go together, whose sums stay in the caches
	windowStrip = 4096     // sums of a strip, which stay in the first-level cache

	// Bytes.
	byteRows     = 192      // most rows of a block
	bytePairs    = 64 << 10 // int16s of b in a block
	byteSums     = 32 << 10 // sums of a block
	byteRoom     = 96 << 10 // elements of a strip of a convolution, and bytes of its sums
	byteTogether = 256      // sums of outputs that are rounded together
	byteChannels = 4        // output channels of a group: fewer leave most of a panel empty
)

// Measured returns the numbers by name. Only a calibration sets them, and while nothing else runs.
func Measured() map[string]*int {
	return map[string]*int{
		"FewRows": &FewRows, "gemmLarge": &gemmLarge, "rowsPacked": &rowsPacked, "mostPacked": &mostPacked, "copiedOnce": &copiedOnce, "longBlocks": &longBlocks, "skinnyStrip": &skinnyStrip,
		"turnedPlane": &turnedPlane, "leastChannels": &leastChannels, "singleChannels": &singleChannels, "singleLine": &singleLine,
		"shortLine": &shortLine, "deepChannels": &deepChannels, "PoolLine": &PoolLine, "PoolPlanes": &PoolPlanes,
		"directRoom": &directRoom, "directLine": &directLine, "directPanel": &directPanel, "deepTile": &deepTile, "windowStrip": &windowStrip,
		"byteRows": &byteRows, "bytePairs": &bytePairs, "byteSums": &byteSums, "byteRoom": &byteRoom, "byteTogether": &byteTogether, "byteChannels": &byteChannels,
	}
}
