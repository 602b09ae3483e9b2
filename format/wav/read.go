// Package wav reads and writes WAV files of samples: PCM of 1 to 4 bytes, and floats of float32 and float64. It reads them as they come, also from streams
// that don't say how long they are.
//
// A sample is a float32. PCM of b bits is divided by 2^(b−1). So its samples are from −1 up to below 1. In PCM of one byte 128 stands for 0. Samples of
// 4 bytes, and of float64, are rounded to nearest, ties to even. Other floats are as they are in the file, NaN and infinities, too.
// The samples of all channels at one time stand side by side.
//
// Sources: "Multimedia Programming Interface and Data Specifications 1.0" of IBM and Microsoft (1991), Microsoft's WAVEFORMATEXTENSIBLE,
// and EBU Tech 3306 for RF64.
package wav

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Format says which samples a file has.
type Format struct {
	Rate     int  // samples a second of one channel
	Channels int  // 1 or more
	Bits     int  // of a sample: a multiple of 8
	Float    bool // IEEE floats instead of integers
}

// String describes the format for people: 16-bit PCM, 44100 Hz, 2 channels.
func (f Format) String() string {
	kind, plural := "PCM", "s"
	if f.Float {
		kind = "float"
	}
	if f.Channels == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d-bit %s, %d Hz, %d channel%s", f.Bits, kind, f.Rate, f.Channels, plural)
}

// block is the bytes of the samples of all channels at one time.
func (f Format) block() int { return f.Channels * (f.Bits / 8) }

// A Reader reads the samples of a WAV file in order.
type Reader struct {
	Format
	r      *bufio.Reader
	at     int64 // the byte of the next sample
	left   int64 // bytes of samples to come by the header; -1: until the end
	whole  int64 // the samples of a channel by the header; -1: it doesn't say
	failed error // ends all reads
	buf    []byte
}

func fail(at int64, err error, text string, args ...any) error {
	return &format.Error{Format: "wav", Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}

const (
	tagPCM        = 1
	tagFloat      = 3
	tagExtensible = 0xfffe
	unknown       = math.MaxUint32
)

// isUnknown reports whether a size is one that programs write which can't go back: all ones, or nearly all of 31 or 32 bits, as sox has it.
func isUnknown(size uint32) bool { return size>>12 == 0xfffff || size>>12 == 0x7ffff }

// NewReader reads the header of a WAV file, up to its samples. It returns a [format.Error] if r isn't a WAV file, or has samples that the
// package doesn't read.
//
// A size of the samples of 0, or of nearly all ones, stands for a stream of unknown length, in the chunk ds64 of RF64 too. The samples then go on up
// to the end of r.
func NewReader(r io.Reader) (*Reader, error) {
	if r == nil {
		return nil, fail(-1, format.ErrFormat, "the reader is nil")
	}
	w := &Reader{r: bufio.NewReader(r), whole: -1}
	var head [12]byte
	if err := w.read(head[:], "it is no WAV file: it has fewer than 12 bytes"); err != nil {
		return nil, err
	}
	riff := string(head[:4])
	if riff != "RIFF" && riff != "RF64" && riff != "BW64" || string(head[8:]) != "WAVE" {
		return nil, fail(0, format.ErrFormat, "it is no WAV file: it begins with %q, want RIFF and WAVE; ffmpeg -i IN OUT.wav makes one", head)
	}
	wide := int64(-1) // the size of the samples by ds64
	for {
		var chunk [8]byte
		begin := w.at
		if err := w.read(chunk[:], "it ends before its samples: there is no chunk \"data\""); err != nil {
			return nil, err
		}
		size := binary.LittleEndian.Uint32(chunk[4:])
		skip := int64(size) + int64(size%2) // chunks begin at even bytes
		switch string(chunk[:4]) {
		case "ds64":
			var b [16]byte
			if size < uint32(len(b)) {
				return nil, fail(begin, format.ErrFormat, "the chunk ds64 has %d bytes, want 28", size)
			}
			if err := w.read(b[:], "it ends in the chunk ds64"); err != nil {
				return nil, err
			}
			// Programs that can't go back leave it at 0, or at all ones.
			if n := binary.LittleEndian.Uint64(b[8:]); n != 0 && n != math.MaxUint64 {
				wide = int64(min(n, math.MaxInt64))
			}
			skip -= int64(len(b))
		case "fmt ":
			b := make([]byte, min(size, 40))
			if err := w.read(b, "it ends in the chunk \"fmt \""); err != nil {
				return nil, err
			}
			if err := w.format(begin, b); err != nil {
				return nil, err
			}
			skip -= int64(len(b))
		case "data":
			if w.Channels == 0 {
				return nil, fail(begin, format.ErrFormat, "the samples come before the chunk \"fmt \", which says their format")
			}
			total := binary.LittleEndian.Uint32(head[4:])
			// Behind samples of no bytes there is a chunk only if the whole file has room for it.
			open := isUnknown(size) || size == 0 && (isUnknown(total) || int64(total)+8 < w.at+8)
			w.left = int64(size)
			if riff != "RIFF" && size == unknown && wide >= 0 {
				w.left, open = wide, false
			}
			if open {
				w.left = -1
			} else {
				w.whole = w.left / int64(w.block())
			}
			return w, nil
		}
		n, err := io.CopyN(io.Discard, w.r, skip)
		if w.at += n; err != nil && err != io.EOF {
			return nil, fail(w.at, err, "reading: %v", disk.Bare(err))
		}
	}
}

// read fills b from the header. A file that is too short gets the text as its error.
func (w *Reader) read(b []byte, text string) error {
	n, err := io.ReadFull(w.r, b)
	w.at += int64(n)
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return fail(w.at, format.ErrShort, "%s", text)
	case err != nil:
		return fail(w.at, err, "reading: %v", disk.Bare(err))
	}
	return nil
}

