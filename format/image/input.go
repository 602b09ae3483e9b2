package image

import "io"

// An input reads the beginning of a source twice. It keeps the bytes that are read before rewind. After rewind it returns
// them again, and then the rest of the source. Its memory grows by one block at a time, after the source filled the last one.
type input struct {
	src  io.Reader
	held [][]byte
	next int   // the block of held that Read is in
	at   int   // position in it
	n    int64 // bytes held
	pass bool  // rewound: read on from src without keeping
	err  error // the error of src, other than its end

	taken int64 // bytes that Read returned before rewind
}

const block = 32 << 10

func (in *input) Read(p []byte) (int, error) {
	for {
		for in.next < len(in.held) {
			if n := copy(p, in.held[in.next][in.at:]); n > 0 || len(p) == 0 {
				in.at += n
				if !in.pass {
					in.taken += int64(n)
				}
				return n, nil
			}
			if in.pass {
				in.held[in.next] = nil // for the garbage collector
			}
			in.next, in.at = in.next+1, 0
		}
		if in.pass {
			n, err := in.src.Read(p)
			return n, in.note(err)
		}
		if err := in.hold(); err != nil {
			return 0, err
		}
	}
}

// hold reads one more block.
func (in *input) hold() error {
	b := make([]byte, block)
	n, err := io.ReadFull(in.src, b)
	if n == 0 {
		return in.note(err)
	}
	in.held, in.n = append(in.held, b[:n]), in.n+int64(n)
	return nil
}

// ahead reports whether the source has at least n bytes, and holds them.
func (in *input) ahead(n int64) (bool, error) {
	for in.n < n {
		if err := in.hold(); err == io.EOF {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (in *input) rewind() { in.next, in.at, in.pass = 0, 0, true }

func (in *input) note(err error) error {
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		in.err = err
	}
	return err
}
