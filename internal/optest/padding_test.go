package optest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// poisons are what stands in the padding.
var poisons = map[dtype.DType][]tensor.Any{
	dtype.Float32:  {tensor.Scalar(float32(math.NaN())).Any(), tensor.Scalar(float32(-42)).Any()},
	dtype.BFloat16: {tensor.Scalar(num.FromFloat64[num.BF16](math.NaN())).Any(), tensor.Scalar(num.FromFloat64[num.BF16](-42)).Any()},
	dtype.Int32:    {tensor.Scalar(int32(-42)).Any()},
	dtype.Uint8:    {tensor.Scalar(uint8(214)).Any()},
	dtype.Bool:     {tensor.Scalar(true).Any()},
}

// inPadding returns a as the beginning of a tensor padded to multiples of 32, in tiles if
// that is asked for and its layout can be sliced there.
func inPadding(a, poison tensor.Any, tiles bool) (tensor.Any, error) {
	o := pack.Options{Align: []int{32, 32}}
	if tiles {
		o = pack.Options{Tile: pack.TileOf(32, 32)}
	}
	o.Padding = poison
	p, err := pack.Pack(a, &o)
	if err != nil {
		return tensor.Any{}, err
	}
	v, err := p.View()
	if err != nil {
		return tensor.Any{}, err
	}
	var idx []tensor.Index
	for i := range v.Rank() {
		if k := i - (v.Rank() - a.Rank()); k < 0 {
			idx = append(idx, tensor.I(0))
		} else {
			idx = append(idx, tensor.R(0, a.Dim(k)))
		}
	}
	out, err := tensor.Slice(v, idx...)
	if err != nil && tiles {
		return inPadding(a, poison, false) // 28 of 32 columns are no whole faces
	}
	return out, err
}

// No operator reads padding: whatever stands there, the bits of the result are those
// of operands without. Where an operator takes operands of one shape and rank 2, they
// are of 14 by 28 too.
func TestPadding(t *testing.T) {
	for _, o := range all.Operators() {
		t.Run(o.Name(), func(t *testing.T) {
			t.Parallel()
			padded, page := 0, 0
			for i, c := range casesOf(o) {
				for d := range poisons {
					if !o.Supports(d) || c.only != nil && !c.only(d) {
						continue
					}
					n, err := newRun(o, i, c, d).checkPadding(t)
					if err != nil {
						t.Fatalf("case %d of %v: %v", i, d, err)
					}
					padded += n
					if own, ok := onPage[key(o)]; ok && i == 0 {
						n, err := newRun(o, 1000, own, d).checkPadding(t)
						if err != nil {
							t.Fatalf("%v on 14 by 28: %v", d, err)
						}
						page += n
					} else if alike(c) {
						c := c
						c.in = slices.Clone(c.in)
						for k := range c.in {
							if c.in[k].values == nil && !c.in[k].absent {
								c.in[k].shape = []int{14, 28}
							}
						}
						// The shape may not suit lists of axes or extents beside it.
						if n, err := newRun(o, i, c, d).checkPadding(t); err == nil {
							page += n
						}
					}
				}
			}
			if _, none := reasons[o.Name()]; !none && (padded == 0 || page == 0) {
				t.Errorf("it ran %d times on operands with padding, %d times on 14 by 28", padded, page)
			}
		})
	}
}

