package wav_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/wav"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"pgregory.net/rapid"
)

func ExampleReader() {
	var file bytes.Buffer
	if err := wav.Write(&file, wav.Format{Rate: 16000, Channels: 2, Bits: 16}, []float32{0.5, -0.5, 0.25, 1}); err != nil {
		fmt.Println(err)
		return
	}
	r, err := wav.NewReader(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Format, r.Len())
	buf := make([]float32, 1024)
	for {
		n, err := r.Read(buf)
		fmt.Println(buf[:n], err)
		if err != nil {
			return
		}
	}
	// Output:
	// 16-bit PCM, 16000 Hz, 2 channels 2
	// [0.5 -0.5 0.25 0.9999695] <nil>
	// [] EOF
}

func ExampleNewWriter() {
	var pipe bytes.Buffer
	w, err := wav.NewWriter(&pipe, wav.Format{Rate: 8000, Channels: 1, Bits: 8}, -1) // nobody knows how long it will be
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, chunk := range [][]float32{{0, 0.5}, {-1}} {
		if err := w.Write(chunk); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(w.Close())
	t, f, err := wav.Read(&pipe)
	fmt.Println(t, f, err)
	// Output:
	// <nil>
	// [[ 0.   0.5 -1. ]] 8-bit PCM, 8000 Hz, 1 channel <nil>
}

// formats are all that files have.
var formats = []wav.Format{{Bits: 8}, {Bits: 16}, {Bits: 24}, {Bits: 32}, {Bits: 32, Float: true}, {Bits: 64, Float: true}}

// exact is a sample that a file holds exactly.
func exact(t *rapid.T, f wav.Format) float32 {
	if f.Float {
		return rapid.Float32().Draw(t, "sample")
	}
	bits := min(f.Bits, 25)
	return float32(rapid.IntRange(-1<<(bits-1), 1<<(bits-1)-1).Draw(t, "sample")) / float32(int(1)<<(bits-1))
}

// Samples come back as they were, whatever the pieces are in which they are written, come and are read.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formats).Draw(t, "format")
		f.Rate, f.Channels = rapid.IntRange(1, 400000).Draw(t, "rate"), rapid.IntRange(1, 5).Draw(t, "channels")
		n := rapid.IntRange(0, 40).Draw(t, "samples")
		want := make([]float32, n*f.Channels)
		for i := range want {
			want[i] = exact(t, f)
		}
		length := int64(n)
		open := rapid.Bool().Draw(t, "open")
		if open {
			length = -1
		}
		var file bytes.Buffer
		w, err := wav.NewWriter(&file, f, length)
		for rest := want; err == nil && len(rest) > 0; {
			k := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			err = w.Write(rest[:k])
			rest = rest[k:]
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		b := file.Bytes()
		if !open && int(binary.LittleEndian.Uint32(b[4:]))+8 != len(b) {
			t.Fatalf("the header tells another size than %d", len(b))
		}
		r, err := wav.NewReader(iotest.OneByteReader(bytes.NewReader(b)))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			length = -1 // as a stream's
		}
		if r.Format != f || r.Len() != length {
			t.Fatalf("%v of %d samples, want %v of %d", r.Format, r.Len(), f, length)
		}
		var got []float32
		for err == nil {
			buf := make([]float32, rapid.IntRange(f.Channels, 20).Draw(t, "read"))
			var k int
			k, err = r.Read(buf)
			got = append(got, buf[:k]...)
		}
		if err != io.EOF || !slices.Equal(got, want) {
			t.Fatalf("%v, want %v; %v", got, want, err)
		}
		all, _, err := wav.Read(bytes.NewReader(b))
		if err != nil || all.Dim(0) != f.Channels || all.Dim(1) != n {
			t.Fatalf("%v %v", all, err)
		}
		for i, v := range want {
			if all.At(i%f.Channels, i/f.Channels) != v {
				t.Fatalf("sample %d is %v, want %v", i, all.At(i%f.Channels, i/f.Channels), v)
			}
		}
	})
}

