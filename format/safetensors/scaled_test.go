package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// scales makes codes of E8M0 in a tensor of a shape.
func scales(d dtype.DType, shape []int, codes ...byte) tensor.Any {
	t, _ := tensor.Make(d, shape...)
	b, _ := tensor.Bytes(t)
	copy(b, codes)
	return t
}

// Elements of four, six and eight bits are joined with the scales beside them, as public checkpoints name both. A scale is 2^(code-127).
func TestScaled(t *testing.T) {
	x := make([]float32, 128)
	for i := range x {
		x[i] = []float32{0, 0.5, 1, 1.5, 2, 3, 4, 6}[i%8] * []float32{1, -1}[i/8%2] // what all types have
	}
	plain := tensor.FromSlice(x, 2, 64)
	codes := []byte{127, 128, 120, 130}
	want := tensor.FromSlice(slices.Clone(x), 2, 64)
	data, _ := want.Data()
	for i := range data {
		data[i] *= []float32{1, 2, 1. / 128, 8}[i/32]
	}
	fours := make([]num.F4E2M1, len(x))
	eights := make([]num.F8E4M3, len(x))
	nibbles := make([]uint8, len(x)/2)
	for i, v := range x {
		fours[i] = num.FromFloat64[num.F4E2M1](float64(v))
		eights[i] = num.FromFloat64[num.F8E4M3](float64(v))
		nibbles[i/2] |= fours[i].Bits() << (4 * (i % 2))
	}
	six, err := pack.FormatNamed("float6_e2m3")
	if err != nil {
		t.Fatal(err)
	}
	sixes, err := pack.Pack(plain.Any(), &pack.Options{Format: six})
	if err != nil {
		t.Fatal(err)
	}
	e8 := scales(dtype.Float8E8M0, []int{2, 2}, codes...)
	arrays := []format.Array{
		{Name: "four", Tensor: tensor.FromSlice(fours, 2, 64).Any()}, {Name: "four_scale", Tensor: e8},
		{Name: "l.weight", Tensor: tensor.FromSlice(eights, 2, 64).Any()}, {Name: "l.scale", Tensor: e8},
		{Name: "six", Tensor: sixes.Any()}, {Name: "six_scale", Tensor: e8},
		{Name: "up_blocks", Tensor: tensor.FromSlice(nibbles, 2, 2, 16).Any()}, {Name: "up_scales", Tensor: scales(dtype.Uint8, []int{2, 2}, codes...)},
		// These don't fit, and stay.
		{Name: "one", Tensor: tensor.FromSlice(fours, 2, 64).Any()}, {Name: "one_scale", Tensor: scales(dtype.Float8E8M0, []int{2, 1}, codes...)},
		{Name: "tile.weight", Tensor: tensor.FromSlice(eights, 2, 64).Any()}, {Name: "tile.weight_scale", Tensor: scales(dtype.Float8E8M0, []int{1, 1}, codes...)},
		{Name: "flat", Tensor: tensor.FromSlice(fours, 128).Any()}, {Name: "flat_scale", Tensor: tensor.FromSlice([]float32{1, 1, 1, 1}, 4).Any()},
		{Name: "z_blocks", Tensor: tensor.FromSlice(nibbles, 4, 16).Any()}, {Name: "z_scales", Tensor: scales(dtype.Uint8, []int{4}, codes...)}, {Name: "z", Tensor: e8},
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := format.WriteFile(path, nil, arrays...); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(&format.Source{Path: path, Options: format.Options{Scaled: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := f.Names()
	slices.Sort(names)
	if got := fmt.Sprint(names); got != "[flat flat_scale four l.weight one one_scale six tile.weight tile.weight_scale up z z_blocks z_scales]" {
		t.Error(got)
	}
	for name, text := range map[string]string{"four": "mxfp4[2,64]", "l.weight": "mxfp8_e4m3[2,64]", "six": "mxfp6_e2m3[2,64]", "up": "mxfp4[2,64]"} {
		info, err := f.Info(name)
		if err != nil || info.String() != text {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		got, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		values, err := got.Foreign().(pack.Tensor).Unpack()
		if err != nil {
			t.Fatal(err)
		}
		tensortest.Equal(t, values, want.Any())
		part, err := f.Tensor(name, tensor.I(1), tensor.R(30, 40))
		if err != nil {
			t.Fatal(err)
		}
		tensortest.Equal(t, part, want.Any().Slice(tensor.I(1), tensor.R(30, 40)))
		if _, err := f.Tensor(name, tensor.I(2)); !errors.Is(err, tensor.ErrIndex) || !strings.Contains(err.Error(), fmt.Sprintf("%q: index 2 is outside axis 0", name)) {
			t.Errorf("a wrong index: %v", err)
		}
	}
	// Without the choice all entries are there.
	raw, err := openFile(&format.Source{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if n := len(raw.Names()); n != len(arrays) {
		t.Errorf("%d of %d", n, len(arrays))
	}
}

// Headers of any shapes are joined or stay, and never panic.
func TestScaledShapes(t *testing.T) {
	for _, c := range []string{
		`"x":{"dtype":"F4","shape":[],"data_offsets":[0,0]},"x_scale":{"dtype":"F8_E8M0","shape":[],"data_offsets":[0,1]}`,
		`"x":{"dtype":"F4","shape":[0,32],"data_offsets":[0,0]},"x_scale":{"dtype":"F8_E8M0","shape":[0,1],"data_offsets":[0,0]}`,
		`"x":{"dtype":"F4","shape":[2,0],"data_offsets":[0,0]},"x_scale":{"dtype":"F8_E8M0","shape":[2,0],"data_offsets":[0,0]}`,
		`"x_blocks":{"dtype":"U8","shape":[16],"data_offsets":[0,16]},"x_scales":{"dtype":"U8","shape":[],"data_offsets":[16,17]}`,
		`"x_blocks":{"dtype":"U8","shape":[0,16],"data_offsets":[0,0]},"x_scales":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`,
		`"_blocks":{"dtype":"U8","shape":[1,16],"data_offsets":[0,16]},"_scales":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}`,
		`"x_blocks_scale":{"dtype":"F8_E8M0","shape":[1],"data_offsets":[0,1]},"x_blocks":{"dtype":"F8_E4M3","shape":[32],"data_offsets":[1,33]}`,
	} {
		text := "{" + c + "}"
		size := 0
		for _, n := range []int{1, 16, 17, 33} {
			if strings.Contains(c, fmt.Sprintf(",%d]}", n)) {
				size = n
			}
		}
		b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
		b = append(b, make([]byte, size)...)
		f, err := openFile(&format.Source{R: bytes.NewReader(b), Options: format.Options{Scaled: true}})
		if err != nil {
			continue
		}
		for _, name := range f.Names() {
			if _, err := f.Info(name); err != nil {
				t.Errorf("%s: %s: %v", c, name, err)
			}
			if _, err := f.Tensor(name); err != nil {
				t.Errorf("%s: %s: %v", c, name, err)
			}
			f.Tensor(name, tensor.Ellipsis)
		}
		f.Close()
	}
}
