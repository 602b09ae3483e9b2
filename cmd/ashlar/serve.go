package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/text/endpoints"
	"github.com/spf13/cobra"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen                     string
	body, held                 memoryLimit
	runs, queue, batch         int
	timeout, slow, wait, grace time.Duration
	threads                    int
	hosts                      []string
	json, verbose, null        bool
	integers                   bool
	certificates               []string
	pictures                   pictureFlags
	texts                      []string
	encoder                    encoderFlags
	limits                     endpoints.Limits
}

func (p *program) serveCommand() *cobra.Command {
	f := serveFlags{body: 64 << 20, held: 1 << 30}
	c := &cobra.Command{
		Use:   "serve [NAME=]MODEL... [--text [NAME=]FOLDER]",
		Short: "Answer inference requests over HTTP",
		Long: `Serve runs ONNX models for clients over HTTP, in version 2 of the open inference
protocol, which KServe and Triton speak: tensors as JSON, or in binary form. A
model without a NAME has that of its file, without the ending.

It prints its address and works until it is interrupted or told to end (SIGINT,
SIGTERM). Then it refuses new requests, and lets running requests finish within
--grace. A second signal ends it at once. Only this machine reaches it unless
--listen says otherwise. It has no encryption and no login.

Requests wait while --runs runs go on, --queue at most; one more gets the status
503. With --batch-delay requests for one model wait for others and share a run, with
the same results. All inputs and outputs of the model then have the same first axis,
as declared or inferred. In place of the maps of a ZipMap a client gets the
tensor that they are made of. A body of type image/png or image/jpeg becomes the
input of a model that takes one picture, by the same flags as in ashlar run. A model that can't be served is left out, with a
warning. GET /v2/models lists the models.

With --text it serves the encoder of a folder, as ashlar embed reads it: one that
gives vectors at /v1/embeddings, in the form of OpenAI, and one that scores pairs at
/rerank. A folder without tokenizer.json, or with parts that aren't known, is an
error.

GET /metrics gives counts and times as
Prometheus reads them. Errors are logged to standard error.`,
		Example: `  ashlar serve testdata/digits.onnx
  ashlar serve --listen :8000 --batch-delay 2ms digits=testdata/digits.onnx
  ashlar serve --text examples/embeddings/encoder
  curl http://127.0.0.1:8000/v2/models
  curl http://127.0.0.1:8000/v2/models/digits
  curl -H 'Content-Type: image/png' --data-binary @testdata/seven.png http://127.0.0.1:8000/v2/models/digits/infer`,
		Args: arguments(0, -1, "models"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"onnx"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8000", "`address` to listen on; :8000 is all of this machine's, port 0 a free one")
	flags.StringArrayVar(&f.hosts, "host", nil, "a `name` besides localhost under which a proxy on this machine asks")
	flags.IntVar(&f.runs, "runs", 0, "run `N` requests at one time (default: as many as threads)")
	flags.IntVar(&f.queue, "queue", 1024, "let `N` requests wait for a run")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "the longest `duration` of a request that waits and runs, as 30s or 2m")
	flags.DurationVar(&f.slow, "body-timeout", 30*time.Second, "the longest `duration` of sending a body, and of taking an answer, as 30s")
	flags.Var(&f.body, "max-body", "refuse larger bodies of requests")
	flags.Var(&f.held, "max-held", "refuse requests while bodies, inputs and answers take more together")
	flags.Var(&p.limit, "max-memory", "refuse a run that needs more memory for weights and results: 2GiB, 500MB or none (default 4GiB)")
	flags.DurationVar(&f.wait, "batch-delay", 0, "the `duration` that a request waits for others to share a run, as 2ms (default: none)")
	flags.IntVar(&f.batch, "batch", 32, "let shared runs have `N` rows")
	flags.IntVar(&f.threads, "threads", 0, "compute with `N` threads (default: all)")
	flags.DurationVar(&f.grace, "grace", 30*time.Second, "the longest `duration` of requests after the server is told to end, as 30s")
	flags.BoolVar(&f.integers, "integers", false, "run operators between DequantizeLinear and QuantizeLinear nodes on the integers, as ashlar run does")
	flags.StringArrayVar(&f.certificates, "certificate", nil, "serve only if the certificate of a model holds on this machine: `[NAME=]FILE`")
	flags.BoolVar(&f.null, "null-nan", false, "take null among floats in JSON as NaN")
	f.pictures.register(c)
	flags.StringArrayVar(&f.texts, "text", nil, "serve the encoder of a folder: `[NAME=]FOLDER`")
	f.encoder.register(c)
	flags.IntVar(&f.limits.Texts, "max-texts", 2048, "refuse requests with more than `N` texts")
	flags.IntVar(&f.limits.Tokens, "max-tokens", 300_000, "refuse requests with more than `N` tokens")
	flags.BoolVar(&f.json, "log-json", false, "log as JSON")
	flags.BoolVar(&f.verbose, "verbose", false, "log every request")
	c.RunE = func(c *cobra.Command, args []string) error {
		for _, n := range []struct {
			flag string
			v    int
			most int
		}{{"runs", f.runs, 1 << 16}, {"queue", f.queue, 1 << 20}, {"batch", f.batch, 1 << 20}, {"threads", f.threads, mostThreads}} {
			if n.v < 0 || n.v > n.most {
				return usagef(c, "--%s can't be %d; it goes from 0 to %d", n.flag, n.v, n.most)
			}
		}
		for _, d := range []struct {
			flag string
			v    time.Duration
		}{{"timeout", f.timeout}, {"body-timeout", f.slow}, {"batch-delay", f.wait}, {"grace", f.grace}} {
			if d.v < 0 || d.v == 0 && d.flag != "batch-delay" {
				return usagef(c, "--%s can't be %v", d.flag, d.v)
			}
		}
		if err := f.pictures.check(p); err != nil {
			return err
		}
		if f.body < 0 || f.held < 0 {
			return usagef(c, "--max-body and --max-held can't be none")
		}
		if len(args)+len(f.texts) == 0 {
			return usagef(c, "it takes one or more models, 0 given; --text takes the folder of an encoder")
		}
		if f.limits.Texts < 1 || f.limits.Tokens < 1 {
			return usagef(c, "--max-texts and --max-tokens are 1 at least")
		}
		return p.serve(c.Context(), &f, args)
	}
	return c
}

// named splits NAME=MODEL. An argument that is a file as it stands has no name.
func named(arg string) (name, file string) {
	if _, err := os.Lstat(arg); err != nil {
		if name, file, ok := strings.Cut(arg, "="); ok {
			return name, file
		}
	}
	base := filepath.Base(arg)
	return strings.TrimSuffix(base, filepath.Ext(base)), arg
}

// serveTexts adds the encoders of --text to the models.
func (p *program) serveTexts(f *serveFlags, models []serve.Model, names map[string]bool) ([]serve.Model, []serve.Service, error) {
	var list []endpoints.Model
	for _, arg := range f.texts {
		name, folder, err := folderName(arg)
		if err != nil {
			return nil, nil, err
		}
		if names[name] {
			return nil, nil, fmt.Errorf("serve: --text: model %q: there are two models of this name; NAME=%s gives one another", name, folder)
		}
		names[name] = true
		m, err := p.encoder(folder, &f.encoder)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, endpoints.Model{Name: name, Vectors: m})
	}
	more, services, err := endpoints.New(&f.limits, list...)
	for i := range more {
		more[i].Integers = f.integers
	}
	return append(models, more...), services, err
}

