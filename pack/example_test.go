package pack_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	x := tensor.Linspace[float32](-1, 1, 14*28).Reshape(14, 28)
	p, err := pack.Pack(x.Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Spec)
	fmt.Println(p.Len(), "of", p.StorageLen(), "elements,", p.Bytes(), "bytes")
	v, err := p.At(13, 27)
	fmt.Println(v, err)
	back, err := p.Unpack()
	if err != nil {
		log.Fatal(err)
	}
	y, _ := tensor.As[float32](back)
	fmt.Println(op.ReduceMax(op.Abs(op.Sub(y, x)), nil))
	// Output:
	// bfloat8_b[14,28] in tiles of 32×32, padded to [32,32]
	// 392 of 1024 elements, 1088 bytes
	// 1 <nil>
	// 0.0065137744
}

// The padding of a tensor in tiles is there for whoever looks at the storage, and for
// nobody else.
func ExampleTensor_View() {
	x := tensor.Arange(int32(1), 7, 1).Reshape(2, 3)
	p, err := pack.Pack(x.Any(), &pack.Options{Tile: pack.TileOf(2, 16), Padding: tensor.Scalar(int32(-42)).Any()})
	if err != nil {
		log.Fatal(err)
	}
	v, err := p.View()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Layout())
	fmt.Println(tensor.Sprint(v, &tensor.PrintOptions{LineWidth: 100}))
	fmt.Println(p.Unpack())
	// Output:
	// (((2,1),1),((16,1),1)):(((16,0),0),((1,0),0))
	// [[  1   2   3 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42]
	//  [  4   5   6 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42 -42]]
	// [[1 2 3]
	//  [4 5 6]] <nil>
}

func ExampleNewSpec() {
	s, err := pack.NewSpec(dtype.BFloat16, []int{3, 5, 40}, &pack.Options{Tile: pack.TileOf(32, 32)})
	fmt.Println(s, err)
	fmt.Println(s.Storage())
	_, err = pack.NewSpec(dtype.Float32, []int{14, 28}, &pack.Options{Format: pack.BFP4})
	fmt.Println(err)
	_, err = pack.NewSpec(dtype.Float32, []int{14, 28}, &pack.Options{Tile: pack.TileOf(24, 32)})
	fmt.Println(err)
	// Output:
	// bfloat16[3,5,40] in tiles of 32×32, padded to [3,32,64] <nil>
	// (3,((16,2),1),((16,2),2)):(2048,((16,512),0),((1,256),1024))
	// pack.NewSpec: bfloat4_b has no row-major form: its exponents belong to tiles; give a tile, as 32×32
	// pack.NewSpec: no tile of 24×32: heights are 1, 2, 4, 8, 16 and 32, widths 16 and 32; layout.TileToShape makes others
}

func ExampleText() {
	x := tensor.FromSlice([]float32{0.25, -1.5, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 6)
	text, err := pack.Text(x.Any(), &pack.TextOptions{Precision: 2})
	fmt.Println(text, err)
	// Output:
	// ttnn.Tensor([[ 0.25, -1.50,  ...,  5.00,  6.00],
	//              [ 7.00,  8.00,  ..., 11.00, 12.00]], shape=Shape([2, 6]), dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR) <nil>
}

func ExampleShapeText() {
	s, err := tensor.NewSpec(dtype.Float32, 14, 28)
	if err != nil {
		log.Fatal(err)
	}
	if s, err = s.WithPadded(32, 32); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pack.ShapeText(s, pack.Sum))
	fmt.Println(pack.ShapeText(s, pack.Brackets))
	fmt.Println(pack.ShapeText(s, pack.Current))
	fmt.Println(pack.ShapeText(s.Padded(), pack.Sum), s.Len(), s.StorageLen())
	// Output:
	// ttnn.Shape([14 + 18, 28 + 4])
	// ttnn.Shape([14[32], 28[32]])
	// Shape([14, 28])
	// ttnn.Shape([32, 32]) 392 1024
}

