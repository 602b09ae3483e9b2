package op

import (
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// BenchmarkDirect compares a convolution of planes, the direct form between planes, and the direct form channels last.
func BenchmarkDirect(b *testing.B) {
	for _, c := range []struct{ c, m, side, kernel, stride, group int }{
		{64, 256, 56, 1, 1, 1}, {256, 64, 56, 1, 1, 1}, {1024, 256, 14, 1, 1, 1}, {2048, 512, 7, 1, 1, 1}, {256, 512, 56, 1, 2, 1}, {48, 48, 52, 1, 1, 1}, {24, 24, 128, 1, 1, 1},
		{64, 64, 56, 3, 1, 1}, {128, 128, 28, 3, 1, 1}, {256, 256, 14, 3, 1, 1}, {512, 512, 7, 3, 1, 1}, {128, 32, 28, 3, 1, 1}, {128, 128, 56, 3, 2, 1}, {3, 64, 224, 7, 2, 1}, {3, 32, 224, 3, 2, 1},
		{512, 512, 14, 3, 1, 1}, {512, 512, 28, 3, 1, 1}, {256, 256, 56, 3, 1, 1}, {256, 256, 28, 3, 1, 1},
		{8, 16, 14, 5, 1, 1}, {8, 8, 8, 3, 1, 1}, {240, 240, 28, 1, 1, 3}, {144, 144, 56, 3, 1, 144}, {544, 544, 14, 3, 1, 544}, {544, 544, 7, 3, 1, 544}, {272, 272, 14, 3, 1, 272}, {136, 136, 28, 3, 1, 136}, {64, 64, 52, 3, 1, 64}, {24, 24, 128, 3, 1, 24},
		{96, 96, 52, 3, 2, 96}, {96, 96, 26, 3, 2, 96}, {128, 128, 56, 3, 2, 128}, {240, 240, 12, 5, 1, 240}, {240, 240, 31, 5, 1, 240}, {64, 4, 56, 3, 1, 1}, {1, 16, 28, 3, 1, 1}, {1, 8, 28, 5, 1, 1}, {64, 8, 56, 3, 1, 1}, {64, 6, 56, 3, 1, 1}, {64, 12, 56, 3, 1, 1},
	} {
		w := tensor.RandomNormal[float32](1, 0, 1, c.m, c.c/c.group, c.kernel, c.kernel)
		bias := tensor.RandomNormal[float32](2, 0, 1, c.m)
		pad := int64(c.kernel / 2)
		attrs := AttrMap{"strides": []int64{int64(c.stride), int64(c.stride)}, "pads": []int64{pad, pad, pad, pad}, "group": int64(c.group)}
		o, _ := Lookup("Conv")
		o, _ = withRelu(o)
		out := (c.side+2*int(pad)-c.kernel)/c.stride + 1
		flops := 2 * float64(out*out*c.m) * float64(c.c/c.group*c.kernel*c.kernel)
		name := fmt.Sprintf("%dto%d@%d/%dx%d/s%dg%d", c.c, c.m, c.side, c.kernel, c.kernel, c.stride, c.group)
		for _, way := range []string{"planes", "turned", "last"} {
			b.Run(name+"/"+way, func(b *testing.B) {
				x := tensor.RandomNormal[float32](3, 0, 1, 1, c.c, c.side, c.side).Any()
				to := tensor.New[float32](1, c.m, out, out).Any()
				if way == "last" {
					x = tensor.RandomNormal[float32](3, 0, 1, 1, c.side, c.side, c.c).Any().Permute(0, 3, 1, 2)
					to = tensor.New[float32](1, out, out, c.m).Any().Permute(0, 3, 1, 2)
				}
				call := &Call{Inputs: []tensor.Any{x, w.Any(), bias.Any()}, Opset: 22, Attrs: attrs, Fixed: []bool{false, true, true}}
				form := o
				if way != "planes" {
					form, _ = withWeights(o, call)
				}
				p, err := form.Plan(call)
				if err != nil {
					b.Fatal(err)
				}
				p.Into(to)
				for b.Loop() {
					p.Do()
				}
				b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
