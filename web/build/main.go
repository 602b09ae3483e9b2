// Command build makes the folder that a web server serves: the page, the scripts and the
// programs compiled to WebAssembly.
//
//	go run ./build DIR
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ashlar-go/ashlar/web"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: go run ./build DIR")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(dir string) error {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		if _, err := os.Stat(filepath.Join(dir, "layouts.wasm.gz")); err != nil {
			return fmt.Errorf("%s isn't empty, and holds no page: name a new folder", dir)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	page, err := fs.Sub(web.Page, "page")
	if err != nil {
		return err
	}
	err = fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(page, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), b, 0o644)
	})
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "wasm_exec.js"), glue, 0o644); err != nil {
		return err
	}
	for _, p := range []struct{ name, tags string }{{"layouts", "layoutonly"}, {"models", "nofetch"}} {
		if err := program(dir, p.name, p.tags); err != nil {
			return err
		}
	}
	return nil
}

// program compiles a program and compresses it; the page unpacks it, so that any file server will do.
func program(dir, name, tags string) error {
	temp, err := os.MkdirTemp("", "ashlar-web")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	file := filepath.Join(temp, name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-tags", tags, "-o", file, "github.com/ashlar-go/ashlar/web/"+name)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(wasm)
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	fmt.Printf("%s.wasm.gz  %d bytes, %d unpacked\n", name, b.Len(), len(wasm))
	return os.WriteFile(filepath.Join(dir, name+".wasm.gz"), b.Bytes(), 0o644)
}
