package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// forms returns the arrangements of an instruction that kernels could use, and some numbers that it takes.
func forms(name string) (of []string, imm []int) {
	whole := []string{"16b", "8h", "4s", "2d"}
	switch instructions[name].shape {
	case threeSame, twoSame:
		of = append([]string{"8b", "4h", "2s"}, whole...)
		if strings.Contains(" mul smax smin umax umin umaxp rev64 ", " "+name+" ") {
			of = of[:len(of)-1]
		}
	case threeFloat, twoFloat:
		of = []string{"2s", "4s", "2d"}
	case threeBits, extract, tabled:
		of = []string{"8b", "16b"}
	case permuted, spread:
		of = whole
	case element:
		of = whole
	case fourByElement:
		of = []string{"2s", "4s"}
	case squares:
		of = []string{"4s"}
	case byElement, doubled:
		of = []string{"4s", "2d"}
	case narrower:
		of = whole[1:]
	case halved:
		of = []string{"4s", "2d"}
	case left, right:
		of = []string{"8h", "4s", "2d"}
	case longer, longSum:
		of = []string{"8b", "4h", "2s", "16b", "8h", "4s"}
	case rightHalf:
		of = whole[1:]
	case cleared:
		of = []string{"2d"}
	case acrossAll:
		of = whole[:3]
	case general:
		of = []string{"b", "h", "s", "d"}
	case access, indexed, stepped:
		of = []string{"b", "h", "s", "d", "q"}
	}
	imm = []int{0}
	switch instructions[name].shape {
	case left, right, longer, rightHalf:
		imm = []int{1, 5, 7}
	case element, general, byElement:
		imm = []int{0, 1}
	case fourByElement:
		imm = []int{0, 1, 2, 3}
	case extract:
		imm = []int{0, 4, 7}
	case access:
		imm = []int{0, 16, 4080}
	}
	return of, imm
}

// TestEncoder has two disassemblers read every form with every register in every place, and compares their text with the encoder's.
func TestEncoder(t *testing.T) {
	var words []byte
	var want []string
	for name := range instructions {
		of, imm := forms(name)
		operands := 3
		switch instructions[name].shape {
		case twoSame, twoFloat, narrower, halved, doubled, left, right, longer, rightHalf, acrossAll, element, general, spread, access:
			operands = 2
		case cleared:
			operands = 1
		}
		for _, of := range of {
			for _, imm := range imm {
				for place := range operands {
					for r := range 31 {
						regs := []int{3, 17, 9}[:operands]
						regs[place] = r
						word, text := encode(name, of, imm, regs...)
						words = binary.LittleEndian.AppendUint32(words, word)
						want = append(want, text)
					}
				}
			}
		}
	}
	known := 0
	for i, text := range want {
		inst, err := arm64asm.Decode(words[4*i:])
		if err != nil {
			continue // it doesn't know all
		}
		known++
		if got := plain(arm64asm.GNUSyntax(inst)); got != plain(text) {
			t.Fatalf("%08x is %q to golang.org/x/arch, want %q", binary.LittleEndian.Uint32(words[4*i:]), got, plain(text))
		}
	}
	t.Logf("golang.org/x/arch knows %d of %d", known, len(want))
	objdump, err := exec.LookPath("aarch64-linux-gnu-objdump")
	if err != nil {
		t.Skip("the others aren't read by objdump: ", err)
	}
	file := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(file, words, 0o666); err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "aarch64", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^ *[0-9a-f]+:\t([0-9a-f]{8}) \t(.*)$`).FindAllSubmatch(list, -1)
	if len(lines) != len(want) {
		t.Fatalf("objdump reads %d instructions of %d", len(lines), len(want))
	}
	for i, l := range lines {
		if got := plain(string(l[2])); got != plain(want[i]) {
			t.Fatalf("%s is %q to objdump, want %q", l[1], got, plain(want[i]))
		}
	}
}

// plain makes the lines of two disassemblers comparable.
func plain(line string) string {
	line, _, _ = strings.Cut(line, " //")
	line = string(bytes.Join(bytes.Fields([]byte(strings.ReplaceAll(line, ",", ", "))), []byte(" ")))
	line = strings.ReplaceAll(line, "#0x", "0x")
	line = regexp.MustCompile(`0x[0-9a-f]+`).ReplaceAllStringFunc(line, decimal)
	return line
}

func decimal(hex string) string {
	n, err := strconv.ParseInt(hex, 0, 64)
	if err != nil {
		return hex
	}
	return "#" + strconv.FormatInt(n, 10)
}
