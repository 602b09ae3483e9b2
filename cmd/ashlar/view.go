package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// viewFiles are the endings of the files that the page shows.
var viewFiles = []string{".npy", ".npz", ".safetensors", ".onnx", ".zip"}

func (p *program) viewCommand() *cobra.Command {
	var site, listen string
	c := &cobra.Command{
		Use:   "view [EXPRESSION | FILE...]",
		Short: "Serve the page that draws and judges layouts, and shows files",
		Long: `View serves a page for a browser on this machine: it draws layouts, judges them,
and shows npy, npz, safetensors, ONNX and zipped Zarr files. It prints an address
for each argument, an expression or a file, and opens nothing by itself. It works
until it is interrupted.

--site is the folder of the page. Without it the folder page beside the program is
taken, as in the archives of releases. The module web of this project makes it:

  cd web && go run ./build DIR

Other machines don't reach it unless --listen says so. It serves the files that are
named, the labels beside a model, NAME.txt of NAME.onnx, and no others.`,
		Example: `  ashlar view testdata/digits.onnx
  ashlar view --site DIR "(8,8):(8,1) / <2:1,4:1>"
  ashlar view --site DIR testdata/digits.onnx`,
		Args: arguments(0, -1, "expressions or files"),
	}
	c.Flags().StringVar(&site, "site", "", "the `folder` of the page (default: page, beside the program)")
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0 is a free one")
	c.RunE = func(c *cobra.Command, args []string) error {
		if site == "" {
			site = pageBeside()
		}
		if site == "" {
			return usagef(c, "--site wants the folder of the page; the archive of a release has it, and in the folder web of this project go run ./build DIR makes it")
		}
		return p.view(c.Context(), site, listen, args)
	}
	return c
}

// pageBeside is the folder page beside the program, "" where there is none.
func pageBeside() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return ""
	}
	site := filepath.Join(filepath.Dir(program), "page")
	if _, err := os.Stat(filepath.Join(site, "index.html")); err != nil {
		return ""
	}
	return site
}

// viewHandler serves the page and the files, each under its number and name.
func viewHandler(site string, files []string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(site)))
	for i, file := range files {
		mux.HandleFunc(fmt.Sprintf("/files/%d/", i), func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// onlyLocal refuses requests for a host that is a name other than localhost: a page on the web can give its own name the
// address of this machine, and read the answers of this server.
func onlyLocal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if host != "localhost" && net.ParseIP(host) == nil {
			http.Error(w, "the host isn't this machine; ask for localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *program) view(ctx context.Context, site, listen string, args []string) error {
	for _, name := range []string{"index.html", "layouts.wasm.gz", "wasm_exec.js"} {
		if _, err := os.Stat(filepath.Join(site, name)); err != nil {
			return fmt.Errorf("view: --site %s has no %s; in the folder web of this project, go run ./build DIR makes the page", site, name)
		}
	}
	var files, hashes []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err == nil && info.Mode().IsRegular():
			name := "files/" + strconv.Itoa(len(files)) + "/" + url.PathEscape(filepath.Base(arg))
			files = append(files, arg)
			link := url.Values{"tab": {"tensors"}, "file": {name}}
			if labels := labelsBeside(arg); labels != "" {
				link.Set("labels", "files/"+strconv.Itoa(len(files))+"/"+url.PathEscape(filepath.Base(labels)))
				files = append(files, labels)
			}
			hashes = append(hashes, link.Encode())
		case err == nil && info.IsDir():
			return fmt.Errorf("view: %s is a folder; zip a Zarr folder, or drop it on the page", arg)
		case isFileName(arg):
			if err == nil {
				err = errors.New("it is no regular file")
			}
			return fmt.Errorf("view: %w", err)
		default:
			if _, err := readLayout(arg); err != nil {
				return err
			}
			hashes = append(hashes, url.Values{"a": {arg}}.Encode())
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("view: can't listen on %s: %w; another --listen may be free", listen, err)
	}
	address := "http://" + l.Addr().String() + "/"
	if len(hashes) == 0 {
		fmt.Fprintln(p.out, address)
	}
	for _, hash := range hashes {
		fmt.Fprintln(p.out, address+"#"+hash)
	}
	if err := p.out.Flush(); err != nil {
		l.Close()
		return err
	}
	handler := viewHandler(site, files)
	if a, ok := l.Addr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
		handler = onlyLocal(handler)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("view: %w", err)
	}
	return nil
}

// isFileName reports whether an argument can be meant as a file alone.
func isFileName(arg string) bool {
	for _, end := range viewFiles {
		if strings.HasSuffix(arg, end) {
			return true
		}
	}
	return false
}
