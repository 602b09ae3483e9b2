//go:build !purego

package cpu

import "golang.org/x/sys/windows"

// hasI8MM asks Windows, as golang.org/x/sys/cpu doesn't.
//
// Source: winnt.h of the Windows SDK, PF_ARM_V82_I8MM_INSTRUCTIONS_AVAILABLE.
func hasI8MM() bool {
	const feature = 66
	has, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("IsProcessorFeaturePresent").Call(feature)
	return has != 0
}
