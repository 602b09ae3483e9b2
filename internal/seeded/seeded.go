// Package seeded gives rapid a fixed seed in the tests that import it, so that a test fails for a change and not for its draws.
// RAPID_SEED and -rapid.seed name another seed; 0 is a new one each time.
package seeded

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // which defines the flag
)

func init() {
	if os.Getenv("RAPID_SEED") == "" {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
}
