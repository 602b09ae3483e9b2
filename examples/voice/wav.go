package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// readWAV reads a WAV file of 16-bit samples. It returns their mean over all channels, from -1 to 1, and the samples per
// second. Source: "Multimedia Programming Interface and Data Specifications 1.0", IBM and Microsoft, 1991.
func readWAV(r io.Reader) (samples []float32, rate int, err error) {
	var head struct {
		RIFF [4]byte
		Size uint32
		WAVE [4]byte
	}
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil || string(head.RIFF[:]) != "RIFF" || string(head.WAVE[:]) != "WAVE" {
		return nil, 0, errors.New("it is no WAV file")
	}
	var format struct {
		Tag, Channels    uint16
		Rate, ByteRate   uint32
		BlockAlign, Bits uint16
	}
	for {
		var chunk struct {
			ID   [4]byte
			Size uint32
		}
		if err := binary.Read(r, binary.LittleEndian, &chunk); err != nil {
			return nil, 0, errors.New("it ends before its samples")
		}
		body := io.LimitReader(r, int64(chunk.Size)+int64(chunk.Size%2)) // chunks have an even length
		switch string(chunk.ID[:]) {
		case "fmt ":
			if err := binary.Read(body, binary.LittleEndian, &format); err != nil {
				return nil, 0, errors.New("its format is cut off")
			}
			// 0xfffe says that the real tag follows; for 16 bits it is the same.
			if format.Tag != 1 && format.Tag != 0xfffe || format.Bits != 16 || format.Channels == 0 || format.Rate == 0 || format.Rate > 1<<20 {
				return nil, 0, fmt.Errorf("it has %d channels of %d bits in format %d at %d Hz; want 16-bit PCM, as sox IN -b 16 OUT.wav makes it",
					format.Channels, format.Bits, format.Tag, format.Rate)
			}
		case "data":
			if format.Channels == 0 {
				return nil, 0, errors.New("its samples come before their format")
			}
			// A program that writes into a pipe doesn't know the size: it is too large then.
			b, err := io.ReadAll(io.LimitReader(r, int64(chunk.Size)))
			if err != nil {
				return nil, 0, err
			}
			each := 2 * int(format.Channels)
			samples = make([]float32, len(b)/each)
			for i := range samples {
				sum := 0
				for c := range int(format.Channels) {
					sum += int(int16(binary.LittleEndian.Uint16(b[i*each+2*c:])))
				}
				samples[i] = float32(sum) / float32(int(format.Channels)<<15)
			}
			return samples, int(format.Rate), nil
		}
		if _, err := io.Copy(io.Discard, body); err != nil {
			return nil, 0, err
		}
	}
}
