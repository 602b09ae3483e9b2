package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/wav"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/sound"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// soundKey is the key of a model's metadata that stands for --sound.
const soundKey = "sound"

func (p *program) soundFlags(c *cobra.Command) {
	c.Flags().StringVar(&p.front, "sound", "", "numbers of a WAV file: samples at a `rate`, as in 16000, or mel rows by a convention, as in whisper (default: the model's metadata \"sound\")")
	c.Flags().BoolVar(&p.remix, "resample", false, "bring sound of another rate to the rate of --sound, and take the mean of its channels")
}

// conventions lists the names of the conventions in lines.
func conventions() string {
	var b strings.Builder
	line := len("whisper")
	for i, c := range sound.Conventions() {
		if i > 0 {
			b.WriteByte(',')
			if line += len(c.Name) + 2; line > 78 {
				b.WriteByte('\n')
				line = len(c.Name)
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteString(c.Name)
	}
	return b.String()
}

// A frontEnd is what a recording becomes: samples at a rate, or rows of a convention.
type frontEnd struct {
	rate int
	mel  *sound.Mel // nil: samples
}

func parseFrontEnd(text string) (f frontEnd, err error) {
	if rate, err := strconv.Atoi(text); err == nil {
		if rate < 1 {
			return f, fmt.Errorf("a rate of %d; want samples a second, as in 16000", rate)
		}
		return frontEnd{rate: rate}, nil
	}
	if f.mel, err = sound.Convention(text); err != nil {
		return f, fmt.Errorf("%q is neither a rate nor a convention; these are %s", text, strings.ReplaceAll(conventions(), "\n", " "))
	}
	f.rate = f.mel.Rate
	return f, nil
}

// heard reads the samples of a WAV file at a rate, of one channel.
func (p *program) heard(s *source, rate int) ([]float32, error) {
	var all []float32
	_, err := formats.Read(&s.Source, func(r io.Reader) (none struct{}, err error) {
		w, err := wav.NewReader(r)
		if err != nil {
			return none, err
		}
		if !p.remix && (w.Rate != rate || w.Channels != 1) {
			return none, fmt.Errorf("it has %d Hz and %s, the front end takes %d Hz and one: --resample brings it there", w.Rate, counted(w.Channels, "channel"), rate)
		}
		return none, sound.Read(w, rate, nil, func(x []float32) error {
			all = append(all, x...)
			return p.room(int64(len(all)), 16)
		})
	})
	return all, s.in(err)
}

// recording reads a WAV file as an input of a model takes it.
func (in *inputs) recording(name string, s *source) (tensor.Any, error) {
	v := in.info(name)
	refuse := func(err error) (tensor.Any, error) {
		return tensor.Any{}, fmt.Errorf("%s: input %s of %s can't take a recording: %w", s.name, label(v.String()), in.model, err)
	}
	front := in.p.front
	if front == "" {
		if i := slices.IndexFunc(in.m.Metadata, func(e onnx.Entry) bool { return e.Key == soundKey }); i >= 0 {
			front = in.m.Metadata[i].Value
		}
	}
	if front == "" {
		return refuse(errors.New("say its front end with --sound: a rate for samples, as in 16000, or a convention for mel rows, as in whisper"))
	}
	f, err := parseFrontEnd(front)
	if err != nil {
		return refuse(err)
	}
	if d, _ := v.Type.Elem.DType(); v.Type.Kind != onnx.KindTensor || d != dtype.Float32 {
		return refuse(errors.New("its elements aren't float32: make them with ashlar convert or a program, and give an npy file"))
	}
	x, err := in.p.heard(s, f.rate)
	if err != nil {
		return tensor.Any{}, err
	}
	t := tensor.FromSlice(x, len(x))
	if f.mel != nil {
		if t, err = f.mel.Of(x, f.rate); err != nil {
			return refuse(err)
		}
	}
	shape := t.Shape()
	if v.Type.HasShape {
		if len(v.Type.Shape) < len(shape) {
			return refuse(fmt.Errorf("it has rank %d, --sound %s gives %v", len(v.Type.Shape), front, shape))
		}
		for len(shape) < len(v.Type.Shape) { // a batch of one
			shape = append([]int{1}, shape...)
		}
		for i, d := range v.Type.Shape {
			if d.Value >= 0 && d.Value != int64(shape[i]) {
				return refuse(fmt.Errorf("--sound %s gives %v, axis %d of the input is %d: cut the recording, or fill it up, or give another front end", front, shape, i, d.Value))
			}
		}
	}
	return t.Reshape(shape...).Any(), nil
}

// showSound draws a WAV file: its wave, and the rows of a convention.
func (p *program) showSound(s *source, wave, mel string) error {
	if !s.is("wav") {
		return fmt.Errorf("%s: --wave and --mel draw a WAV file, which it isn't", s.name)
	}
	front := p.front
	if front == "" {
		front = "icefall"
	}
	f, err := parseFrontEnd(front)
	if err != nil {
		return p.usagef("--sound: %v", err)
	}
	if mel != "" && f.mel == nil {
		return p.usagef("--mel draws the rows of a convention: --sound names one, as in whisper")
	}
	for _, file := range []string{wave, mel} {
		if file == "" {
			continue
		}
		if !strings.HasSuffix(file, ".svg") && !strings.HasSuffix(file, ".png") {
			return p.usagef("%s: a picture ends in .svg or .png", file)
		}
	}
	if wave != "" && mel != "" && s.Path == "" {
		return p.usagef("--wave and --mel read the file twice, and %s can be read once: save it to a file", s.name)
	}
	if wave != "" {
		pic := draw.Sound{Title: s.name}
		_, err := formats.Read(&s.Source, func(r io.Reader) (none struct{}, err error) {
			t, k, err := wav.Read(r)
			if err != nil {
				return none, err
			}
			pic.Title, pic.Rate = s.name+": "+k.String(), k.Rate
			for i := range t.Dim(0) {
				pic.Channels = append(pic.Channels, t.Elems()[i*t.Dim(1):(i+1)*t.Dim(1)])
			}
			return none, nil
		})
		if err != nil {
			return s.in(err)
		}
		if err := p.soundPicture(wave, s, &pic); err != nil {
			return err
		}
	}
	if mel != "" {
		x, err := p.heard(s, f.rate)
		if err != nil {
			return err
		}
		m := *f.mel
		m.Length = 0 // the picture shows the recording, not silence behind it
		t, err := m.Of(x, f.rate)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if m.Shape == sound.RowsOfBands {
			t = t.Permute(1, 0)
		}
		return p.soundPicture(mel, s, &draw.Sound{Title: s.name + ": " + front, Rate: f.rate, Channels: [][]float32{x}, Rows: t.Any()})
	}
	return nil
}

// soundPicture writes a picture of sound.
func (p *program) soundPicture(file string, s *source, pic *draw.Sound) error {
	var drawing error // then it isn't the file that can't be written
	err := p.atomic().File(file, func(w io.Writer) error {
		put := pic.WritePNG
		if strings.HasSuffix(file, ".svg") {
			put = pic.WriteSVG
		}
		drawing = put(w)
		return drawing
	})
	switch {
	case drawing != nil:
		return fmt.Errorf("%s: %w", s.name, drawing)
	case err != nil:
		return fmt.Errorf("%s: %w", file, disk.Bare(err))
	}
	return nil
}
