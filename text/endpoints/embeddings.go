package endpoints

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// An embeddingRequest is a body for /v1/embeddings.
type embeddingRequest struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Format     string          `json:"encoding_format"`
	Dimensions *int            `json:"dimensions"`
	Truncate   bool            `json:"truncate"`
	Prompt     string          `json:"prompt_name"`
}

// inputs are texts, or ids in their place.
func (r *embeddingRequest) inputs(body []byte) (texts []string, ids [][]int64, err error) {
	in := bytes.TrimSpace(r.Input)
	if len(in) == 0 || string(in) == "null" {
		return nil, nil, wrong("the request has no input")
	}
	second := byte(0)
	if in[0] == '[' {
		second = bytes.TrimSpace(in[1:])[0]
	}
	ok := false
	switch {
	case in[0] == '"':
		texts = make([]string, 1)
		ok = decoded(in, &texts[0])
	case second == ']':
		return nil, nil, wrong("the input is an empty list")
	case second == '"':
		ok = decoded(in, &texts)
	case second == '[':
		ok = decoded(in, &ids)
	case in[0] == '[':
		ids = make([][]int64, 1)
		ok = decoded(in, &ids[0])
	}
	if !ok {
		return nil, nil, wrong("the input is neither a text, nor a list of texts, nor a list of ids, nor a list of lists of ids")
	}
	return texts, ids, whole(body, texts...)
}

// embeddings answers a request for vectors.
func (e *endpoints) embeddings(ctx context.Context, body []byte, run serve.Run, take func(int64) error) ([]byte, error) {
	var r embeddingRequest
	if err := parse(body, &r, take); err != nil {
		return nil, err
	}
	m, err := named(e.embeds, r.Model)
	if err != nil {
		return nil, err
	}
	if r.Format != "" && r.Format != "float" && r.Format != "base64" {
		return nil, wrong("encoding_format is %.40q; want float or base64", r.Format)
	}
	texts, ids, err := r.inputs(body)
	if err != nil {
		return nil, err
	}
	if n := len(texts) + len(ids); n > e.limits.Texts {
		return nil, wrong("the input has %d texts, the limit is %d", n, e.limits.Texts)
	}
	total := 0
	o := vectors.Options{Cut: r.Truncate, Prompt: r.Prompt, Counted: e.counted(&total, take),
		Run: func(ctx context.Context, in map[string]tensor.Any) (map[string]tensor.Any, error) {
			return run(ctx, m.Name, in)
		}}
	if r.Dimensions != nil {
		if o.Dimensions = *r.Dimensions; o.Dimensions < 1 {
			return nil, wrong("dimensions is %d; want 1 at least", o.Dimensions)
		}
	}
	var rows [][]float32
	if ids != nil {
		if r.Prompt != "" {
			return nil, wrong("prompt_name is for texts, and the input is ids")
		}
		rows, err = m.Vectors.EmbedIDs(ctx, ids, o)
	} else {
		rows, err = m.Vectors.Embed(ctx, texts, o)
	}
	if err != nil {
		return nil, bare(err)
	}
	return answer(m.Name, r.Format == "base64", rows, total, take)
}

// answer writes vectors in OpenAI's form.
func answer(name string, packed bool, rows [][]float32, total int, take func(int64) error) ([]byte, error) {
	size := 128 + 6*len(name)
	for _, v := range rows {
		size += 80 + 16*len(v) // a float32 takes 15 letters at most, and a comma
	}
	if err := take(int64(size)); err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, size), `{"object":"list","data":[`...)
	for i, v := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, `{"object":"embedding","index":`...), int64(i), 10), `,"embedding":`...)
		if packed {
			var raw []byte
			for _, x := range v {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			}
			b = append(base64.StdEncoding.AppendEncode(append(b, '"'), raw), `"}`...)
			continue
		}
		b = append(b, '[')
		for c, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return nil, fmt.Errorf("number %d of vector %d is %v, which JSON can't hold: ask for base64", c, i, x)
			}
			if c > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
		}
		b = append(b, "]}"...)
	}
	model, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	b = append(append(b, `],"model":`...), model...)
	b = append(strconv.AppendInt(append(b, `,"usage":{"prompt_tokens":`...), int64(total), 10), `,"total_tokens":`...)
	return append(strconv.AppendInt(b, int64(total), 10), "}}"...), nil
}
