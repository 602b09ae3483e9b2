package judge

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

// linesOf has the lines of a table in testdata, without its comments.
func linesOf(t *testing.T, name string) (list [][]string) {
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "#") {
			list = append(list, strings.Fields(line))
		}
	}
	return list
}

// operand returns a fragment of an instruction.
func operand(t *testing.T, name, of string) Fragment {
	m, err := Instruction(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Fragment(of)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// placed fails unless an element of a thread has a coordinate.
func placed(t *testing.T, name string, f Fragment, thread, value int, want ...int) {
	t.Helper()
	if got, err := f.Element(thread, value); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s of %s: element %d of thread %d is %v, %v; published is %v", f.Name, name, value, thread, got, err, want)
	}
}

// TestCuTeCopies compares the moves of matrices and of tensor memory with CuTe's copy traits, in bits.
func TestCuTeCopies(t *testing.T) {
	for _, line := range linesOf(t, "cute-copies.txt") {
		name, bits := line[0], layout.MustParse(line[2])
		row, err := strconv.Atoi(line[1])
		if err != nil {
			t.Fatal(err)
		}
		f := operand(t, name, "D")
		lane, rows := func(r int) int { return r }, f.Axes[len(f.Axes)-2].Size
		order := func(e int) int { return e }
		if len(line) > 3 {
			bytes, at := strings.Split(line[4], ","), layout.MustParse(line[6])
			order = func(e int) int {
				n, err := strconv.Atoi(bytes[e])
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			lane = func(r int) int {
				for l := range at.Size() {
					if off, err := at.Offset(l); err == nil && off == r {
						return l
					}
				}
				t.Fatalf("%s: no lane has the address of row %d", name, r)
				return 0
			}
		}
		if bits.Dim(0) != f.TV.Dim(0) || bits.Dim(1) != f.TV.Dim(1)*f.Bits {
			t.Fatalf("%s: CuTe has %v bits", name, bits)
		}
		for l := range f.TV.Dim(0) {
			for e := range f.TV.Dim(1) {
				at, err := bits.Offset(l + e*f.Bits*bits.Dim(0))
				if err != nil {
					t.Fatal(err)
				}
				r, c := lane(at/row), at%row/f.Bits
				if len(f.Axes) == 2 {
					placed(t, name, f, l, order(e), r, c)
				} else {
					placed(t, name, f, l, order(e), r/rows, r%rows, c)
				}
			}
		}
	}
}

// TestTensorMemoryRows compares layouts D and F with CuTe's atoms of accumulators, which take (m, n) to lane + 128 columns.
func TestTensorMemoryRows(t *testing.T) {
	for m, atom := range map[int]string{128: "(128,64):(1,128)", 64: "((16,4),64):((1,32),128)"} {
		name, rows := fmt.Sprintf("sm100.tcgen05.mma.m%dn64.f32", m), layout.MustParse(atom)
		f := operand(t, name, "C")
		for thread := range m {
			lane := thread // its number, as the note of the instruction has it
			if m == 64 {
				lane = thread%16 + 32*(thread/16)
			}
			for column := range 64 {
				at, err := f.Element(thread, column)
				if err != nil {
					t.Fatal(err)
				}
				if off, err := rows.Offset(at[0] + m*at[1]); err != nil || off != lane+128*column {
					t.Fatalf("%s: lane %d, column %d has %v, which CuTe has at %d, %v", name, lane, column, at, off, err)
				}
			}
		}
	}
}

// TestXeRegisters compares DPAS with 16 lanes with sycl-tla: in the order of the registers, A is row after row, B has its columns'
// neighbours of 32 bits one after another, and C is row after row.
func TestXeRegisters(t *testing.T) {
	count := 0
	for _, name := range Instructions("xe.dpas.") {
		n := numbersIn(t, name, `m(\d+)n(\d+)k(\d+)`)
		if n[1] != 16 {
			continue
		}
		m, k := n[0], n[2]
		a, b, c := operand(t, name, "A"), operand(t, name, "B"), operand(t, name, "C")
		packed := 32 / a.Bits // elements of B in 32 bits
		run := max(1, k/16)   // elements of A in a component
		for l := range 16 {
			for i := range a.TV.Dim(1) {
				x := i/run*16*run + l*run + i%run
				placed(t, name, a, l, i, x/k, x%k)
			}
			for i := range k {
				x := i/packed*16*packed + l*packed + i%packed
				placed(t, name, b, l, i, x%packed+x/(16*packed)*packed, x/packed%16)
			}
			for i := range m {
				placed(t, name, c, l, i, (16*i+l)/16, (16*i+l)%16)
			}
		}
		count++
	}
	if count != 27 {
		t.Errorf("%d instructions, want 27", count)
	}
}

// TestCalculator compares MFMA and WMMA with the formulas of AMD's calculator, which go from an element to its lane and
// its place in the registers. They are general, where those of the table have cases.
func TestCalculator(t *testing.T) {
	for _, name := range slices.Concat(Instructions("cdna"), Instructions("rdna3.")) {
		if strings.Contains(name, "32x32x64.fp8") {
			continue // no instruction of the calculator
		}
		n := numbersIn(t, name, `(\d+)x(\d+)x(\d+)`)
		m, k, blocks := n[0], n[2], 1
		if strings.Contains(name, "b.") {
			blocks = numbersIn(t, name, `(\d+)b\.`)[0]
		}
		at := func(b, r, c int) []int {
			if blocks == 1 {
				return []int{r, c}
			}
			return []int{b, r, c}
		}
		a, b, c := operand(t, name, "A"), operand(t, name, "B"), operand(t, name, "C")
		for block := range blocks {
			for i := range m {
				for kk := range k {
					if waves := a.TV.Dim(0) / 16; strings.HasPrefix(name, "rdna3") {
						for copied := range waves {
							placed(t, name, a, i+16*copied, kk, i, kk)
							placed(t, name, b, i+16*copied, kk, kk, i)
						}
						continue
					}
					near := k / (64 / (m * blocks)) // elements in neighbouring registers
					lane := block*m + kk/near*m*blocks + i
					placed(t, name, a, lane, kk%near, at(block, i, kk)...)
					placed(t, name, b, lane, kk%near, at(block, kk, i)...)
				}
				for j := range m {
					high, across := 4, 64/m // rows of a register's group, and groups of a register
					if c.Bits == 64 {
						high = 1
					}
					each := max(1, 64*high/(m*m)) // blocks of a register
					place := block*(m*m/64) + i/(high*across)*high + i%high
					lane := block%each*m + i/high%across*each*m + j
					if strings.HasPrefix(name, "rdna3") {
						rows := c.TV.Dim(0) / 16
						place, lane = i/rows, 16*(i%rows)+j
					}
					placed(t, name, c, lane, place, at(block, i, j)...)
				}
			}
		}
	}
}

// TestCalculatorRDNA4 has the calculator's formulas of gfx12: the lane and the register of an element.
func TestCalculatorRDNA4(t *testing.T) {
	for _, name := range Instructions("rdna4.") {
		depth := numbersIn(t, name, `16x16x(\d+)`)[0]
		a, b, c := operand(t, name, "A"), operand(t, name, "B"), operand(t, name, "C")
		wide := strings.HasSuffix(name, ".w64")
		for i := range 16 {
			for k := range depth {
				var lane, register int
				switch bits := a.Bits; {
				case bits == 16 && !wide:
					lane, register = 16*(k/4%2), 2*(k/8)+k/2%2
				case bits == 8 && !wide:
					lane, register = 16*(k/8), k/4%2
				case depth == 16 && !wide:
					lane = 16 * (k / 8)
				case !wide:
					lane, register = 16*(k/16), k/8%2
				case bits == 16:
					lane, register = 32*(k/8%2)+16*(k/4%2), k/2%2
				case bits == 8:
					lane = 32*(k/4%2) + 16*(k/8%2)
				default:
					lane = 32*(k/8%2) + 16*(k/16%2)
				}
				packed := 32 / a.Bits
				placed(t, name, a, lane+i, register*packed+k%packed, i, k)
				placed(t, name, b, lane+i, register*packed+k%packed, k, i)
			}
			for j := range 16 {
				if wide {
					placed(t, name, c, 32*(i/4%2)+16*(i/8)+j, i%4, i, j)
				} else {
					placed(t, name, c, 16*(i/8)+j, i%8, i, j)
				}
			}
		}
	}
}

// TestSMOPA has the sums that QEMU's users expect of the hardware.
func TestSMOPA(t *testing.T) {
	const name = "sme.svl128.smopa.s8"
	a, b, c := operand(t, name, "A"), operand(t, name, "B"), operand(t, name, "C")
	var sums [4][4]int
	for i := range 16 {
		for j := range 16 {
			left, err := a.Element(0, i)
			if err != nil {
				t.Fatal(err)
			}
			right, err := b.Element(0, j)
			if err != nil {
				t.Fatal(err)
			}
			if left[1] == right[0] { // one k
				sums[left[0]][right[1]] += i * (16 + j)
			}
		}
	}
	for r, line := range linesOf(t, "smopa.txt") {
		for i, want := range line {
			at, err := c.Element(r, i)
			if err != nil {
				t.Fatal(err)
			}
			if got := strconv.Itoa(sums[at[0]][at[1]]); got != want {
				t.Errorf("row %d, element %d of the tile is %s, want %s", r, i, got, want)
			}
		}
	}
}
