package judge

import (
	"os"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

// TestCuTeAtoms compares the fragments with CuTe's atoms. CuTe counts B with n first, and this package with k first.
func TestCuTeAtoms(t *testing.T) {
	b, err := os.ReadFile("testdata/cute-atoms.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		m, err := Instruction(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"A", "B", "C"} {
			if fields[1+i] == "-" {
				continue
			}
			want := layout.MustParse(fields[1+i])
			f, err := m.Fragment(name)
			if err != nil {
				t.Fatal(err)
			}
			if want.Size() != f.TV.Size() {
				t.Fatalf("%s of %s: CuTe has %d elements, not %d", name, fields[0], want.Size(), f.TV.Size())
			}
			shape := f.Shape()
			for x := range want.Size() {
				at, err := f.TV.Offset(x)
				if err != nil {
					t.Fatal(err)
				}
				if name == "B" {
					at = at/shape[0] + at%shape[0]*shape[1]
				}
				if cute, err := want.Offset(x); err != nil || cute != at {
					t.Fatalf("%s of %s: number %d is element %d, CuTe has %d, %v", name, fields[0], x, at, cute, err)
				}
			}
			count++
		}
	}
	t.Logf("%d operands of CuTe's", count)
	// CuTe's A of m16n8k256 with bits isn't among them: it takes several threads to one element, and leaves others out.
	if bits := FactsOf(Plain(layout.MustParse("(32,(8,4,2,2)):(64,(64,16,8,2048))"))); *bits.Injective {
		t.Error("CuTe's A of m16n8k256 has each element once: compare it too")
	}
}
