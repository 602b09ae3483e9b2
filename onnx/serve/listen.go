package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/tensor"
)

// Serve answers on a listener until ctx ends. Then it accepts no more connections and requests, and lets running requests
// finish within Options.Grace. It stops requests that take longer; they get an error. Serve returns nil when all requests
// have ended, or an error of the listener. It closes the listener. A server that stopped doesn't start again.
//
// Clients must send the head of a request within ten seconds. Requests from a web page of another origin are refused. On a
// loopback address, so are requests that name a host other than localhost, an address or one of Options.Hosts: otherwise a
// page on the web could reach the server through its visitor's browser.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if ctx == nil || l == nil {
		return fmt.Errorf("serve: %w: the context or the listener is nil", tensor.ErrValue)
	}
	h := &http.Server{
		Handler:           s.guard(l.Addr()),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		s.stop(h, 0)
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.o.Log.Info("stopping", "grace", s.o.Grace)
	l.Close()
	s.stop(h, s.o.Grace)
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// linger is how long connections stay open once the runs are over: a request that is on its way then gets an answer, which
// tells its client that the connection ends.
const linger = 200 * time.Millisecond

// stop ends all requests within grace, and all connections.
func (s *Server) stop(h *http.Server, grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	// A client may hold up its body or its answer; it gets a little longer than the runs.
	defer time.AfterFunc(grace+time.Second, func() { h.Close() }).Stop()
	if s.Shutdown(ctx) != nil {
		s.o.Log.Warn("requests were stopped, the grace was too short for them", "grace", grace)
	}
	time.Sleep(min(linger, grace))
	h.SetKeepAlivesEnabled(false)
	_ = h.Shutdown(context.Background()) // an error of the listener, which is closed
}

// guard refuses requests that browsers send for pages of others.
func (s *Server) guard(addr net.Addr) http.Handler {
	cross := http.NewCrossOriginProtection()
	tcp, ok := addr.(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := cross.Check(r)
		if err != nil {
			err = refuse(http.StatusForbidden, "a web page of another origin sent this: %v", err)
		} else if loopback && !s.local(r.Host) {
			err = refuse(http.StatusForbidden, "the host %.100q isn't this machine; ask for localhost, or name the host to the server", r.Host)
		}
		if err != nil {
			a := &answered{ResponseWriter: w, s: s}
			s.fail(a, err)
			s.count(nil, a.status, 0)
			return
		}
		s.ServeHTTP(w, r)
	})
}

// local reports whether a host is localhost, an address, which no page can be made to stand for, or one of Options.Hosts.
func (s *Server) local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return true
	}
	return host == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || net.ParseIP(host) != nil
}