// Samples beyond a file's range are its ends, and those between its values are the nearest, of two the even one.
func TestRounding(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	in := []float32{0, 1, -1, inf, -inf, nan, 0.5 / 128, 1.5 / 128, -0.5 / 128, -1.5 / 128, 2, -2}
	var b bytes.Buffer
	if err := wav.Write(&b, wav.Format{Rate: 1, Channels: 1, Bits: 8}, in); err != nil {
		t.Fatal(err)
	}
	got, _, err := wav.Read(&b)
	const most = 127.0 / 128
	if want := []float32{0, most, -1, most, -1, 0, 0, 2.0 / 128, 0, -2.0 / 128, most, -1}; err != nil || !slices.Equal(got.Elems(), want) {
		t.Errorf("%v, want %v; %v", got, want, err)
	}
}

// chunk is a part of a file.
func chunk(id string, size uint32, body string) string {
	return id + string(binary.LittleEndian.AppendUint32(nil, size)) + body
}

func le(list ...any) string {
	var b []byte
	for _, v := range list {
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return string(b)
}

// plain is the chunk "fmt " of 16-bit PCM.
func plain(channels int) string {
	return chunk("fmt ", 16, le(uint16(1), uint16(channels), uint32(8000), uint32(16000*channels), uint16(2*channels), uint16(16)))
}

// Files that other programs write.
func TestHeaders(t *testing.T) {
	guid := "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
	const most = math.MaxUint32
	two := le(int16(1<<14), int16(-1<<14))
	for _, c := range []struct {
		name, file string
		want       []float32
		len        int64
		err        string
	}{
		{name: "a chunk of odd length before", file: chunk("RIFF", 0, "WAVE") + chunk("LIST", 3, "abc\x00") + plain(1) + chunk("data", 4, two), want: []float32{0.5, -0.5}, len: 2},
		{name: "a chunk behind", file: chunk("RIFF", 0, "WAVE") + plain(1) + chunk("data", 2, two[:2]) + chunk("LIST", 0, ""), want: []float32{0.5}, len: 1},
		{name: "no samples, a chunk behind", file: chunk("RIFF", 4+24+8+8, "WAVE") + plain(1) + chunk("data", 0, "") + chunk("LIST", 0, ""), len: 0},
		{name: "a size of 0", file: chunk("RIFF", 36, "WAVE") + plain(1) + chunk("data", 0, two), want: []float32{0.5, -0.5}, len: -1},
		{name: "a size of all ones", file: chunk("RIFF", most, "WAVE") + plain(1) + chunk("data", most, two), want: []float32{0.5, -0.5}, len: -1},
		{name: "the size of sox and espeak-ng", file: chunk("RIFF", 0x7ffff024, "WAVE") + plain(1) + chunk("data", 0x7ffff000, two), want: []float32{0.5, -0.5}, len: -1},
		{name: "extensible", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 40, le(uint16(0xfffe), uint16(1), uint32(8000), uint32(32000), uint16(4), uint16(32), uint16(22), uint16(24), uint32(0), uint16(1))+guid) +
			chunk("data", 4, le(int32(1<<30))), want: []float32{0.5}, len: 1},
		{name: "extensible floats", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 40, le(uint16(0xfffe), uint16(1), uint32(8000), uint32(32000), uint16(4), uint16(32), uint16(22), uint16(32), uint32(0), uint16(3))+guid) +
			chunk("data", 4, le(float32(-3))), want: []float32{-3}, len: 1},
		{name: "12 bits in 16", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 16, le(uint16(1), uint16(1), uint32(8000), uint32(16000), uint16(2), uint16(12))) + chunk("data", 4, two), want: []float32{0.5, -0.5}, len: 2},
		{name: "RF64", file: chunk("RF64", most, "WAVE") + chunk("ds64", 28, le(uint64(80), uint64(4), uint64(2), uint32(0))) + plain(1) + chunk("data", most, two+"more"), want: []float32{0.5, -0.5}, len: 2},
		{name: "a length that lies", file: chunk("RIFF", 0, "WAVE") + plain(1) + chunk("data", 1000, two), want: []float32{0.5, -0.5}, len: 500,
			err: "wav: byte 48: the file ends 996 bytes of samples before the end that its header tells"},
		{name: "RF64 that lies", file: chunk("RF64", most, "WAVE") + chunk("ds64", 28, le(uint64(80), uint64(1<<62), uint64(2), uint32(0))) + plain(1) + chunk("data", most, two), want: []float32{0.5, -0.5}, len: 1 << 61,
			err: "wav: byte 84: the file ends 4611686018427387900 bytes of samples before the end that its header tells"},
		{name: "RF64 of 2^63 bytes", file: chunk("RF64", most, "WAVE") + chunk("ds64", 28, le(uint64(80), uint64(1<<63), uint64(2), uint32(0))) + plain(1) + chunk("data", most, two), want: []float32{0.5, -0.5}, len: math.MaxInt64 / 2,
			err: "wav: byte 84: the file ends 9223372036854775803 bytes of samples before the end that its header tells"},
		{name: "RF64 in a pipe", file: chunk("RF64", most, "WAVE") + chunk("ds64", 28, strings.Repeat("\x00", 28)) + plain(1) + chunk("data", most, two), want: []float32{0.5, -0.5}, len: -1},
		{name: "RF64 of all ones", file: chunk("RF64", most, "WAVE") + chunk("ds64", 28, strings.Repeat("\xff", 28)) + plain(1) + chunk("data", most, two), want: []float32{0.5, -0.5}, len: -1},
		{name: "no bytes for a sample", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 16, le(uint16(1), uint16(1), uint32(8000), uint32(0), uint16(0), uint16(0))),
			err: "wav: byte 12: its samples have 0 bits, want PCM of up to 32, or floats of 32 or 64, as ffmpeg -i IN -c:a pcm_s16le OUT.wav makes them"},
		{name: "the most channels", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 16, le(uint16(1), uint16(65535), uint32(8000), uint32(0), uint16(65534), uint16(16))),
			err: "wav: byte 12: 65535 channels of 16 bits take 131070 bytes, but it says 65534"},
		{name: "too fast", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 16, le(uint16(1), uint16(1), uint32(1<<31), uint32(0), uint16(2), uint16(16))),
			err: "wav: byte 12: it has 1 channels of 2147483648 samples a second; want 1 or more of both, and a rate of at most 2147483647"},
		{name: "half a sample", file: chunk("RIFF", 0, "WAVE") + plain(2) + chunk("data", most, two+"\x00\x00\x00"), want: []float32{0.5, -0.5}, len: -1,
			err: "wav: byte 48: the samples end in the middle of one: 3 bytes of 4"},
		{name: "another file", file: "RIFF\x00\x00\x00\x00AVI more", err: `wav: byte 0: it is no WAV file: it begins with "RIFF\x00\x00\x00\x00AVI ", want RIFF and WAVE; ffmpeg -i IN OUT.wav makes one`},
		{name: "no samples", file: chunk("RIFF", 0, "WAVE") + plain(1), err: `wav: byte 36: it ends before its samples: there is no chunk "data"`},
		{name: "no format", file: chunk("RIFF", 0, "WAVE") + chunk("data", 4, two), err: `wav: byte 12: the samples come before the chunk "fmt ", which says their format`},
		{name: "compressed", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 16, le(uint16(0x55), uint16(1), uint32(8000), uint32(0), uint16(1), uint16(0))),
			err: "wav: byte 12: its samples are compressed, or of another kind: format tag 0x55; want PCM or floats, as ffmpeg -i IN -c:a pcm_s16le OUT.wav makes them"},
		{name: "another width", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 16, le(uint16(1), uint16(1), uint32(8000), uint32(0), uint16(8), uint16(64))),
			err: "wav: byte 12: its samples have 64 bits, want PCM of up to 32, or floats of 32 or 64, as ffmpeg -i IN -c:a pcm_s16le OUT.wav makes them"},
		{name: "another block", file: chunk("RIFF", 0, "WAVE") + chunk("fmt ", 16, le(uint16(1), uint16(2), uint32(8000), uint32(0), uint16(2), uint16(16))),
			err: "wav: byte 12: 2 channels of 16 bits take 4 bytes, but it says 2"},
		{name: "a chunk of 4 GiB", file: chunk("RIFF", 0, "WAVE") + chunk("LIST", most, "abc"), err: `wav: byte 23: it ends before its samples: there is no chunk "data"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := wav.NewReader(strings.NewReader(c.file))
			if err == nil && r.Len() != c.len {
				t.Errorf("it has %d samples, want %d", r.Len(), c.len)
			}
			got, _, err := wav.Read(strings.NewReader(c.file))
			if text := fmt.Sprint(err); err != nil && text != c.err || err == nil && c.err != "" {
				t.Errorf("%v\nwant %s", err, c.err)
			}
			if !got.Any().IsZero() && !slices.Equal(got.Elems(), c.want) || got.Any().IsZero() && c.want != nil {
				t.Errorf("%v, want %v", got, c.want)
			}
			var own *format.Error
			if err != nil && !errors.As(err, &own) {
				t.Errorf("an error of another type: %T", err)
			}
		})
	}
}

// An error of the source comes through; reads after it give it again.
func TestSourceFails(t *testing.T) {
	var b bytes.Buffer
	if err := wav.Write(&b, wav.Format{Rate: 8000, Channels: 1, Bits: 16}, make([]float32, 20)); err != nil {
		t.Fatal(err)
	}
	own := errors.New("the cable is out")
	for n := range b.Len() {
		r, err := wav.NewReader(io.MultiReader(bytes.NewReader(b.Bytes()[:n]), iotest.ErrReader(own)))
		for k := 1; err == nil; {
			if k, err = r.Read(make([]float32, 7)); k > 0 && err != nil {
				t.Fatal("samples and an error at once")
			}
		}
		if !errors.Is(err, own) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if r != nil {
			if _, again := r.Read(make([]float32, 7)); !errors.Is(again, own) {
				t.Fatalf("%d bytes, again: %v", n, again)
			}
		}
	}
}

// Formats that a file can't have are refused, and so are samples that don't fit the header.
func TestWriterRefuses(t *testing.T) {
	for _, f := range []wav.Format{{}, {Rate: 1, Channels: 1, Bits: 12}, {Rate: 1, Channels: 1, Bits: 64}, {Rate: 1, Channels: 1, Bits: 16, Float: true}, {Rate: 0, Channels: 1, Bits: 16}, {Rate: 1, Channels: 40000, Bits: 16}} {
		if err := wav.Write(io.Discard, f, nil); !errors.Is(err, format.ErrType) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	mono := wav.Format{Rate: 1, Channels: 2, Bits: 16}
	if _, err := wav.NewWriter(io.Discard, mono, 1<<40); !errors.Is(err, format.ErrLimit) {
		t.Error(err)
	}
	w, err := wav.NewWriter(io.Discard, mono, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(make([]float32, 3)); err != nil {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, format.ErrShort) {
		t.Error(err)
	}
	if err := w.Write(make([]float32, 2)); !errors.Is(err, format.ErrFormat) {
		t.Error(err)
	}
	if w, err = wav.NewWriter(io.Discard, mono, -1); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(make([]float32, 3)), w.Close()); !errors.Is(err, format.ErrShort) {
		t.Error(err)
	}
}

// A closed writer writes nothing more, so the byte behind an odd number of them is there once.
func TestWriterCloses(t *testing.T) {
	var b bytes.Buffer
	w, err := wav.NewWriter(&b, wav.Format{Rate: 1, Channels: 1, Bits: 8}, 1)
	if err == nil {
		err = w.Write([]float32{0.5})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	n := b.Len()
	for i, err := range []error{w.Close(), w.Write(nil), w.Write([]float32{0}), w.Close()} {
		if !errors.Is(err, format.ErrFormat) || b.Len() != n {
			t.Errorf("%d: %v, %d bytes, want %d", i, err, b.Len(), n)
		}
	}
}

// Package format opens and describes the files.
func TestRegistered(t *testing.T) {
	var b bytes.Buffer
	if err := wav.Write(&b, wav.Format{Rate: 8000, Channels: 2, Bits: 16}, []float32{0.5, -0.5, 0.25, 0}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cut  int
		want string
	}{{0, "float32[2,2], 16-bit PCM, 8000 Hz, 2 channels, 0.00 s"}, {4, "float32[2,1], 16-bit PCM, 8000 Hz, 2 channels, 1 samples fewer than its header tells, 0.00 s"}} {
		path := filepath.Join(t.TempDir(), "x.wav")
		if err := os.WriteFile(path, b.Bytes()[:b.Len()-c.cut], 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := format.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		i, err := f.Info("")
		if err != nil || i.String() != c.want || f.About() != "WAV" {
			t.Errorf("%v %v %s", i, err, f.About())
		}
		got, err := f.Tensor("")
		if c.cut > 0 {
			if !errors.Is(err, format.ErrShort) || !strings.Contains(err.Error(), path) {
				t.Error(err)
			}
		} else if err != nil || fmt.Sprint(got) != "[[ 0.5   0.25]\n [-0.5   0.  ]]" {
			t.Errorf("%v %v", got, err)
		}
	}
}

// Any bytes are a file or an error, in memory that grows with them, and the same in pieces of any size.
func FuzzRead(f *testing.F) {
	for _, k := range formats {
		k.Rate, k.Channels = 8000, 2
		var b bytes.Buffer
		if err := wav.Write(&b, k, []float32{0.5, -0.5, 0.25, 1}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(chunk("RF64", math.MaxUint32, "WAVE") + chunk("ds64", 28, le(uint64(80), uint64(1<<62), uint64(2), uint32(0))) + plain(1) + chunk("data", math.MaxUint32, "abcd")))
	f.Add([]byte(chunk("RIFF", 0, "WAVE") + chunk("LIST", 3, "abc\x00") + plain(2) + chunk("data", 0, "abcdef")))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, k, err := wav.Read(bytes.NewReader(b))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20+64*uint64(len(b)) {
			t.Fatalf("%d bytes for a file of %d", n, len(b))
		}
		var own *format.Error
		if err != nil && (!errors.As(err, &own) || own.Err == nil) {
			t.Fatalf("an error of another type: %v", err)
		}
		r, second := wav.NewReader(iotest.HalfReader(bytes.NewReader(b)))
		var all []float32
		for second == nil {
			var n int
			buf := make([]float32, r.Channels)
			n, second = r.Read(buf)
			all = append(all, buf[:n]...)
		}
		if second == io.EOF {
			second = nil
		}
		if fmt.Sprint(second) != fmt.Sprint(err) {
			t.Fatalf("%v, in pieces %v", err, second)
		}
		if got.Any().IsZero() {
			return
		}
		if len(all) != got.Len() {
			t.Fatalf("%d samples, in pieces %d", got.Len(), len(all))
		}
		if k.Float { // a NaN isn't written as it is
			return
		}
		var c bytes.Buffer
		if err := wav.Write(&c, k, all); err != nil {
			t.Fatal(err)
		}
		again, _, err := wav.Read(&c)
		if err != nil || k.Bits < 32 && !slices.Equal(again.Elems(), got.Elems()) {
			t.Fatalf("written and read again: %v, want %v; %v", again, got, err)
		}
	})
}