// format takes the chunk "fmt " at a byte of the file.
func (w *Reader) format(at int64, b []byte) error {
	if len(b) < 16 {
		return fail(at, format.ErrFormat, "the chunk \"fmt \" has %d bytes, want 16 or more", len(b))
	}
	tag, channels := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
	rate, block, bits := binary.LittleEndian.Uint32(b[4:]), int(binary.LittleEndian.Uint16(b[12:])), int(binary.LittleEndian.Uint16(b[14:]))
	if tag == tagExtensible && len(b) == 40 {
		tag = binary.LittleEndian.Uint16(b[24:])
	}
	wide := (bits + 7) / 8 * 8 // samples of other widths lie at the upper end of whole bytes
	switch {
	case channels == 0 || rate == 0 || rate > math.MaxInt32:
		return fail(at, format.ErrFormat, "it has %d channels of %d samples a second; want 1 or more of both, and a rate of at most %d", channels, rate, math.MaxInt32)
	case tag != tagPCM && tag != tagFloat:
		return fail(at, format.ErrType, "its samples are compressed, or of another kind: format tag 0x%x; want PCM or floats, as ffmpeg -i IN -c:a pcm_s16le OUT.wav makes them", tag)
	case tag == tagPCM && (wide < 8 || wide > 32), tag == tagFloat && bits != 32 && bits != 64:
		return fail(at, format.ErrType, "its samples have %d bits, want PCM of up to 32, or floats of 32 or 64, as ffmpeg -i IN -c:a pcm_s16le OUT.wav makes them", bits)
	case block != channels*(wide/8):
		return fail(at, format.ErrFormat, "%d channels of %d bits take %d bytes, but it says %d", channels, bits, channels*(wide/8), block)
	}
	w.Format = Format{Rate: int(rate), Channels: channels, Bits: wide, Float: tag == tagFloat}
	return nil
}

// Len returns the number of samples of a channel that the header tells, -1 if it tells none. The file may have fewer.
func (w *Reader) Len() int64 { return w.whole }

// Read reads samples, with the channels side by side, and returns their number, a multiple of Channels. At the end it returns
// io.EOF. A file that has fewer samples than its header says gives all it has, and then an error that wraps format.ErrShort. It returns io.ErrShortBuffer if dst has no room for a
// sample of each channel.
func (w *Reader) Read(dst []float32) (int, error) {
	if len(dst) < w.Channels {
		return 0, io.ErrShortBuffer
	}
	if w.failed != nil {
		return 0, w.failed
	}
	block := w.block()
	const most = 1 << 14
	size := int64(min(len(dst)/w.Channels, max(most/block, 1))) * int64(block)
	if w.left >= 0 {
		size = min(size, w.left)
	}
	if w.buf == nil {
		w.buf = make([]byte, max(most, block))
	}
	b := w.buf[:size]
	n, err := io.ReadFull(w.r, b)
	w.at += int64(n)
	if w.left >= 0 {
		w.left -= int64(n)
	}
	over := n % block
	switch {
	case err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF):
		w.failed = fail(w.at, err, "reading: %v", disk.Bare(err))
	case w.left > 0 && err != nil:
		w.failed = fail(w.at, format.ErrShort, "the file ends %d bytes of samples before the end that its header tells", w.left)
	case over != 0:
		w.failed = fail(w.at-int64(over), format.ErrShort, "the samples end in the middle of one: %d bytes of %d", over, block)
	case w.left == 0 || err != nil:
		w.failed = io.EOF
	}
	count := n / block * w.Channels
	w.decode(dst[:count], b)
	if count == 0 {
		return 0, w.failed
	}
	return count, nil
}

// decode takes samples apart.
func (w *Reader) decode(dst []float32, b []byte) {
	switch {
	case w.Float && w.Bits == 32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case w.Float:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case w.Bits == 8:
		for i := range dst {
			dst[i] = float32(int(b[i])-128) / (1 << 7)
		}
	case w.Bits == 16:
		for i := range dst {
			dst[i] = float32(int16(binary.LittleEndian.Uint16(b[2*i:]))) / (1 << 15)
		}
	case w.Bits == 24:
		for i := range dst {
			dst[i] = float32(int32(uint32(b[3*i])<<8|uint32(b[3*i+1])<<16|uint32(b[3*i+2])<<24)>>8) / (1 << 23)
		}
	default:
		for i := range dst {
			dst[i] = float32(int32(binary.LittleEndian.Uint32(b[4*i:]))) / (1 << 31)
		}
	}
}

// Read reads a whole WAV file: a tensor [channels, samples]. Memory grows with the bytes that come. Where the file has fewer samples than its header says, the
// tensor has the samples that are there, and the error wraps format.ErrShort.
func Read(r io.Reader) (tensor.Tensor[float32], Format, error) {
	w, err := NewReader(r)
	if err != nil {
		return tensor.Tensor[float32]{}, Format{}, err
	}
	var all []float32
	buf := make([]float32, max(1<<13, w.Channels))
	for err == nil {
		var n int
		n, err = w.Read(buf)
		all = append(all, buf[:n]...)
	}
	if err == io.EOF {
		err = nil
	}
	n := len(all) / w.Channels
	if w.Channels > 1 {
		apart := make([]float32, len(all))
		for i, v := range all {
			apart[i%w.Channels*n+i/w.Channels] = v
		}
		all = apart
	}
	return tensor.FromSlice(all, w.Channels, n), w.Format, err
}
