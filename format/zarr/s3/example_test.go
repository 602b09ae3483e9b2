package s3_test

import (
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/format/zarr/s3"
)

func ExampleOpen() {
	environment := map[string]string{"AWS_ENDPOINT_URL": "https://storage.googleapis.com", "AWS_ACCESS_KEY_ID": "GOOGEXAMPLE", "AWS_SECRET_ACCESS_KEY": "of an HMAC key"}
	store, err := s3.Open("s3://climate/era5.zarr", func(name string) string { return environment[name] }) // os.Getenv in a program
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(store) // zarr.Open(ctx, store, "t2m") opens an array of it
	// Output: s3.Store(https://storage.googleapis.com/climate/era5.zarr/)
}
