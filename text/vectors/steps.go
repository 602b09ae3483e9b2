package vectors

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// pool makes one vector of rows of width numbers, one for each token, the first skip of which don't count. Weights of a
// weightedmean count from the first token of all. Sums are in float64, in the order of the tokens.
func (p *pooling) pool(rows []float32, width, skip int) []float32 {
	n := len(rows) / width
	v := make([]float32, 0, len(p.modes)*width)
	for _, mode := range p.modes {
		switch mode {
		case "cls":
			first := min(skip, n-1)
			v = append(v, rows[first*width:(first+1)*width]...)
		case "lasttoken":
			v = append(v, rows[(n-1)*width:]...)
		case "max":
			most := slices.Repeat([]float32{float32(math.Inf(-1))}, width)
			for at := skip; at < n; at++ {
				for c, x := range rows[at*width : (at+1)*width] {
					if x > most[c] || x != x {
						most[c] = x
					}
				}
			}
			v = append(v, most...)
		default:
			sums, weights := make([]float64, width), 0.0
			for at := skip; at < n; at++ {
				w := 1.0
				if mode == "weightedmean" {
					w = float64(at + 1)
				}
				weights += w
				for c, x := range rows[at*width : (at+1)*width] {
					sums[c] += float64(w * float64(x)) // the conversion keeps the compiler from fusing
				}
			}
			if weights = max(weights, 1e-9); mode == "mean_sqrt_len_tokens" {
				weights = math.Sqrt(weights)
			}
			for _, s := range sums {
				v = append(v, float32(s/weights))
			}
		}
	}
	return v
}

// A step makes another vector of a vector.
type step func([]float32) ([]float32, error)

// normalize divides by the length of the vector, by 1e-12 at least.
func normalize(v []float32) ([]float32, error) {
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	length := max(math.Sqrt(sum), 1e-12)
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / length)
	}
	return unit, nil
}

// readDense reads a Dense module: a product with a matrix, a bias, and Tanh or nothing.
func readDense(fsys fs.FS, folder string) (step, error) {
	name := path.Join(folder, "config.json")
	var c struct {
		In       int    `json:"in_features"`
		Out      int    `json:"out_features"`
		Bias     bool   `json:"bias"`
		Function string `json:"activation_function"`
	}
	ok, err := read(fsys, name, &c)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: it isn't there, though modules.json names its module", name)
	}
	words := strings.Split(c.Function, ".")
	function := words[len(words)-1]
	if function != "Tanh" && function != "Identity" {
		return nil, fmt.Errorf("%s: activation_function is %.100q; Tanh and Identity are known", name, c.Function)
	}
	name = path.Join(folder, "model.safetensors")
	b, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: it isn't there; ashlar convert makes it of pytorch_model.bin", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, bare(err))
	}
	file, err := safetensors.New(mem.Borrow(b, nil))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	weight := func(part string, shape ...int) ([]float32, error) {
		a, err := file.Tensor(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !slices.Equal(a.Shape(), shape) {
			return nil, fmt.Errorf("%s: %s has the shape %v, the settings beside it say %v", name, part, a.Shape(), shape)
		}
		list, err := floats(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, part, err)
		}
		return list, nil
	}
	w, err := weight("linear.weight", c.Out, c.In)
	if err != nil {
		return nil, err
	}
	matrix, bias := tensor.FromSlice(w, c.Out, c.In), tensor.New[float32](c.Out)
	if c.Bias {
		if w, err = weight("linear.bias", c.Out); err != nil {
			return nil, err
		}
		bias = tensor.FromSlice(w, c.Out)
	}
	return func(v []float32) ([]float32, error) {
		if len(v) != c.In {
			return nil, fmt.Errorf("%w: the module %s takes %d numbers, the one before it gives %d", tensor.ErrShape, folder, c.In, len(v))
		}
		y := op.Gemm(tensor.FromSlice(v, 1, c.In), matrix, bias, 1, 1, op.GemmOptions{TransB: true})
		if function == "Tanh" {
			y = op.Tanh(y)
		}
		return y.Elems(), nil
	}, nil
}
