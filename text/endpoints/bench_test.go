package endpoints_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text"
	"github.com/ashlar-go/ashlar/text/endpoints"
)

// BenchmarkEmbeddings sends requests of one text by 16 clients, beside as many callers of Embed and of the session alone. The
// encoder has the sizes of all-MiniLM-L6-v2 but for its vocabulary.
func BenchmarkEmbeddings(b *testing.B) {
	m := open(b, encoders.Kind{Family: "bert", Hidden: 384, Layers: 6, Length: 256})
	session, err := onnx.NewSession(m.ONNX())
	if err != nil {
		b.Fatal(err)
	}
	const sentence = "the old bank of the river is by the red house, and a bird lives in the green tree %d"
	url := start(b, serve.Options{}, nil, endpoints.Model{Name: "tiny", Vectors: m}) + "/v1/embeddings"
	shared := start(b, serve.Options{BatchDelay: 2 * time.Millisecond}, nil, endpoints.Model{Name: "tiny", Vectors: m}) + "/v1/embeddings"
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	ask := func(url string) func(i int) error {
		return func(i int) error {
			r, err := client.Post(url, "application/json", bytes.NewReader(fmt.Appendf(nil, `{"model": "tiny", "input": %q}`, fmt.Sprintf(sentence, i%10))))
			if err != nil {
				return err
			}
			defer r.Body.Close()
			if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusOK {
				return fmt.Errorf("%s %v", r.Status, err)
			}
			return nil
		}
	}
	e, err := m.Tokenizer().Encode(fmt.Sprintf(sentence, 1), text.Options{})
	if err != nil {
		b.Fatal(err)
	}
	in := map[string]tensor.Any{}
	for name, row := range map[string][]int64{"input_ids": e.IDs, "attention_mask": e.Attention, "token_type_ids": e.Types} {
		in[name] = tensor.FromSlice(row, 1, len(row)).Any()
	}
	for _, c := range []struct {
		name string
		call func(i int) error
	}{
		{"session", func(int) error { _, err := session.Run(b.Context(), in, nil); return err }},
		{"embed", func(i int) error { _, err := m.Embed(b.Context(), []string{fmt.Sprintf(sentence, i%10)}); return err }},
		{"http", ask(url)},
		{"http shared", ask(shared)},
	} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", c.name, clients), func(b *testing.B) {
				var next atomic.Int64
				var all sync.WaitGroup
				start := time.Now()
				for range clients {
					all.Go(func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							if err := c.call(int(i)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "requests/s")
			})
		}
	}
}
