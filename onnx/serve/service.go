package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// service returns the service of a path, nil if there is none.
func (s *Server) service(path string) *Service {
	for i := range s.o.Services {
		if s.o.Services[i].Path == path {
			return &s.o.Services[i]
		}
	}
	return nil
}

// checkServices refuses services without an answer, and paths that something else has.
func (s *Server) checkServices() error {
	for i := range s.o.Services {
		v := &s.o.Services[i]
		switch {
		case v.Answer == nil:
			return fmt.Errorf("serve: %w: the service %.100q has no Answer", tensor.ErrValue, v.Path)
		case !strings.HasPrefix(v.Path, "/") || v.Path == "/v2" || strings.HasPrefix(v.Path, "/v2/") || v.Path == "/metrics":
			return fmt.Errorf("serve: %w: the service %.100q: its path begins with /, and is neither /metrics nor below /v2", tensor.ErrValue, v.Path)
		case s.service(v.Path) != v:
			return fmt.Errorf("serve: %w: there are two services %.100q", tensor.ErrValue, v.Path)
		}
	}
	return nil
}

// serves is the answer of a service to a request.
func (s *Server) serves(v *Service) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		header, err := headerOf(r)
		if err == nil && header >= 0 {
			err = refuse(http.StatusBadRequest, "the header %s isn't for this path", headerLength)
		}
		if err != nil {
			return err
		}
		return s.admitted(w, r, func(ctx context.Context, body []byte, held *int64) error {
			answer, err := v.Answer(ctx, body, s.runs(), func(n int64) error { return s.take(held, n) })
			var known *refusal
			switch {
			case err == nil:
				write(w, http.StatusOK, "application/json", answer)
				return nil
			case errors.As(err, &known):
				return known
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, ErrNotFound):
				return refuse(http.StatusNotFound, "%s", err)
			case errors.Is(err, tensor.ErrValue):
				return refuse(http.StatusBadRequest, "%s", err)
			}
			return err
		})
	}
}

// runs is the Run of a service for one request.
func (s *Server) runs() Run {
	var ran atomic.Bool
	return func(ctx context.Context, name string, in map[string]tensor.Any) (map[string]tensor.Any, error) {
		m := s.models[name]
		if m == nil {
			return nil, fmt.Errorf("%w: there is no model %.100q", ErrNotFound, name)
		}
		values := make(map[string]onnx.Value, len(in))
		for name, a := range in {
			values[name] = onnx.TensorValue(a)
		}
		out, err := m.compute(ctx, values, ran.Load())
		if err != nil {
			return nil, err
		}
		ran.Store(true)
		all := make(map[string]tensor.Any, len(out))
		for name, a := range out {
			if all[name], err = a.tensor(); err != nil {
				return nil, fmt.Errorf("output %q: %w", name, err)
			}
		}
		return all, nil
	}
}
