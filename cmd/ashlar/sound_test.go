package main

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/wav"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/sound"
)

// soundModel writes a model that returns its input.
func soundModel(t *testing.T, front string, dims ...any) string {
	b := onnx.NewBuilder("same")
	b.OutputOf(b.Rename(b.Node("Identity", []string{b.Input("x", dtype.Float32, dims...)}), "y"), onnx.Type{})
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	if front != "" {
		m.Metadata = append(m.Metadata, onnx.Entry{Key: "sound", Value: front})
	}
	return written(t, "model.onnx", func() ([]byte, error) { return onnx.Encode(m) })
}

func written(t *testing.T, name string, get func() ([]byte, error)) string {
	b, err := get()
	file := filepath.Join(t.TempDir(), name)
	if err == nil {
		err = os.WriteFile(file, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// recorded is a WAV file of a ramp.
func recorded(t *testing.T, rate, channels, n int) string {
	x := make([]float32, n*channels)
	for i := range x {
		x[i] = float32(i/channels) / (1 << 15)
	}
	return written(t, "x.wav", func() ([]byte, error) {
		var b bytes.Buffer
		err := wav.Write(&b, wav.Format{Rate: rate, Channels: channels, Bits: 16}, x)
		return b.Bytes(), err
	})
}

// A recording becomes the numbers that --sound, or the model's metadata, says; where it can't, the error has the way out.
func TestRunSound(t *testing.T) {
	x := make([]float32, 1000)
	for i := range x {
		x[i] = float32(i) / (1 << 15)
	}
	m, err := sound.Convention("kaldi")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.Of(x, 16000)
	if err != nil {
		t.Fatal(err)
	}
	mono, stereo := recorded(t, 16000, 1, 1000), recorded(t, 16000, 2, 1000)
	for _, c := range []struct {
		model, file string
		flags       []string
		want        string
	}{
		{soundModel(t, "", 1, "n"), mono, []string{"--sound", "16000"}, `"shape":[1,1000],`},
		{soundModel(t, "16000", "n"), mono, nil, `"shape":[1000],`},
		{soundModel(t, "kaldi", 1, "n", 80), mono, nil, fmt.Sprintf(`"shape":[1,4,80],"values":[%v,%v,`, rows.At(0, 0), rows.At(0, 1))},
		{soundModel(t, "", 1, "n"), stereo, []string{"--sound", "16000", "--resample"}, `"shape":[1,1000],`},
		{soundModel(t, "16000", 1, "n"), mono, []string{"--sound", "8000", "--resample"}, `"shape":[1,500],`},
		{soundModel(t, "", 1, "n"), mono, nil, "can't take a recording: say its front end with --sound: a rate"},
		{soundModel(t, "", 1, "n"), stereo, []string{"--sound", "8000"}, "it has 16000 Hz and 2 channels, the front end takes 8000 Hz and one: --resample brings it there"},
		{soundModel(t, "", 1, 900), mono, []string{"--sound", "16000"}, "--sound 16000 gives [1 1000], axis 1 of the input is 900"},
		{soundModel(t, "", "n"), mono, []string{"--sound", "kaldi"}, "it has rank 1, --sound kaldi gives [4 80]"},
		{soundModel(t, "", 1, "n"), mono, []string{"--sound", "mel"}, `"mel" is neither a rate nor a convention; these are whisper, `},
		{soundModel(t, "", 1, "n"), mono, []string{"--sound", "0"}, "a rate of 0"},
	} {
		got := newCall(nil).with(append([]string{"run", "--json", c.model, c.file}, c.flags...)...)
		if text := got.out.String() + got.err.String(); !strings.Contains(text, c.want) {
			t.Errorf("%v: %s\nwant %s", c.flags, text, c.want)
		}
	}
}

// The pictures of a recording are there, and only where a recording is.
func TestShowSound(t *testing.T) {
	mono, dir := recorded(t, 16000, 1, 4000), t.TempDir()
	wave, mel := filepath.Join(dir, "w.svg"), filepath.Join(dir, "m.png")
	got := newCall(nil).with("show", mono, "--wave", wave, "--mel", mel, "--sound", "kaldi")
	if got.code != 0 || got.out.String() != "" {
		t.Fatal(got.code, got.out.String(), got.err.String())
	}
	if b, err := os.ReadFile(wave); err != nil || !bytes.HasPrefix(b, []byte("<svg")) || !bytes.Contains(b, []byte("16-bit PCM, 16000 Hz, 1 channel")) {
		t.Errorf("%v %.100s", err, b)
	}
	f, err := os.Open(mel)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 800 {
		t.Error(err)
	}
	for want, args := range map[string][]string{
		"a picture ends in .svg or .png":                      {mono, "--wave", "x.gif"},
		"--wave and --mel draw a WAV file":                    {"../../testdata/seven.png", "--wave", wave},
		"--mel draws the rows of a convention":                {mono, "--mel", mel, "--sound", "16000"},
		"it has 16000 Hz and 1 channel, the front end":        {mono, "--mel", mel, "--sound", "librosa"},
		"--sound: \"x\" is neither a rate nor a convention":   {mono, "--mel", mel, "--sound", "x"},
		"float32[1,4000], 16-bit PCM, 16000 Hz, 1 channel, 0": {"", mono},
	} {
		command := append([]string{"show"}, args...)
		if args[0] == "" {
			command = []string{"info", mono}
		}
		got := newCall(nil).with(command...)
		if text := got.out.String() + got.err.String(); !strings.Contains(text, want) {
			t.Errorf("%v: %s\nwant %s", args, text, want)
		}
	}
}
