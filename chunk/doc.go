// Package chunk computes with arrays that are larger than memory: Zarr arrays, cut into
// chunks, and arrays computed from them. Nothing runs until a plan does.
//
// An Array is a description: an element type, a shape, the shape of its chunks, and how
// each part of it follows from parts of other arrays. From gives the array of a Zarr
// array, Value that of a tensor; Map applies an elementwise operator of package op, Reduce
// a reduction, MatMul and TensorDot multiply, Slice, Transpose, Concat and Stack move,
// Rechunk cuts into other chunks, MapBlocks calls a function of Go. An array that was made by a
// mistake holds the error, as does all that is made of it; NewPlan returns it.
//
// A Plan is stages of tasks. A task reads parts of arrays, computes, and writes chunks of one array;
// it depends on nothing but earlier stages. The plan knows before it runs how many bytes a
// task holds at most, and NewPlan refuses one that holds more than is allowed. A chain of elementwise
// operators, slices and transpositions is part of the task that needs it and is stored nowhere.
//
// From Plan.Begin to Plan.End the targets are marked as unfinished, and zarr.Open refuses them.
//
// # The same bits
//
// The result depends on the arrays, their chunks and the expression. It doesn't depend on
// where tasks run, in which order, how many at once, or how often: a task that is run again writes the same
// bytes. A reduction joins the chunks in a fixed tree. Elementwise operators, and reductions
// that are exact, as reductions of integers, give the bits of package op on the whole array. Sums and
// means of floats are kept in float64 and rounded once at the end; they can differ from package op's, which
// adds in another order, by the rounding of float64. A product of matrices rounds at each chunk of the inner axis.
package chunk
