package pytorch_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/format/pytorch"
)

// A legacy file of torch.save({"w": torch.tensor([1., 2.]), "epoch": 3}), shortened by hand.
const file = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." + "\x80\x02M\xe9\x03." + "\x80\x02}." + // magic, version, machine
	"\x80\x02}(U\x01wctorch._utils\n_rebuild_tensor_v2\n(" +
	"(U\x07storagectorch\nFloatStorage\nU\x01kU\x03cpuK\x02NtQ" + // the storage k of 2 elements
	"K\x00K\x02\x85K\x01\x85\x89}tR" + // from 0, shape (2,), strides (1,)
	"U\x05epochK\x03u." +
	"\x80\x02]U\x01ka." + "\x02\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x80\x3f" + "\x00\x00\x00\x40"

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "checkpoint.pt")
	if err := os.WriteFile(path, []byte(file), 0o666); err != nil {
		panic(err)
	}
	f, err := pytorch.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, name := range f.Names() {
		i, err := f.Info(name)
		if err != nil {
			panic(err)
		}
		t, err := f.Tensor(name)
		if err != nil {
			panic(err)
		}
		fmt.Println(f.About(), name, i, t)
	}
	fmt.Println(f.Metadata())
	// Output:
	// PyTorch, legacy w float32[2] [1. 2.]
	// map[epoch:3]
}
