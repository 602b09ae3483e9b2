package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/spf13/cobra"
)

// forceFlag adds --force to a command that writes files.
func (p *program) forceFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.force, "force", false, "replace a write-protected file")
}

// quietFlag adds --quiet to a command that writes files, and prints.
func (p *program) quietFlag(c *cobra.Command, what string) {
	c.Flags().BoolVarP(&p.quiet, "quiet", "q", false, "print no "+what+", only errors and warnings")
}

// writeTo makes the file that the command line names from the output of put: - is standard output. Its errors name the file.
func (p *program) writeTo(file string, put func(io.Writer) error) error {
	if file == "-" {
		return put(disk.Pieces(p.out))
	}
	if err := folderOf(file); err != nil {
		return err
	}
	if err := p.atomic().File(file, put); err != nil {
		return fmt.Errorf("%s: %w", file, disk.Bare(err))
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
// its picture. A file that isn't ordinary, such as a pipe, may have any name.
func (p *program) endsIn(end, flag, file string) error {
	if info, err := os.Stat(file); strings.EqualFold(filepath.Ext(file), end) || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	return p.usagef("--%s %s: the file must end in %s", flag, file, end)
}

// atomic writes files as the flags say.
func (p *program) atomic() disk.Atomic {
	return disk.Atomic{Force: p.force, Begun: removeOnSignal}
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
