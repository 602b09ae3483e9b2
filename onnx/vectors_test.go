package onnx

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The table of digests in docs/receipts.md, from which others check their programs, has the digests of these values.
func TestDigestVectors(t *testing.T) {
	page, err := os.ReadFile("../docs/receipts.md")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open("../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p, err := m.Digests()
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{}
	row := func(what string, digest any) { rows = append(rows, fmt.Sprintf("| %s | `%v` |", what, digest)) }
	one := TensorValue(tensor.Scalar(float32(1)).Any())
	for _, v := range []struct {
		what  string
		value Value
	}{
		{"float32 of shape (), 1", one},
		{"float16 of shape (0, 2)", TensorValue(tensor.New[num.F16](0, 2).Any())},
		{"strings of shape (2, 1), `é` and the empty one", StringsValue([]int{2, 1}, "é", "")},
		{"sequence of the first, twice", SequenceOf(one, one)},
		{"map of int64 to float32, 3 to 1 and −1 to 2", MapValue(map[int64]float32{3: 1, -1: 2})},
		{"an optional that has nothing", Nothing()},
	} {
		d, err := v.value.Digest()
		if err != nil {
			t.Fatal(v.what, err)
		}
		row(v.what, fmt.Sprintf("%x", d))
	}
	row("the graph of testdata/digits.onnx", p.Graph)
	if want := strings.Join(rows, "\n"); !strings.Contains(string(page), want) {
		t.Errorf("docs/receipts.md lacks the table\n%s", want)
	}
}
