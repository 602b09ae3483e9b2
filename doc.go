// Package ashlar is the map of a tensor library in which layout is a value. It exports nothing: import the packages.
//
// A tensor is an element type, a layout (coordinates to offsets) and a storage. Everything that doesn't change bytes is
// layout algebra; everything else is an operator. So, looking for the place of something: integers only, it is in layout;
// bytes and views, in tensor; values computed, in one file of op; a file format, in its own package.
//
//	layout/              coordinates to offsets: shapes, strides, nested modes; parsing and printing
//	judge/               bank conflicts, swizzles, conversions between notations, verdicts on the algebra
//	judge/ask/           questions about layouts as text, for the command and the page
//	text/                texts to tokens and back, by Hugging Face's tokenizer.json
//	text/vectors/        encoders of texts in folders: vectors, labels, scores
//	text/endpoints/      encoders of texts over HTTP, in the forms that clients know
//	num/                 number types as pure bit logic: bfloat16, float16, float8
//	num/fixed/           fixed-point numbers and their functions, in integers alone
//	mem/                 bytes and who owns them: aligned, borrowed, mapped, pooled; closing them
//	dtype/               run-time names of element types
//	tensor/              Tensor[T] and Any: creation, views, indexing, copying, printing
//	pack/                what is not a []T: padded tiles, block floats, integers of a few bits
//	tensortest/          Equal, AllClose, ULP and Digest for tests
//	op/                  one file per operator: doc comment, function, table, loop
//	op/option/           the type of options, for packages that hand them on
//	device/              memory configs, shards, queues; an accelerator in software
//	device/grid/         meshes of devices and placements on them, and plans of moves: integers alone
//	device/mesh/         tensors on several devices: placements, sums in one order, bytes over each link
//	receipt/             receipts: the digests of a run, for anyone to run it again and compare
//	onnx/                decodes a graph, checks it, runs it through op's table
//	onnx/internal/       what a model needs of files and strings, without the types that users see
//	onnx/quantize/       makes models of integers from models of float32
//	onnx/picture/        draws the graph of a model
//	onnx/weights/        models as files of arrays, for package format
//	onnx/serve/          runs models for clients over HTTP
//	sound/               samples into the numbers that models take: rates, frames, mel spectrograms
//	format/              opens and writes files whatever their format: a registry, also for formats of a program
//	format/npy/          NumPy's npy and npz files
//	format/safetensors/  safetensors files, mapped
//	format/gguf/         GGUF files, mapped
//	format/pytorch/      files of torch.save, mapped, and read alone
//	format/image/        PNG and JPEG pictures as tensors
//	format/csv/          CSV, TSV and other text tables
//	format/wav/          WAV files of samples, read as they come
//	format/raw/          elements without a header
//	format/zarr/         Zarr: arrays in chunks, in folders, zip files, memory and HTTP
//	format/zarr/internal/request/ requests to servers: sent again, bounded, printed without secrets
//	chunk/               arrays larger than memory: plans of tasks over chunks, and their run in this process
//	chunk/job/           a computation over arrays as plain data, which any process can plan again
//	beam/                runs plans of package chunk on Apache Beam (a module of its own)
//	draw/                layouts and tensors as text, SVG, PNG and HTML
//	linalg/              tensors as gonum's matrices and back (a module of its own)
//	web/                 a page that judges layouts and shows tensors, in a browser (a module of its own)
//	conformance/         runs the data that others made, and checks functions on all inputs (a module of its own)
//	bench/               other Go libraries, ONNX Runtime and NumPy on the same cases (a module of its own)
//	cmd/ashlar/          the command: flags, calls, errors
//	internal/core/ram/   pieces of the Go heap, aligned and used again; faults of mapped files as errors
//	internal/core/float/ functions of float32 and float64 with the same bits on every machine, fused multiply-add
//	internal/core/cpu/   the instruction sets that the processor has
//	internal/core/jsontext/ numbers and escapes of JSON
//	internal/core/modes/ the fields of a layout, and the questions that the engine asks it by its address
//	internal/core/walk/  plans the rows of an operation over several layouts
//	internal/core/conv/  converts rows between element types
//	internal/core/order/ sorts lines of elements, and finds those of a rank
//	internal/core/handed/ functions that package tensor hands to the engine
//	internal/core/reach/ elements of a tensor as a slice of any type, tensors without elements, for the engine
//	internal/core/exec/  runs rows over tensors: elementwise, dense or strided, on threads
//	internal/core/plan/  a call worked out before it runs: options, attributes, shapes, results, scratch
//	internal/core/cast/  conversions of element types, canonical NaNs, and fixed point under options
//	internal/core/pointwise/ operators on elements at one place, and chains of them in one pass
//	internal/core/move/  operators that move elements, whatever they mean, and numbers of any type
//	internal/core/reduce/ sums, extremes and lines along axes
//	internal/core/contract/ products of matrices and convolutions, by packed panels
//	internal/core/packed/ products of vectors with matrices in blocks of codes
//	internal/core/simd/  rows with an instruction set: AVX2, AVX-512 and NEON; its generator is a module of its own
//	internal/core/disk/  files that appear whole or not at all, and parts of arrays in them
//	internal/core/formats/ what readers and writers of formats share: errors with names, files of one array
//	internal/published/  layouts by the published rules of pycute and cutegen, faults included
//	internal/confined/   calls functions where 1 GiB is the most that they may take, for tests
//	internal/exact/      elementary functions with 384 bits, for tests of package internal/core/float
//	internal/seeded/     a fixed seed for rapid, in tests that import it
//	internal/encoders/   small encoders of texts with made-up weights, for tests and examples
//	internal/ended/      a context that ends after a number of looks, for tests
//	internal/optest/     runs every operator × dtype × layout
//	internal/bench/      measures operators, a JSON line for each case
//	internal/same/       one digest of all results, the same on every machine
//	internal/argfuzz/    calls every exported function with wrong arguments; its table of them is generated
//	internal/meta/       random graphs that are valid, run in many ways, and made small where two differ
//	internal/steps/      random steps over views, operators and files, beside a plain model without strides
//	internal/classes/    reads an output of a model as scores of classes
//	internal/digits/     writes the digits model of testdata from its trained weights
//	internal/fused/      finds products and sums that the compiler fused, in the assembly listing
//	examples/            programs to copy
//
// Where a subject is that has no folder:
//
//	op/NAME.go                             an operator: meaning, types, table and the row that defines it
//	op/conv.go                             the shape of a Conv; each operator infers its shapes in its own Planned
//	tensor/reshape.go                      Reshape and View of typed programs; op/reshape.go is the operator of graphs
//	layout/index.go                        the bounds of Slice; tensor/view.go makes the view
//	tensor/page.go                         a tensor printed, "..." in long axes; print.go has the options
//	layout/view.go                         which reshapes are views
//	tensor/tileview.go                     views of one tile of a tensor
//	pack/tilelayout.go                     TT-NN's tiles of 32×32: where their elements are
//	layout/product.go                      tiles of any size: TileToShape
//	mem/arena.go                           the arena: memory that is used again
//	num/f16.go                             float16: its conversions
//	num/narrow.go                          narrow floats of 8 bits: rounding to nearest even
//	internal/core/conv/float16.go          float16: its conversions, row by row
//	internal/core/conv/canon.go            NaN made canonical; internal/core/cast/canon.go says when
//	internal/core/reduce/sumfloats.go      the order in which floats are added; integers and fixed point beside it
//	internal/core/contract/contraction.go  the loop over blocks of a matrix product, and its rule of sums
//	internal/core/contract/route.go        which kernels a convolution takes, and why
//	internal/core/contract/measured.go     the thresholds that were measured; internal/bench -calibrate finds them anew
//	internal/core/contract/filter.go       weights of a convolution, packed and kept
//	internal/core/contract/microkernels.go the kernels that multiply tiles in registers
//	internal/core/contract/window.go       kernels, strides and pads of convolutions and pools
//	internal/core/exec/threads.go          threads: how work is split; workers.go has the goroutines
//	internal/core/exec/threads.go          Look: where an operator sees that its context has ended
//	internal/core/exec/elementwise.go      elementwise loops over tensors, dense and strided
//	internal/core/pointwise/fuse.go        several elementwise operators in one pass
//	internal/core/pointwise/pointwise.go   division of integers by 0 refused
//	internal/core/plan/plan.go             the plan of a call; option.go has options, shapes.go broadcasting
//	internal/core/plan/scratch.go          the memory that an operator says; onnx/frame.go holds a run to its limit
//	internal/core/plan/kernellist.go       which operators have kernels; a test of internal/optest writes the list
//	internal/core/reduce/lines.go          operators on lines, as Softmax; sums and extremes along axes are in reduce.go
//	internal/core/simd/_asm/neongemm.go    NEON's product of matrices; gemm.go has those of AVX2 and AVX-512
//	internal/core/simd/_asm/functions.go   rows of exp and its like; internal/core/float has them in Go
//	internal/core/order/order.go           TopK and sorting: equal elements by their places
//	internal/fused/main.go                 the rule that the compiler may not fuse products and sums, and its check
//	op/own.go                              operators of a program
//	pack/blocks.go                         blocks of codes as GGUF's Q4_K, decoded; quantize.go encodes them
//	docs/howto/add-an-element-type.md      the places that a new element type touches
//	onnx/passes.go                         nodes that become one step: fusions; last.go chooses channels last
//	onnx/check.go                          a graph checked before it runs, its attributes, too
//	onnx/digest.go                         the digest of a value in a receipt; receipt/receipt.go has the digest of a run
//	onnx/random_test.go                    random graphs, run in all ways
//	onnx/infer.go                          shapes of a graph; the rules are those of the operators
//	onnx/outline.go                        memory of a graph before a run, for prepared runs and streams
//	onnx/plan.go                           the memory of a run compared with MaxMemory, before it begins
//	format/npy/header.go                   the header of an npy file
//	cmd/ashlar/inputs.go                   --input name=file; source.go reads the file
//	beam/beam.go                           tasks of a plan that failed, tried again; chunk/run.go ends at the first error
//	internal/core/disk/atomic.go           a file written whole or not at all
//	format/zarr/shard.go                   the index of a shard; http.go reads arrays of a server
//	format/zarr/codec.go                   codecs of Zarr; compress.go and blosc.go read what they compress
//
// A package imports packages of lower levels only; the table stands in arch_test.go.
package ashlar
