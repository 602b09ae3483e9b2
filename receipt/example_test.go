package receipt_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/ashlar-go/ashlar/receipt"
)

func Example() {
	r := receipt.Receipt{Kind: receipt.Model, Rules: receipt.Rules, Profile: receipt.Profile{Mode: receipt.Exact},
		Inputs:  []receipt.Item{{Name: "x", Type: "float32[2]", Digest: sha256.Sum256([]byte("the input"))}},
		Outputs: []receipt.Item{{Name: "y", Type: "float32[2]", Digest: sha256.Sum256([]byte("the output"))}}}
	file, err := r.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}
	read, err := receipt.Parse(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read.Root() == r.Root(), read.Check() == nil)
	read.Outputs[0].Type = "float32[3]"
	d, err := receipt.Compare(&r, read)
	fmt.Println(d.What, d.B[:10], err)
	_, err = receipt.Parse([]byte(`{"ashlar_receipt":2}`))
	fmt.Println(err)
	// Output:
	// true true
	// output "y" float32[3] <nil>
	// receipt: byte 18: the receipt is of version 2; this program reads version 1
}
