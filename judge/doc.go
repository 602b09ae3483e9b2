// Package judge judges layouts: whether an access waits for a memory bank, and how much memory
// it moves. It tells whether another notation can express a layout, and whether an answer of the
// layout algebra is right. A program that only places elements needs only package layout.
//
// Memory, in banks.go, access.go, swizzle.go, xor.go, lines.go, order.go and relay.go:
//
//   - [Conflicts] counts the bank conflicts of an [Access] through a layout.
//   - [SolveSwizzle] finds the smallest swizzle without conflicts, or that there is none.
//   - [SolveXOR] does the same for matrices over F2.
//   - [Transactions] counts the sectors and lines that an access moves, and proves the widest load.
//   - [SolveOrder] finds the order of threads with the fewest sectors.
//   - [Relay] counts the moves that bring elements from one layout to another.
//
// Matrix instructions, in instruction.go, nvidia.go, hopper.go, amd.go, vendors.go, load.go,
// canonical.go and stage.go:
//
//   - [Instruction] says which thread of a matrix instruction holds which element.
//   - [SolveLoad] finds the load from shared memory to an operand, with its conflicts and their cure.
//   - [SolveCanonical] finds the descriptor with which wgmma reads an operand.
//   - [SolveStage] finds the copies from global to shared memory.
//
// Notations, in spell.go, linear.go, strided.go, tiled.go, axes.go and owners.go:
//
//   - [Parse] and [Print] read and write the spellings of CuTe, NumPy, Mojo, Triton and Go.
//   - [Linear] is a layout as a matrix over F2, Triton's linear layout.
//   - [Axes] is a layout over named axes, TIRx's, with copies; it goes to thread–value layouts and meshes.
//   - [Strided] is a layout as NumPy's strides, [Tiled] as TT-NN's tiles and shards.
//
// Verdicts, in fit.go, verdict.go and explain.go:
//
//   - [Fit] finds the layout of a function, [Infer] the layout B with C = A ∘ B.
//   - [Judge] gives the exact answer of an operation beside the answers of the published rules.
//   - [Explain] shows the rules that lead from an expression to its layout.
//   - [FindFaults] looks for inputs for which the published rules are wrong.
//
// Every answer is exact. If there is none, the error is a [*Mismatch], with the first
// coordinate that has none, or an [*Error], with the reason. All work is bounded: the error
// about inputs that are too large is layout.ErrLimit with the bound. SolveXOR and Judge may
// instead answer that something isn't decided or wasn't checked.
package judge
