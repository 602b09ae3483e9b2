//go:build linux && !purego

package simd

import (
	"reflect"
	"regexp"
	"runtime"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// Kernels that no table has, by level.
var (
	affine32s       = each(affine32NEON)
	affine64s       = each(affine64NEON)
	affineOdds      = each(affineOddNEON)
	affineRow32s    = each(affineRow32NEON)
	affineRow64s    = each(affineRow64NEON)
	argMaxRow32s    = each(argMaxRow32NEON)
	argMaxRow64s    = each(argMaxRow64NEON)
	argMinRow32s    = each(argMinRow32NEON)
	argMinRow64s    = each(argMinRow64NEON)
	canon32s        = each(canon32NEON)
	canon64s        = each(canon64NEON)
	divNumber32s    = each(divNumber32NEON)
	divNumber64s    = each(divNumber64NEON)
	expLess32s      = each(expLess32NEON)
	firstLines32s   = each(firstLines32NEON)
	firstLines64s   = each(firstLines64NEON)
	logSoftmax32s   = each(logSoftmax32NEON)
	maxColumns32s   = each(maxColumns32NEON)
	maxColumns64s   = each(maxColumns64NEON)
	maxLines32s     = each(maxLines32NEON)
	maxLines64s     = each(maxLines64NEON)
	mean2s          = each(mean2NEON)
	mean3s          = each(mean3NEON)
	mean4s          = each(mean4NEON)
	mean6s          = each(mean6NEON)
	mean9s          = each(mean9NEON)
	minColumns32s   = each(minColumns32NEON)
	minColumns64s   = each(minColumns64NEON)
	minLines32s     = each(minLines32NEON)
	minLines64s     = each(minLines64NEON)
	narrowBF16s     = each(narrowBF16NEON)
	narrowF16s      = each(narrowF16NEON)
	narrowF64s      = each(narrowF64NEON)
	oddF64s         = each(oddF64NEON)
	halvesU64s      = each(halvesU64NEON)
	softmax32s      = each(softmax32NEON)
	squareLanes32s  = each(squareLanes32NEON)
	squareLanes64s  = each(squareLanes64NEON)
	squareLines32s  = each(squareLines32NEON)
	squareLines64s  = each(squareLines64NEON)
	normalize32s    = each(normalize32NEON)
	normalize64s    = each(normalize64NEON)
	normalizeRow32s = each(normalizeRow32NEON)
	normalizeRow64s = each(normalizeRow64NEON)
	subNumber32s    = each(subNumber32NEON)
	subNumber64s    = each(subNumber64NEON)
	sumColumns32s   = each(sumColumns32NEON)
	sumColumns64s   = each(sumColumns64NEON)
	sumLanes32s     = each(sumLanes32NEON)
	sumLanes64s     = each(sumLanes64NEON)
	sumLines32s     = each(sumLines32NEON)
	sumLines64s     = each(sumLines64NEON)
	widenBF16s      = each(widenBF16NEON)
	widenF16s       = each(widenF16NEON)
	widenF32s       = each(widenF32NEON)
)

// together has no effect: all lines go one after the other.
var together [2]int64

// TestDotProductsNeed wants each level to have kernels of its own name or of a lower level's, and a processor without the level not to get them.
func TestDotProductsNeed(t *testing.T) {
	need := regexp.MustCompile(`(NEON|Dot|I8MM)(\.abi0)?$`)
	of := map[string]cpu.Level{"NEON": cpu.NEON, "Dot": cpu.Dot, "I8MM": cpu.I8MM}
	check := func(level cpu.Level, f any) {
		name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
		found := need.FindStringSubmatch(name)
		if found == nil || of[found[1]] > level {
			t.Errorf("%v has %s", level, name)
		}
	}
	for level, p := range DotProducts {
		if has := p != nil; has != (cpu.Level(level) > Top) {
			t.Errorf("dot products of %v: %t", cpu.Level(level), has)
		}
		if p == nil {
			continue
		}
		check(cpu.Level(level), p.widen)
		check(cpu.Level(level), p.join)
		for _, tile := range p.tiles {
			check(cpu.Level(level), tile.f)
		}
	}
	p := ByteProducts[cpu.NEON]
	check(cpu.NEON, p.widen)
	check(cpu.NEON, p.join)
	for _, tile := range p.tiles {
		check(cpu.NEON, tile.f)
	}
}
