package main

import (
	"fmt"
	"strings"
)

// The encoder of vector instructions of arm64. Go's assembler has few of them. A kernel has the others as words, each with a comment that
// names the instruction.
//
// Source: Arm Architecture Reference Manual for A-profile architecture (DDI 0487), chapter C4, "Data Processing – Scalar Floating-Point and
// Advanced SIMD", "Loads and Stores".

// A shape is a row of an encoding table: the fields of an instruction and the form of its operands.
type shape uint8

const (
	threeSame     shape = iota // d, n, m of one arrangement
	threeFloat                 // the same of floats
	threeBits                  // the same of all bits, whatever the arrangement
	permuted                   // the same; it moves elements
	byElement                  // d, n and element imm of m: of floats
	fourByElement              // d of 32 bits, n of bytes and the four bytes imm of m
	squares                    // d of 32 bits, n and m of bytes
	twoSame                    // d, n of one arrangement
	twoFloat                   // the same of floats
	narrower                   // n has the arrangement, d elements half as wide
	halved                     // the same of floats
	doubled                    // d has the arrangement, n floats half as wide
	left                       // d, n, imm: a shift to the left
	right                      // a shift to the right
	longer                     // n has the arrangement, d elements twice as wide: a shift to the left; of 16 bytes, the upper ones
	longSum                    // n and m have the arrangement, d elements twice as wide; of 16 bytes, the upper ones
	rightHalf                  // n has the arrangement, d elements half as wide: a shift to the right
	acrossAll                  // d is a scalar
	element                    // d, n, imm: element imm of n in all of d
	general                    // d is a general register: element imm of n
	spread                     // n is a general register, in all elements of d
	tabled                     // d, n, m of bytes: bytes of n at the places m
	extract                    // d, n, m, imm: bytes of n and m from imm on
	cleared                    // d becomes 0
	access                     // t, n, imm: a load or store of the bytes of the arrangement, from n + imm on
	indexed                    // t, n, m: the same, from n + m on
	stepped                    // t, n, m: the same, m elements after n
)

type instruction struct {
	shape shape
	bits  uint32
	keeps bool // the result is an operand too
}

const (
	u     = 1 << 29
	upper = 1 << 23 // the upper bit of the size, where it is part of the name
)

var instructions = map[string]instruction{
	"add": {threeSame, 0x10 << 11, false}, "sub": {threeSame, u | 0x10<<11, false}, "mul": {threeSame, 0x13 << 11, false},
	"smax": {threeSame, 0x0c << 11, false}, "smin": {threeSame, 0x0d << 11, false},
	"umax": {threeSame, u | 0x0c<<11, false}, "umin": {threeSame, u | 0x0d<<11, false},
	"cmgt": {threeSame, 0x06 << 11, false}, "cmge": {threeSame, 0x07 << 11, false}, "cmeq": {threeSame, u | 0x11<<11, false},
	"cmhi": {threeSame, u | 0x06<<11, false}, "cmhs": {threeSame, u | 0x07<<11, false}, "cmtst": {threeSame, 0x11 << 11, false},
	"addp": {threeSame, 0x17 << 11, false}, "smlal": {longSum, 0x8 << 12, true},
	"umaxp": {threeSame, u | 0x14<<11, false},

	"fadd": {threeFloat, 0x1a << 11, false}, "fsub": {threeFloat, upper | 0x1a<<11, false}, "fmul": {threeFloat, u | 0x1b<<11, false},
	"fdiv": {threeFloat, u | 0x1f<<11, false}, "fmax": {threeFloat, 0x1e << 11, false}, "fmin": {threeFloat, upper | 0x1e<<11, false},
	"fmla": {threeFloat, 0x19 << 11, true}, "fmls": {threeFloat, upper | 0x19<<11, true},
	"fcmeq": {threeFloat, 0x1c << 11, false}, "fcmge": {threeFloat, u | 0x1c<<11, false}, "fcmgt": {threeFloat, u | upper | 0x1c<<11, false},

	"and": {threeBits, 0x03 << 11, false}, "bic": {threeBits, 1<<22 | 0x03<<11, false}, "orr": {threeBits, 2<<22 | 0x03<<11, false},
	"eor": {threeBits, u | 0x03<<11, false}, "bsl": {threeBits, u | 1<<22 | 0x03<<11, true},
	"bit": {threeBits, u | 2<<22 | 0x03<<11, true}, "bif": {threeBits, u | 3<<22 | 0x03<<11, true},

	"uzp1": {permuted, 0x1 << 12, false}, "trn1": {permuted, 0x2 << 12, false}, "zip1": {permuted, 0x3 << 12, false},
	"uzp2": {permuted, 0x5 << 12, false}, "trn2": {permuted, 0x6 << 12, false}, "zip2": {permuted, 0x7 << 12, false},

	"fmla by element": {byElement, 0x1 << 12, true},

	"sdot by element": {fourByElement, 0xe << 12, true}, // FEAT_DotProd
	"smmla":           {squares, 0x29 << 10, true},      // FEAT_I8MM

	"neg": {twoSame, u | 0x0b<<12, false}, "abs": {twoSame, 0x0b << 12, false}, "rev64": {twoSame, 0, false},
	"fabs": {twoFloat, upper | 0x0f<<12, false}, "fneg": {twoFloat, u | upper | 0x0f<<12, false}, "fsqrt": {twoFloat, u | upper | 0x1f<<12, false},
	"frintn": {twoFloat, 0x18 << 12, false}, "frintm": {twoFloat, 0x19 << 12, false},
	"frintp": {twoFloat, upper | 0x18<<12, false}, "frintz": {twoFloat, upper | 0x19<<12, false},

	"scvtf": {twoFloat, 0x1d << 12, false}, "fcvtzs": {twoFloat, upper | 0x1b<<12, false},

	"xtn": {narrower, 0x12 << 12, false}, "fcvtn": {halved, 0x16 << 12, false}, "fcvtl": {doubled, 0x17 << 12, false},
	"shl": {left, 0x0a << 11, false}, "ushr": {right, u, false}, "sshr": {right, 0, false},
	"ushll": {longer, u | 0x14<<11, false}, "sshll": {longer, 0x14 << 11, false}, "shrn": {rightHalf, 0x10 << 11, false},

	"umaxv": {acrossAll, u | 0x0a<<12, false},
	"dup":   {element, 0x0 << 11, false}, "umov": {general, 0x7 << 11, false}, "dup general": {spread, 0x1 << 11, false},
	"tbl": {tabled, 0, false}, "tbx": {tabled, 1 << 12, true},
	"ext": {extract, 0, false}, "movi": {cleared, 0, false},

	"ldr": {access, 1 << 22, false}, "str": {access, 0, false},
	"ldr indexed": {indexed, 1 << 22, false}, "str indexed": {indexed, 0, false},
	"ldr scaled": {stepped, 1 << 22, false},
}

