//go:build race

package device

// The race detector makes a loop tens of times slower.
const raceDetector = true
