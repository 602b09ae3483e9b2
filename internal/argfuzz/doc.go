// Package argfuzz calls every exported function of the packages that take tensors and layouts with wrong arguments. It
// holds tests alone. Each call has to return, or panic with a *tensor.Error or a *layout.Error; a hang, another panic
// and much memory are failures.
//
// The table of functions, table_test.go, is generated, and a test fails when a function is missing. After a change of the
// exported functions write it again, then see what the functions do with wrong arguments:
//
//	go test ./internal/argfuzz -run TestTable -update
//	go test ./internal/argfuzz -run TestArguments -cases 100000 -from 0
//	go test ./internal/argfuzz -fuzz FuzzArguments
//
// TestShared calls the functions that write with operands in the memory of the target, and its long form is
//
//	go test ./internal/argfuzz -run TestShared -cases 700000
//
// TestExtents calls every function with tensors that have a huge extent and no elements. TestEmpties draws several such
// extents at once, and runs in a process with 1 GiB to spare. TestOperands and TestCalls go
// through the zero value and each rank for each operand, which needs no chance.
//
// A case is a number, and -from with -cases 1 repeats it. With -trace a file holds the number of the case at work, for
// ends that no test survives, and -keep goes on after a failure. Rules of the drawing: a method isn't called on a nil
// pointer or interface, whose panic is Go's own; a handle such as *onnx.Session comes from its functions; a tensor that is
// drawn has at most 2^20 elements, since work on more takes as long as it says.
package argfuzz
