//go:build amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x

package float

// hasFMA says that math.FMA is an instruction.
const hasFMA = true
