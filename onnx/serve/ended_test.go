package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A run whose context ends after any number of looks gives an error or all elements: alone, prepared, and shared; and so does a request.
func TestEnded(t *testing.T) {
	const wide = 1500
	r := rand.New(rand.NewPCG(43, 4))
	real := func(shape ...int) tensor.Any {
		a := tensor.New[float32](shape...)
		for i := range a.Elems() {
			a.Elems()[i] = float32(r.IntN(64)) / 8
		}
		return a.Any()
	}
	w, x := real(wide, 4), real(1, wide)
	make := func() Model {
		return build(t, "long", func(b *onnx.Builder) {
			b.Output(b.Rename(b.Node("MatMul", []string{b.Input("x", dtype.Float32, "N", wide), b.Weight("w", w)}), "y"), dtype.Float32, "N", 4)
		})
	}
	alone, shared := server(t, Options{}, make()), server(t, Options{BatchDelay: time.Millisecond, MaxBatch: 2}, make())
	m, b := alone.models["long"], shared.models["long"].batches
	in := map[string]onnx.Value{"x": onnx.TensorValue(x)}
	elems, _ := tensor.As[float32](x)
	body := fmt.Sprintf(`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,%d],"data":%s}]}`, wide, strings.Join(strings.Fields(fmt.Sprint(elems.Elems())), ","))
	whole, err := m.run(context.Background(), in, 1)
	if err != nil {
		t.Fatal(err)
	}
	answer := infer(alone, "long", body).Body.String()
	list := func(list map[string]array, err error) ([]byte, error) { return list["y"].data, err }
	for name, run := range map[string]func(ctx context.Context) ([]byte, error){
		"alone":  func(ctx context.Context) ([]byte, error) { return list(m.run(ctx, in, 2)) },
		"stream": func(ctx context.Context) ([]byte, error) { return list(m.run(ctx, in, 1)) },
		"shared": func(ctx context.Context) ([]byte, error) {
			key, rows := b.key(in)
			go b.run(context.Background(), key, rows, in, false)
			return list(b.run(ctx, key, rows, in, false))
		},
		"request": func(ctx context.Context) ([]byte, error) {
			w := httptest.NewRecorder()
			alone.ServeHTTP(w, httptest.NewRequest("POST", "/v2/models/long/infer", strings.NewReader(body)).WithContext(ctx))
			switch {
			case w.Code == 200 && w.Body.String() == answer:
				return whole["y"].data, nil
			case w.Code == 200:
				return w.Body.Bytes(), nil
			}
			return nil, context.Canceled
		},
	} {
		for k := range 30 {
			if k == 29 {
				k = math.MaxInt
			}
			switch got, err := run(ended.After(k)); {
			case err == nil && !bytes.Equal(got, whole["y"].data):
				t.Errorf("%s, which ends after %d looks: other elements, and no error", name, k)
			case err != nil && (!errors.Is(err, context.Canceled) || k == math.MaxInt):
				t.Errorf("%s, which ends after %d looks: %v", name, k, err)
			}
		}
	}
	settle(t, shared)
}
