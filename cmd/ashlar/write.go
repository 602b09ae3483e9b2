package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// errProtected is a file that its owner took the right to write from.
var errProtected = errors.New("it is write-protected; --force replaces it")

// forceFlag adds --force to a command that writes files.
func (p *program) forceFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.force, "force", false, "replace a write-protected file")
}

// writeTo is writeFile for a file that the command line names: - is standard output. Its errors name the file.
func (p *program) writeTo(file string, put func(io.Writer) error) error {
	if file == "-" {
		return put(pieces{p.out})
	}
	if err := folderOf(file); err != nil {
		return err
	}
	if err := p.writeFile(file, put); err != nil {
		return fmt.Errorf("%s: %w", file, bare(err))
	}
	return nil
}

// folderOf fails if there is no folder for a file, or one in its place.
func folderOf(file string) error {
	if file == "-" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: there is no folder %s to write it to", file, filepath.Dir(file))
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("%s: it is a folder, not a file", file)
	}
	return nil
}

// endsIn fails for the file of a flag whose name says other contents than the flag writes: a slip would replace a model by
// its picture. What isn't an ordinary file, such as a pipe, may have any name.
func (p *program) endsIn(end, flag, file string) error {
	if info, err := os.Stat(file); strings.EqualFold(filepath.Ext(file), end) || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	return p.usagef("--%s %s: the file must end in %s", flag, file, end)
}

// writeFile makes a file of what put writes. It appears, or takes the place of an earlier one, when all is written and the
// disk has it. A write-protected one stays, unless --force is given.
func (p *program) writeFile(path string, put func(io.Writer) error) (err error) {
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe or a device
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return fillFile(f, false, put)
	} else if err == nil {
		if mode = info.Mode().Perm(); !p.force && protected(path, mode) {
			return errProtected
		}
	}
	if path, err = linked(path); err != nil { // a link stays one
		return err
	}
	// Beside the file, so that the last step is a rename within one file system; not by os.CreateTemp, whose files are for
	// their owner's eyes only. The name is short, since that of the file may be as long as names can be.
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf("ashlar-%016x.part", rand.Uint64()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	done := removeOnSignal(temp)
	defer done()
	whole := false
	defer func() {
		if !whole { // also when put panics, as it does where a mapped input became shorter
			f.Close()
			os.Remove(temp)
		}
	}()
	if err = fillFile(f, true, put); err != nil {
		return err
	}
	if err = os.Rename(temp, path); err != nil {
		return err
	}
	whole = true
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // where folders can be opened: not on Windows
		dir.Sync() // the file itself is on the disk; not every file system has this
		dir.Close()
	}
	return nil
}

// protected reports whether the file may not be written to. Root may write to any, so the mode is asked, too.
func protected(path string, mode os.FileMode) bool {
	if mode&0o200 == 0 {
		return true
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, fs.ErrPermission)
}

// linked follows symbolic links to the file that path stands for, which need not be there.
func linked(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	const most = 40 // of links, as systems have it
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("more than %d symbolic links", most)
}

// removeOnSignal removes a file or a folder and ends the program when it is told to end, until done is called. Signals that whoever
// started it wants ignored are left alone.
func removeOnSignal(temp string) (done func()) {
	told, finished := make(chan os.Signal, 1), make(chan struct{})
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(s) {
			signal.Notify(told, s)
		}
	}
	go func() {
		select {
		case s := <-told:
			os.RemoveAll(temp)
			code := terminated
			if s == os.Interrupt {
				code = interrupted
			}
			os.Exit(code)
		case <-finished:
		}
	}()
	return func() {
		signal.Stop(told)
		close(finished)
	}
}

// Exit codes after a signal: 128 and its number.
const (
	interrupted = 130
	terminated  = 143
)

// fillFile writes what put writes to f, and closes it.
func fillFile(f *os.File, sync bool, put func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	err := put(pieces{w})
	if err == nil {
		err = w.Flush()
	}
	if err == nil && sync {
		if err = f.Sync(); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
			err = nil // a file system without
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// pieces has all bytes copied on their way. A system call that reads a mapped file which became shorter fails with an
// error about what is written; a copy fails with one about that file.
type pieces struct{ w *bufio.Writer }

func (p pieces) Write(b []byte) (n int, err error) {
	const piece = 2 << 10 // less than any buffer, so that none is passed by
	for err == nil && n < len(b) {
		var m int
		m, err = p.w.Write(b[n:min(len(b), n+piece)])
		n += m
	}
	return n, err
}
