package op

import (
	"fmt"
	"maps"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// tfIdfAttrs are attributes with two n-grams of each of two lengths.
var tfIdfAttrs = AttrMap{"pool_int64s": []int64{9, 1, 2, 1, 1, 2}, "ngram_counts": []int64{0, 2}, "ngram_indexes": []int64{0, 1, 3, 2}, "min_gram_length": int64(1), "max_gram_length": int64(2),
	"mode": "TFIDF", "weights": []float32{7, 5, 0.5, 1}}

func TestTfIdfVectorizer(t *testing.T) {
	for _, c := range []struct {
		more AttrMap
		x    tensor.Any
		want string
	}{
		{nil, tensor.FromSlice([]int32{1, 2, 1, 2, 1, 9}).Any(), "[ 7. 15.  2.  1.]"},
		{AttrMap{"mode": "IDF"}, tensor.FromSlice([]int32{1, 2, 1, 2, 1, 9}).Any(), "[7.  5.  1.  0.5]"},
		{AttrMap{"mode": "TF", "max_skip_count": int64(9)}, tensor.FromSlice([]int64{1, 9, 9, 9, 1}, 1, 5).Any(), "[[3. 2. 0. 0.]]"},
	} {
		attrs := maps.Clone(tfIdfAttrs)
		maps.Copy(attrs, c.more)
		if got := fmt.Sprint(runs(t, "TfIdfVectorizer", &Call{Inputs: []tensor.Any{c.x}, Attrs: attrs, Opset: 9})[0]); got != c.want {
			t.Errorf("%v: %s, want %s", c.more, got, c.want)
		}
	}
}