func (p *program) serve(ctx context.Context, f *serveFlags, args []string) error {
	if f.threads > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(f.threads))
	}
	how := &slog.HandlerOptions{}
	if f.verbose {
		how.Level = slog.LevelDebug
	}
	var logs slog.Handler = slog.NewTextHandler(p.stderr, how)
	if f.json {
		logs = slog.NewJSONHandler(p.stderr, how)
	}
	var models []serve.Model
	var wrong []error
	names := make(map[string]bool)
	for _, arg := range args {
		name, file := named(arg)
		if name == "-" {
			name = "model"
		}
		if names[name] {
			return fmt.Errorf("serve: model %q: there are two models of this name; NAME=%s gives one another", name, file)
		}
		names[name] = true
		_, m, err := p.openModel(file)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		models = append(models, serve.Model{Name: name, Model: m, Integers: f.integers})
	}
	models, services, err := p.serveTexts(f, models, names)
	if err != nil {
		return errors.Join(append(wrong, err)...)
	}
	for _, arg := range f.certificates {
		name, file, ok := strings.Cut(arg, "=")
		if !ok && len(args) == 1 && len(models) == 1 {
			name, file = models[0].Name, arg
		}
		i := slices.IndexFunc(models, func(m serve.Model) bool { return m.Name == name && file != "" })
		if i < 0 {
			return errors.Join(append(wrong, fmt.Errorf("serve: --certificate %s: it is for none of the models; NAME=FILE says for which", arg))...)
		}
		var err error
		if models[i].Certificate, err = p.readCertificate(file); err != nil {
			return fmt.Errorf("%s: %w", file, disk.Bare(err))
		}
	}
	if len(models) == 0 {
		return errors.Join(wrong...)
	}
	if f.queue == 0 {
		f.queue = -1
	}
	s, err := serve.New(&serve.Options{MaxBody: int64(f.body), MaxHeld: int64(f.held), MaxMemory: int64(p.limit), MaxRuns: f.runs, MaxQueue: f.queue,
		Timeout: f.timeout, BodyTimeout: f.slow, BatchDelay: f.wait, MaxBatch: f.batch, NullNaN: f.null, Picture: f.pictures.served(p), Grace: f.grace, Hosts: f.hosts, Services: services, Log: slog.New(logs)}, models...)
	if s == nil {
		return errors.Join(append(wrong, err)...)
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		wrong = append(wrong, several.Unwrap()...)
	}
	if (f.certificates != nil || f.texts != nil) && wrong != nil {
		return errors.Join(wrong...)
	}
	for _, err := range wrong {
		fmt.Fprintf(p.stderr, "ashlar: warning: a model is left out: %v\n", err)
	}
	// The collector runs when the heap has doubled, hundreds of times a second if models are small. Memory that nobody touches
	// takes no memory, and lets requests make 64 MiB of garbage before it runs.
	untouched := make([]byte, 64<<20)
	defer runtime.KeepAlive(untouched)
	// Now a signal ends the server, and a second one the program.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", f.listen)
	if err != nil {
		var where *net.OpError
		if errors.As(err, &where) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("serve: can't listen on %s: %w; another --listen may be free", f.listen, where.Err)
		}
		return fmt.Errorf("serve: can't listen on %s: %w", f.listen, err)
	}
	fmt.Fprintf(p.out, "http://%s serves %s\n", l.Addr(), strings.Join(s.Names(), ", "))
	if err := p.out.Flush(); err != nil {
		l.Close()
		return err
	}
	return s.Serve(ctx, l)
}
