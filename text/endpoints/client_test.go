package endpoints_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/text/endpoints"
	"github.com/ashlar-go/ashlar/text/vectors"
)

var modules = flag.String("modules", "", "a folder where npm installed openai")

// TestClient asks the server by OpenAI's own package for Node. Floats have the bits of Embed.
func TestClient(t *testing.T) {
	if _, err := os.Stat(filepath.Join(*modules, "node_modules", "openai")); *modules == "" || err != nil {
		t.Skip("there is no package openai: npm install openai@6.49.0, and go test ./text/endpoints -args -modules FOLDER")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node: ", err)
	}
	m := open(t, encoders.Kind{Family: "bert", Config: map[string]any{"is_matryoshka": true}})
	url := start(t, serve.Options{}, nil, endpoints.Model{Name: "tiny", Vectors: m})
	cmd := exec.Command("node", "testdata/client.mjs", url, *modules)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := func(list ...string) [][]float32 {
		v, err := m.Embed(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	ids := func(list ...[]int64) [][]float32 {
		v, err := m.EmbedIDs(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	short, err := m.Embed(t.Context(), []string{"a green house"}, vectors.Options{Dimensions: 8})
	if err != nil {
		t.Fatal(err)
	}
	wants := []struct {
		rows   [][]float32
		tokens int
		status int
		text   string
	}{
		{texts("the red house"), 5, 0, ""},
		{texts("the red house", "", "東京 \U0001f600 \"quotes\""), -1, 0, ""},
		{ids([]int64{2, 10, 11, 3}), 4, 0, ""},
		{ids([]int64{2, 10, 3}, []int64{2, 3}), 5, 0, ""},
		{short, 5, 0, ""},
		{nil, 0, 404, `there is no model "other" here`},
		{nil, 0, 400, "text 0 has 102 tokens, the model takes 64"},
		{nil, 0, 400, "the input is an empty list"},
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for i, want := range wants {
		if !lines.Scan() {
			t.Fatalf("%d answers, want %d", i, len(wants))
		}
		var got struct {
			Model         string
			Usage         struct{ Prompt_tokens, Total_tokens int }
			Data          []json.RawMessage
			Kind, Message string
			Type          string
			Status        int
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if want.status != 0 {
			if got.Status != want.status || !strings.Contains(got.Message, want.text) || got.Type != "invalid_request_error" {
				t.Errorf("call %d: %s", i, lines.Bytes())
			}
			continue
		}
		if len(got.Data) != len(want.rows) || got.Model != "tiny" || want.tokens >= 0 && got.Usage.Prompt_tokens != want.tokens || got.Usage.Total_tokens != got.Usage.Prompt_tokens {
			t.Fatalf("call %d: %.300s", i, lines.Bytes())
		}
		for r, data := range got.Data {
			var v []float32
			var packed string
			if json.Unmarshal(data, &packed) == nil { // where the call asks for base64, the client hands it on
				raw, err := base64.StdEncoding.DecodeString(packed)
				if err != nil {
					t.Fatal(err)
				}
				for ; len(raw) >= 4; raw = raw[4:] {
					v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
				}
			} else if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(v, want.rows[r]) {
				t.Errorf("call %d: vector %d differs", i, r)
			}
		}
	}
}
