// Command sharding multiplies two matrices on an accelerator in software, sharded in two
// ways, and compares the bytes that move.
//
//	go run ./examples/sharding [--svg FILE]
//
// The matrices are n by n float32, n = 1024, on P = 64 cores. They come from DRAM, each byte
// once: 8n² bytes for both. Between cores move:
//
//   - in blocks, 2(√P − 1)·4n² bytes: a core needs the blocks of its row of a and of its
//     column of b, all but its own from other cores;
//   - in rows, (P − 1)·4n² bytes: a core has its rows of a, and needs all of b but its own rows.
//
// The measured counts equal these to the byte, and the product has the bits of op.MatMul.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

const n, root = 1024, 8

func main() {
	svg := flag.String("svg", "", "write a picture of the traffic to `FILE`; - is standard output, without the text")
	flag.Parse()
	if err := run(os.Stdout, *svg); err != nil {
		fmt.Fprintln(os.Stderr, "sharding:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, svg string) error {
	list, err := compare()
	if err != nil {
		return err
	}
	bars := draw.Bars{Title: fmt.Sprintf("bytes that move in a product of %d by %[1]d float32 matrices on %d cores", n, root*root)}
	for _, r := range list {
		if svg != "-" {
			fmt.Fprintf(w, "%v: %d bytes from DRAM, %d between cores, by the formula %d\n", r.Sharding, r.moved.DRAMToL1, r.moved.CoreToCore, r.formula)
		}
		bars.Rows = append(bars.Rows, draw.Bar{Label: r.Sharding.String() + ", DRAM to L1", Value: int(r.moved.DRAMToL1)},
			draw.Bar{Label: r.Sharding.String() + ", between cores", Value: int(r.moved.CoreToCore)})
	}
	switch svg {
	case "":
		return nil
	case "-":
		return bars.WriteSVG(w)
	}
	f, err := os.Create(svg)
	if err != nil {
		return err
	}
	if err := bars.WriteSVG(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// result has the bytes that moved with one sharding, and the formula's bytes between cores.
type result struct {
	device.MemoryConfig
	moved   device.Traffic
	formula int64
}

func compare() ([]result, error) {
	dev, err := device.Open("sim:wormhole", nil)
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	x, y := tensor.RandomNormal[float32](1, 0, 1, n, n), tensor.RandomNormal[float32](2, 0, 1, n, n)
	var dram [2]device.Tensor
	for i, t := range []tensor.Tensor[float32]{x, y} {
		if dram[i], err = device.ToDevice(t.Any(), dev, device.MemoryConfig{}); err != nil {
			return nil, err
		}
	}
	want, err := pack.Pack(op.MatMul(x, y).Any(), nil)
	if err != nil {
		return nil, err
	}
	list := []result{
		{MemoryConfig: device.MemoryConfig{Sharding: device.BlockSharded, Shard: []int{n / root, n / root}}, formula: 2 * (root - 1) * 4 * n * n},
		{MemoryConfig: device.MemoryConfig{Sharding: device.HeightSharded, Shard: []int{n / root / root, n}}, formula: (root*root - 1) * 4 * n * n},
	}
	for i := range list {
		r := &list[i]
		r.Memory, r.Cores = device.L1, []device.Range{device.Grid(root, root)}
		if err := r.multiply(dev, dram[0], dram[1], want); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// multiply places a, b and the product by the config, multiplies, and compares the product.
func (r *result) multiply(dev *device.Sim, a, b device.Tensor, want pack.Tensor) error {
	dev.ResetTraffic()
	a, err := device.ToDevice(a.Any(), dev, r.MemoryConfig)
	if err != nil {
		return err
	}
	defer a.Deallocate()
	if b, err = device.ToDevice(b.Any(), dev, r.MemoryConfig); err != nil {
		return err
	}
	defer b.Deallocate()
	c, err := device.Empty(a.Spec(), dev, r.MemoryConfig)
	if err != nil {
		return err
	}
	defer c.Deallocate()
	if err := multiply(dev, c, a, b); err != nil {
		return err
	}
	r.moved = dev.Traffic()
	got, err := device.FromDevice(c)
	if err != nil {
		return err
	}
	same, err := got.Equal(want)
	if err == nil && !same {
		err = errors.New("the product isn't that of op.MatMul")
	}
	return err
}

// multiply computes a·b on the cores that have shards of c, of the same config as a and b.
// A core computes its own part of c, in steps of 256 rows of b, which is how op.MatMul
// counts too: the product has the same bits.
func multiply(dev *device.Sim, c, a, b device.Tensor) error {
	const step = 256
	n := a.Dim(1)
	return dev.ForEachCore(func(core *device.Core) error {
		mine, err := core.Shards(c)
		if err != nil {
			return err
		}
		row, column := mine[0].Origin[0], mine[0].Origin[1]
		sum, _ := tensor.As[float32](mine[0].Tensor)
		rows, columns := sum.Dim(0), sum.Dim(1)
		for k := 0; k < n; k += step {
			x, err := fetch(core, a, row, rows, k, step)
			if err != nil {
				return err
			}
			y, err := fetch(core, b, k, step, column, columns)
			if err != nil {
				return err
			}
			if part := op.MatMul(x, y); k == 0 {
				sum.CopyFrom(part)
			} else {
				op.Add(sum, part, op.Into(sum))
			}
		}
		return nil
	}, c, a, b)
}

// fetch copies a part of a matrix to a core, page by page. A page is a piece of a row.
func fetch(core *device.Core, t device.Tensor, row, rows, column, columns int) (tensor.Tensor[float32], error) {
	p := t.Placement()
	_, width := p.PageShape()
	across := p.PageGrid()[1]
	buf, err := mem.Alloc(rows * columns * 4)
	if err != nil {
		return tensor.Tensor[float32]{}, err
	}
	out, err := tensor.FromBytes(t.DType(), buf, 0, tensor.New[float32](rows, columns).Layout())
	if err != nil {
		return tensor.Tensor[float32]{}, err
	}
	page := make([]byte, p.PageBytes())
	for i := range rows {
		for at := column / width * width; at < column+columns; at += width {
			if err := core.Read(t, (row+i)*across+at/width, page); err != nil {
				return tensor.Tensor[float32]{}, err
			}
			from, to := max(at, column), min(at+width, column+columns)
			copy(buf.Bytes()[(i*columns+from-column)*4:], page[(from-at)*4:(to-at)*4])
		}
	}
	sum, _ := tensor.As[float32](out)
	return sum, nil
}
