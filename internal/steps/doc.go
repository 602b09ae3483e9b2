// Package steps runs sequences of random steps over arrays: views, writes, copies, operators, and files written and read back.
// A plain model runs beside them. It has bytes, and a view is a list of places of bytes: no strides and no layouts. After
// each step every live tensor has the elements of its list, bit for bit, and no other byte of memory has changed. So a
// write is seen by the tensors that share its place, and by no others. The package holds tests alone.
//
// An operator's result comes from a plain definition where the package has one. Otherwise it is the result for
// contiguous copies of the operands. Then layouts, overlap and targets are tested, and not the operator's numbers.
//
// A sequence is drawn from a seed. One that fails is cut down to few steps and small numbers, and printed as Go
// with a command that runs it again:
//
//	go test ./internal/steps -run TestSteps -seeds 100000 -from 0
//	go test ./internal/steps -run TestSteps -replay '0,1,2;3'
package steps