func ExampleNewIntegers() {
	w := tensor.FromSlice([]float32{0.1, -0.7, 0.25, 14, -3, 7}, 2, 3)
	f, err := pack.NewIntegers(pack.Integers{Bits: 4, Scale: tensor.FromSlice([]float32{0.1, 2}), Shape: w.Shape(), Axis: 0})
	if err != nil {
		log.Fatal(err)
	}
	p, err := pack.Pack(w.Any(), &pack.Options{Format: f})
	if err != nil {
		log.Fatal(err)
	}
	data, err := p.Data()
	b, _ := tensor.As[uint8](data)
	fmt.Printf("%x %v\n", b.Elems(), err)
	fmt.Println(p.Unpack())
	// Output:
	// 91724e <nil>
	// [[ 0.1 -0.7  0.2]
	//  [14.  -4.   8. ]] <nil>
}

func ExampleCalibrate() {
	w := tensor.FromSlice([]float32{0.1, -0.7, 0.25, 14, -3, 7}, 2, 3)
	f, err := pack.Calibrate(w, pack.Integers{Bits: 4, Shape: w.Shape(), Axis: 0})
	if err != nil {
		log.Fatal(err)
	}
	p, err := pack.Pack(w.Any(), &pack.Options{Format: f})
	if err != nil {
		log.Fatal(err)
	}
	o, _ := p.Integers()
	fmt.Println(p.Spec, o.Scale)
	fmt.Println(p.Unpack())
	// Output:
	// int4[2,3], scales along axis 0 [0.1 2. ]
	// [[ 0.1 -0.7  0.2]
	//  [14.  -4.   8. ]] <nil>
}

// What TT-NN calls to_dtype: between storages Pack does it, of a packed tensor too;
// between element types op.Cast, of the unpacked one.
func ExamplePack() {
	tile := pack.TileOf(32, 32)
	x := tensor.FromSlice([]float32{0.25, -1.5, 2.53, 3}, 2, 2)
	a, err := pack.Pack(x.Any(), &pack.Options{Tile: tile})
	if err != nil {
		log.Fatal(err)
	}
	b, err := pack.Pack(a.Any(), &pack.Options{Tile: tile, Format: pack.BFP8}) // float32 to bfloat8_b
	if err != nil {
		log.Fatal(err)
	}
	values, err := b.Unpack()
	if err != nil {
		log.Fatal(err)
	}
	y, _ := tensor.As[float32](values)
	c, err := pack.Pack(op.Cast[int32](y).Any(), &pack.Options{Tile: tile}) // bfloat8_b to int32
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []pack.Tensor{a, b, c} {
		values, err := p.Unpack()
		fmt.Printf("%v:\n%v %v\n", p.Spec, values, err)
	}
	// Output:
	// float32[2,2] in tiles of 32×32, padded to [32,32]:
	// [[ 0.25 -1.5 ]
	//  [ 2.53  3.  ]] <nil>
	// bfloat8_b[2,2] in tiles of 32×32, padded to [32,32]:
	// [[ 0.25    -1.5    ]
	//  [ 2.53125  3.     ]] <nil>
	// int32[2,2] in tiles of 32×32, padded to [32,32]:
	// [[ 0 -1]
	//  [ 2  3]] <nil>
}

// A row of blocks of 32, each with a scale: 0.5 bytes an element and a byte a block.
func ExampleFormatNamed() {
	f, err := pack.FormatNamed("mxfp4")
	if err != nil {
		log.Fatal(err)
	}
	p, err := pack.Pack(tensor.Linspace[float32](-6, 6, 32).Any(), &pack.Options{Format: f})
	if err != nil {
		log.Fatal(err)
	}
	v, err := p.At(1) // of -5.6129, the nearest of -6, -4, -3, …
	fmt.Println(p.Spec, p.Bytes(), v, err)
	// Output: mxfp4[32] 17 -6 <nil>
}

// Weights of a checkpoint have a row for each output.
func ExampleTensor_Product() {
	w := tensor.Full[float32](0.5, 2, 32)
	w.Set(3, 1, 0)
	f, err := pack.FormatNamed("q8_0")
	if err != nil {
		log.Fatal(err)
	}
	p, err := pack.Pack(w.Any(), &pack.Options{Format: f})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Product(context.Background(), tensor.Full[float32](1, 32)))
	// Output: [15.999023 18.376831] <nil>
}