// arrangement reads a name such as 4s: the number of elements, and the base-2 logarithm of their size in bytes. A scalar has one element.
func arrangement(name string) (count int, log uint32) {
	log = uint32(strings.IndexByte("bhsdq", name[len(name)-1]))
	if _, err := fmt.Sscan(name[:len(name)-1], &count); err != nil {
		count = 1
	}
	return count, log
}

// encode returns the word of an instruction and its line from a disassembler. The register of the result comes first.
func encode(name, of string, imm int, r ...int) (word uint32, text string) {
	i, ok := instructions[name]
	if !ok {
		panic("no instruction " + name)
	}
	count, log := arrangement(of)
	q, second := uint32(0), "" // second ends the names of the instructions that take the upper half
	if count<<log == 16 {
		q, second = 1<<30, "2"
	}
	var d, n, m uint32
	d = uint32(r[0])
	if len(r) > 1 {
		n = uint32(r[1]) << 5
	}
	if len(r) > 2 {
		m = uint32(r[2]) << 16
	}
	double := (log - 2) << 22 // of floats
	name, _, _ = strings.Cut(name, " ")
	half := func() string { return fmt.Sprintf("%d%c", 8>>(log-1), "bhsd"[log-1]) } // the arrangement of 16 bytes with elements half as wide
	switch i.shape {
	case threeSame, threeFloat, threeBits, permuted:
		switch i.shape {
		case threeSame:
			word = 0x0e200400 | log<<22
		case threeFloat:
			word = 0x0e200400 | double
		case threeBits:
			if word = 0x0e200400; name == "orr" && r[1] == r[2] { // it is named mov then
				return word | q | i.bits | m | n | d, fmt.Sprintf("mov v%d.%[2]s, v%[3]d.%[2]s", r[0], of, r[1])
			}
		case permuted:
			word = 0x0e000800 | log<<22
		}
		return word | q | i.bits | m | n | d, fmt.Sprintf("%s v%d.%[3]s, v%[4]d.%[3]s, v%[5]d.%[3]s", name, r[0], of, r[1], r[2])
	case byElement:
		h, l := uint32(imm)<<11, uint32(0)
		if log == 2 {
			h, l = uint32(imm)>>1<<11, uint32(imm)&1<<21
		}
		return 0x0f800000 | q | double | i.bits | h | l | m | n | d, fmt.Sprintf("%s v%d.%[3]s, v%[4]d.%[3]s, v%[5]d.%[6]c[%[7]d]", name, r[0], of, r[1], r[2], of[len(of)-1], imm)
	case fourByElement:
		return 0x0f800000 | q | i.bits | uint32(imm)>>1<<11 | uint32(imm)&1<<21 | m | n | d, fmt.Sprintf("%s v%d.%s, v%d.%db, v%d.4b[%d]", name, r[0], of, r[1], 4*count, r[2], imm)
	case squares:
		return 0x0e800000 | q | i.bits | m | n | d, fmt.Sprintf("%s v%d.4s, v%d.16b, v%d.16b", name, r[0], r[1], r[2])
	case twoSame, twoFloat:
		if word = 0x0e200800 | log<<22; i.shape == twoFloat {
			word = 0x0e200800 | double
		}
		return word | q | i.bits | n | d, fmt.Sprintf("%s v%d.%[3]s, v%[4]d.%[3]s", name, r[0], of, r[1])
	case narrower:
		return 0x0e200800 | (log-1)<<22 | i.bits | n | d, fmt.Sprintf("%s v%d.%s, v%d.%s", name, r[0], half(), r[1], of)
	case halved:
		return 0x0e200800 | double | i.bits | n | d, fmt.Sprintf("%s v%d.%s, v%d.%s", name, r[0], half(), r[1], of)
	case doubled:
		return 0x0e200800 | double | i.bits | n | d, fmt.Sprintf("%s v%d.%s, v%d.%s", name, r[0], of, r[1], half())
	case left, right:
		field := uint32(8<<log + imm)
		if i.shape == right {
			field = uint32(16<<log - imm)
		}
		return 0x0f000400 | q | field<<16 | i.bits | n | d, fmt.Sprintf("%s v%d.%[3]s, v%[4]d.%[3]s, #%[5]d", name, r[0], of, r[1], imm)
	case longer:
		return 0x0f000400 | q | uint32(8<<log+imm)<<16 | i.bits | n | d, fmt.Sprintf("%s v%d.%d%c, v%d.%s, #%d", name+second, r[0], 8>>log, "hsd"[log], r[1], of, imm)
	case longSum:
		return 0x0e200000 | q | log<<22 | i.bits | m | n | d, fmt.Sprintf("%s v%d.%d%c, v%d.%s, v%d.%[6]s", name+second, r[0], 8>>log, "hsd"[log], r[1], of, r[2])
	case rightHalf:
		return 0x0f000400 | uint32(8<<log-imm)<<16 | i.bits | n | d, fmt.Sprintf("%s v%d.%s, v%d.%s, #%d", name, r[0], half(), r[1], of, imm)
	case acrossAll:
		return 0x0e300800 | q | log<<22 | i.bits | n | d, fmt.Sprintf("%s %c%d, v%d.%s", name, "bhs"[log], r[0], r[1], of)
	case element:
		return 0x0e000400 | q | (uint32(imm)<<1|1)<<log<<16 | i.bits | n | d, fmt.Sprintf("%s v%d.%s, v%d.%c[%d]", name, r[0], of, r[1], of[len(of)-1], imm)
	case general:
		full, w := uint32(0), "w"
		if log == 3 {
			full, w, name = 1<<30, "x", "mov" // the name where all bits are moved
		} else if log == 2 {
			name = "mov"
		}
		return 0x0e000400 | full | (uint32(imm)<<1|1)<<log<<16 | i.bits | n | d, fmt.Sprintf("%s %s%d, v%d.%c[%d]", name, w, r[0], r[1], of[len(of)-1], imm)
	case spread:
		w := "w"
		if log == 3 {
			w = "x"
		}
		return 0x0e000400 | q | 1<<log<<16 | i.bits | n | d, fmt.Sprintf("%s v%d.%s, %s%d", name, r[0], of, w, r[1])
	case cleared:
		return 0x6f00e400 | d, fmt.Sprintf("movi v%d.%s, #0", r[0], of)
	case tabled:
		return 0x0e000000 | q | i.bits | m | n | d, fmt.Sprintf("%s v%d.%[3]s, {v%[4]d.16b}, v%[5]d.%[3]s", name, r[0], of, r[1], r[2])
	case extract:
		return 0x2e000000 | q | uint32(imm)<<11 | m | n | d, fmt.Sprintf("%s v%d.%[3]s, v%[4]d.%[3]s, v%[5]d.%[3]s, #%[6]d", name, r[0], of, r[1], r[2], imm)
	}
	size := log << 30
	if log == 4 {
		size = 1 << 23
	}
	t := fmt.Sprintf("%s %c%d, [x%d", name, "bhsdq"[log], r[0], r[1])
	switch i.shape {
	case access:
		if imm>>log<<log != imm || imm < 0 || imm>>log > 4095 {
			panic(fmt.Sprintf("%s %s: no offset %d", name, of, imm))
		}
		if imm > 0 {
			t += fmt.Sprintf(", #%d", imm)
		}
		return 0x3d000000 | size | i.bits | uint32(imm>>log)<<10 | n | d, t + "]"
	case indexed:
		return 0x3c206800 | size | i.bits | m | n | d, t + fmt.Sprintf(", x%d]", r[2])
	case stepped:
		return 0x3c207800 | size | i.bits | m | n | d, t + fmt.Sprintf(", x%d, lsl #%d]", r[2], log)
	}
	panic("no shape of " + name)
}
