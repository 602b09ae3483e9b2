package pytorch

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestTorch reads files that PyTorch writes, each mapped and by parts. It needs Debian's python3-torch; PYTHON_TORCH may name
// another Python that has it.
func TestTorch(t *testing.T) {
	if conv.BigEndian {
		t.Skip("the script has the bytes of a little-endian machine")
	}
	python := os.Getenv("PYTHON_TORCH")
	if python == "" {
		python = "/usr/bin/python3"
	}
	if err := exec.Command(python, "-c", "import importlib.util as u; assert u.find_spec('torch')").Run(); err != nil {
		t.Skip("there is no PyTorch: apt-get install python3-torch")
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, filepath.Join("testdata", "cross.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string][3]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		path := strings.TrimSuffix(file, ".json")
		f, err := format.Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := openSource(&format.Source{At: bytes.NewReader(b), Size: int64(len(b))})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Names()) != len(want) || len(want) == 0 {
			t.Errorf("%s: %q", path, f.Names())
		}
		for name, w := range want {
			for _, f := range []format.File{f, parts} {
				got, err := f.Tensor(name)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
				shape := []int{}
				for _, n := range w[1].([]any) {
					shape = append(shape, int(n.(float64)))
				}
				elems := []byte{}
				for _, c := range w[2].([]any) {
					elems = append(elems, byte(c.(float64)))
				}
				if got.DType().String() != w[0] || !slices.Equal(got.Shape(), shape) || !bytes.Equal(elementsOf(t, got), elems) {
					t.Errorf("%s: %s is %s %v, want %v", path, name, tensor.Describe(got), got, w)
				}
			}
		}
		f.Close()
	}
}

// elementsOf is the elements of a tensor, row-major.
func elementsOf(t *testing.T, a tensor.Any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tensor.Encode(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
