package image

import "io"

// The scans of a JPEG file are read through this reader. It closes two ways in which a small file could claim more time or memory than readJPEG
// counted:
//
//   - Each scan of a progressive picture passes over all its blocks, however few bytes the scan has. Encoders write about ten
//     scans; mostScans bounds them.
//   - An Adobe segment after the first scan could still make the decoder allocate a second picture in RGB. scans overwrites
//     its name, so that it has no effect.
//
// Both are found as byte patterns. Every scan header that image/jpeg accepts begins with ff da and a length of 6+2n for its n
// components, 1 to 4. Every Adobe segment begins with ff ee, a length and "Adobe". In compressed data, ff is followed by 00 or
// a restart marker.
type scans struct {
	r    io.Reader
	skip int64  // bytes up to the end of the first scan's marker, which readJPEG has seen
	last uint64 // the latest 8 bytes
	n    int
}

const mostScans = 256

func (s *scans) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	from := int(min(s.skip, int64(n)))
	s.skip -= int64(from)
	for i, b := range p[from:n] {
		if b == 'e' && s.last&0xffff0000ffffffff == 0xffee000041646f62 {
			b = 'E'
			p[from+i] = b
		}
		s.last = s.last<<8 | uint64(b)
		if s.last&0xfffffff1 == 0xffda0000 && b >= 8 && b <= 14 {
			if s.n++; s.n >= mostScans {
				return 0, fail(ErrFormat, "over %d scans; a picture of so many is not read, as each one can take long", mostScans)
			}
		}
	}
	return n, err
}
