package cpu_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

func Example() {
	if err := cpu.Err(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(cpu.Current() <= cpu.Detect(), cpu.Generic)
	// Output: true generic
}