// onPage are calls on matrices of 14 by 28 of the operators whose operands differ in
// shape, or have other extents before the matrix.
var onPage = map[string]testCase{
	"Adagrad":                          {in: []input{f32(), index(nil, 1), data(14, 28), data(14, 28), data(14, 28)}},
	"Adam":                             {in: []input{f32(), index(nil, 1), data(14, 28), data(14, 28), data(14, 28), data(14, 28)}},
	"Momentum":                         {in: []input{f32(), index(nil, 1), data(14, 28), data(14, 28), data(14, 28)}},
	"AffineGrid":                       {in: []input{data(28, 2, 3), ints(28, 1, 2, 2)}},
	"DFT":                              {in: []input{data(14, 28, 1)}, opset: 20},
	"STFT":                             {in: []input{data(14, 28), index(nil, 5), data(6)}},
	"AveragePool":                      {in: []input{data(1, 2, 14, 28)}, attrs: attrs{"kernel_shape": []int64{3, 3}, "pads": []int64{1, 1, 1, 1}}},
	"BatchNormalization":               {in: []input{data(14, 28), data(28), data(28), data(28), data(28)}, calm: true},
	"CastLike":                         {in: []input{data(14, 28), {dtype: dtype.Int32}}},
	"Clip":                             {in: []input{data(14, 28), data(), data()}},
	"Col2Im":                           {in: []input{data(1, 14, 28), ints(5, 7), ints(2, 1)}},
	"Compress":                         {in: []input{data(14, 28), {shape: []int{28}, dtype: dtype.Bool}}, attrs: attrs{"axis": int64(1)}},
	"Concat":                           {in: []input{data(14, 28), data(14, 5)}, attrs: attrs{"axis": int64(1)}},
	"Conv":                             {in: []input{data(1, 2, 14, 28), data(3, 2, 3, 3)}, attrs: attrs{"pads": []int64{1, 1, 1, 1}}},
	"ArrayFeatureExtractor":            {in: []input{data(14, 28), ints(5, 27, 5)}},
	"DequantizeLinear":                 {in: []input{data(14, 28), f32(28), data(28)}},
	"Det":                              {in: []input{data(28, 28)}, calm: true},
	"GroupNormalization":               {in: []input{data(14, 28), data(28), data(28)}, attrs: attrs{"num_groups": int64(4)}},
	"InstanceNormalization":            {in: []input{data(1, 2, 14, 28), data(2), data(2)}},
	"BiasGelu":                         {in: []input{data(14, 28), data(28)}},
	"FusedMatMul":                      {in: []input{data(14, 28), data(28, 14)}},
	"SkipLayerNormalization":           {in: []input{data(14, 28), data(14, 28), data(28), data(28), data(28)}},
	"SkipSimplifiedLayerNormalization": {in: []input{data(14, 28), data(14, 28), data(28), data(28)}},
	"LSTM":                             {in: []input{data(1, 14, 28), data(1, 8, 28), data(1, 8, 2)}},
	"LayerNormalization":               {in: []input{data(14, 28), data(28), data(28)}},
	"LpPool":                           {in: []input{data(1, 2, 14, 28)}, attrs: attrs{"kernel_shape": []int64{3, 3}, "pads": []int64{1, 1, 1, 1}}},
	"MaxUnpool":                        {in: []input{data(1, 1, 1, 28), index([]int{1, 1, 1, 28}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)}, attrs: attrs{"kernel_shape": []int64{1, 1}}},
	"MeanVarianceNormalization":        {in: []input{data(14, 28)}, attrs: attrs{"axes": []int64{1}}},
	"NegativeLogLikelihoodLoss":        {in: []input{data(2, 28), ints(27, 3)}},
	"SoftmaxCrossEntropyLoss":          {in: []input{data(2, 28), ints(27, 3)}},
	"NonMaxSuppression":                {in: []input{data(1, 14, 4), data(1, 2, 14), index(nil, 3)}},
	"DynamicQuantizeMatMul":            {in: []input{data(14, 28), {shape: []int{28, 14}, dtype: dtype.Int8}, f32()}},
	"MatMulIntegerToFloat":             {in: []input{data(14, 28), data(28, 14), f32(), f32(14)}},
	"MatMulNBits":                      {in: []input{data(14, 28), {shape: []int{3, 2, 8}, dtype: dtype.Uint8}, data(3, 2)}, attrs: attrs{"K": int64(28), "N": int64(3), "block_size": int64(16)}},
	"QGemm":                            {in: []input{data(14, 28), f32(), data(), data(28, 14), f32(), data()}},
	"QLinearAveragePool":               {in: []input{data(1, 2, 14, 28), f32(), data(), f32(), data()}, attrs: attrs{"kernel_shape": []int64{3, 3}}},
	"QLinearGlobalAveragePool":         {in: []input{data(1, 2, 14, 28), f32(), data(), f32(), data()}},
	"QLinearReduceMean":                {in: []input{data(14, 28), f32(), data(), f32(), data()}, attrs: attrs{"axes": []int64{1}}},
	"QLinearSigmoid":                   {in: []input{data(14, 28), f32(), data(), f32(), data()}},
	"QLinearSoftmax":                   {in: []input{data(14, 28), f32(), data(), f32(), data()}},
	"QLinearWhere":                     {in: []input{bools(14, 28), data(14, 28), f32(), data(), data(28), f32(), data(), f32(), data()}},
	"QLinearAdd":                       {in: []input{data(14, 28), f32(), data(), data(28), f32(), data(), f32(), data()}},
	"QLinearConcat":                    {in: []input{f32(), data(), data(14, 28), f32(), data()}},
	"QLinearConv":                      {in: []input{data(1, 2, 14, 28), f32(), data(), data(3, 2, 3, 3), f32(), data(), f32(), data()}},
	"QLinearLeakyRelu":                 {in: []input{data(14, 28), f32(), data(), f32(), data()}},
	"QLinearMatMul":                    {in: []input{data(14, 28), f32(), data(), data(28, 14), f32(), data(), f32(), data()}},
	"QLinearMul":                       {in: []input{data(14, 28), f32(), data(), data(28), f32(), data(), f32(), data()}},
	"QuantizeLinear":                   {in: []input{data(14, 28), f32(28)}},
	"RNN":                              {in: []input{data(1, 14, 28), data(1, 2, 28), data(1, 2, 2)}},
	"RMSNormalization":                 {in: []input{data(14, 28), data(28)}},
	"GlobalLpPool":                     {in: []input{data(1, 2, 14, 28)}},
	"RoiAlign":                         {in: []input{data(1, 2, 14, 28), data(3, 4), ints(0, 0, 0)}, attrs: attrs{"sampling_ratio": int64(2)}},
	"ConvInteger":                      {in: []input{data(1, 2, 14, 28), data(3, 2, 3, 3)}},
	"ConvTranspose":                    {in: []input{data(1, 2, 14, 28), data(2, 3, 3, 3)}, attrs: attrs{"pads": []int64{1, 1, 1, 1}}},
	"DeformConv":                       {in: []input{data(1, 2, 14, 28), data(3, 2, 1, 1), data(1, 2, 14, 28)}},
	"DepthToSpace":                     {in: []input{data(1, 4, 14, 28)}, attrs: attrs{"blocksize": int64(2)}},
	"Einsum":                           {in: []input{data(14, 28), data(28, 14)}, attrs: attrs{"equation": "ij,jk->ik"}},
	"Expand":                           {in: []input{data(14, 28), ints(2, 14, 28)}},
	"Gemm":                             {in: []input{data(14, 28), data(28, 14), data(14)}},
	"GRU":                              {in: []input{data(1, 14, 28), data(1, 6, 28), data(1, 6, 2)}},
	"GlobalAveragePool":                {in: []input{data(1, 2, 14, 28)}},
	"GlobalMaxPool":                    {in: []input{data(1, 2, 14, 28)}},
	"GridSample":                       {in: []input{data(1, 2, 14, 28), {shape: []int{1, 3, 2, 2}, dtype: dtype.Float32}}},
	"Inner":                            {in: []input{data(14, 28), data(14, 28)}},
	"LRN":                              {in: []input{data(1, 3, 14, 28)}, attrs: attrs{"size": int64(3)}},
	"MatMul":                           {in: []input{data(14, 28), data(28, 14)}},
	"MatMulInteger":                    {in: []input{data(14, 28), data(28, 14)}},
	"MaxPool":                          {in: []input{data(1, 2, 14, 28)}, attrs: attrs{"kernel_shape": []int64{3, 3}, "pads": []int64{1, 1, 1, 1}}},
	"Pad":                              {in: []input{data(14, 28), ints(1, 2, 0, -1), data()}},
	"PRelu":                            {in: []input{data(14, 28), data(28)}},
	"Reshape":                          {in: []input{data(14, 28), ints(28, 14)}},
	"ReverseSequence":                  {in: []input{data(14, 28), ints(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 28)}, attrs: attrs{"batch_axis": int64(0), "time_axis": int64(1)}},
	"Scatter":                          {in: []input{data(14, 28), index([]int{2, 3}, 0, 13, -1, 1, 3, -4), data(2, 3)}},
	"ScatterElements":                  {in: []input{data(14, 28), index([]int{2, 3}, 0, 13, -1, 1, 3, -4), data(2, 3)}},
	"ScatterND":                        {in: []input{data(14, 28), index([]int{3, 1}, 0, -1, 0), data(3, 28)}},
	"SpaceToDepth":                     {in: []input{data(1, 2, 14, 28)}, attrs: attrs{"blocksize": int64(2)}},
	"Squeeze":                          {in: []input{data(14, 28, 1), ints(-1)}},
	"FeatureVectorizer":                {in: []input{data(14, 28), data(14, 3)}},
	"SVMClassifier":                    vectors("SVMClassifier", 28, "RBF", "NONE"),
	"SVMRegressor":                     vectors("SVMRegressor", 28, "POLY", "NONE"),
	"Attention":                        {in: []input{data(1, 1, 14, 28), data(1, 1, 14, 28), data(1, 1, 14, 28)}, calm: true},
	"com.microsoft.Attention":          {in: []input{data(1, 14, 28), data(28, 84)}, attrs: attrs{"num_heads": int64(2)}, calm: true},
	"MultiHeadAttention":               {in: []input{data(1, 14, 28), data(1, 14, 28), data(1, 14, 28)}, attrs: attrs{"num_heads": int64(2)}, calm: true},
	"GroupQueryAttention":              {in: []input{data(1, 14, 28), data(1, 14, 28), data(1, 14, 28), {absent: true}, {absent: true}, ints(13), ints(14)}, attrs: attrs{"num_heads": int64(2), "kv_num_heads": int64(2)}, calm: true},
	"RotaryEmbedding":                  {in: []input{data(1, 1, 14, 28), data(1, 14, 14), data(1, 14, 14)}},
	"com.microsoft.RotaryEmbedding":    {in: []input{data(1, 1, 14, 28), ints(0), data(14, 14), data(14, 14)}},
	"TensorScatter":                    {in: []input{data(1, 14, 28), data(1, 14, 28), ints(0)}},
	"LinearAttention":                  {in: []input{data(1, 14, 28), data(1, 14, 28), data(1, 14, 28)}, attrs: attrs{"q_num_heads": int64(2), "kv_num_heads": int64(2), "update_rule": "linear"}, calm: true},
	"CausalConvWithState":              {in: []input{data(1, 14, 28), data(14, 1, 4)}},
	"EmbedLayerNormalization":          {in: []input{index([]int{1, 14}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), {absent: true}, data(14, 28), data(14, 28), {absent: true}, data(28), data(28)}},
	"SimplifiedLayerNormalization":     {in: []input{data(14, 28), data(28)}},
	"LinearClassifier":                 model("LinearClassifier", 28, "NONE"),
	"LinearRegressor":                  model("LinearRegressor", 28, "NONE"),
	"TensorDot":                        {in: []input{data(14, 28), data(28, 14)}, attrs: attrs{"axes_a": []int64{1}, "axes_b": []int64{0}}},
}

// alike says that a case has operands of one shape and rank 2, besides lists of numbers.
func alike(c testCase) bool {
	var shape []int
	for _, in := range c.in {
		switch {
		case in.values != nil || in.absent:
		case shape == nil:
			shape = in.shape
		case !slices.Equal(shape, in.shape):
			return false
		}
	}
	return len(shape) == 2
}

// checkPadding fails the test where padding shows. It returns how often an operand had
// some, and the error of a call without.
func (r *run) checkPadding(t *testing.T) (padded int, err error) {
	want, wantBits, err := r.result(r.in)
	if err != nil {
		return 0, err
	}
	for n := range 4 {
		if !turn(r.turn+n+n/2, 2) { // both poisons have a turn, with and without tiles
			continue
		}
		in := slices.Clone(r.in)
		for _, i := range r.moved {
			list := poisons[in[i].DType()]
			if list == nil {
				continue
			}
			if in[i], err = inPadding(in[i], list[n%len(list)], n >= 2); err != nil {
				t.Fatal(err)
			}
			padded++
		}
		got, bits, err := r.result(in)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		same(t, fmt.Sprintf("%s, poison %d", r.name, n), got, want, bits, wantBits)
	}
	return padded, nil
}
