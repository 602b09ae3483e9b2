package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// An origin says where figures come from.
type origin struct{ Machine, Commit, Date, Command string }

func (o origin) line() string {
	return fmt.Sprintf("\nMachine: %s. Commit: %s of %s. Command: `%s`.\n", o.Machine, o.Commit, o.Date, o.Command)
}

type (
	side struct {
		Milliseconds float64 `json:"ms"`
		Peak         int64   `json:"peak_kib"`
		Distance     *struct{ Absolute, Relative float64 }
	}
	row struct {
		Model          string
		Nodes, Threads int
		Peer           side `json:"onnxruntime"`
		Ours           side `json:"ashlar"`
		Ratio, Largest float64
		Last           *float64 `json:"channels_last"`
		Inexact, Error string
	}
	models struct {
		origin
		Processor, Level string
		Peer             string
		Rounds           int
		Rows             []row
	}
	ratio struct {
		Ratio     float64
		Rival     string
		Low, High float64
	}
	ratios struct {
		Command  string
		Machines []struct {
			origin
			Name, Taken string
		}
		Tables []struct {
			Name    string
			Threads int
			Rows    []struct {
				Case string
				On   map[string]*ratio
			}
		}
	}
	numpy struct {
		origin
		Rows []struct {
			Case             string
			Ratio, Low, High float64
			NumPy            float64 `json:"numpy_ms"`
			Ours             float64 `json:"ours_ms"`
		}
	}
	other struct {
		origin
		Name    string
		Columns []string
		Rows    [][]string
	}
	// results are the files of bench/results.
	results struct {
		models, exact models
		more          []models // of other machines: models-NAME.json
		rows          ratios
		numpy         numpy
		others        []other
	}
)

func read(folder string) (*results, error) {
	var r results
	for name, to := range map[string]any{"models": &r.models, "exact": &r.exact, "rows": &r.rows, "select": &r.numpy, "others": &r.others} {
		file := filepath.Join(folder, name+".json")
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, to); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	more, err := filepath.Glob(filepath.Join(folder, "models-*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range more {
		var m models
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		r.more = append(r.more, m)
	}
	return &r, nil
}

// A model has its rows by threads.
type model struct {
	name  string
	nodes int
	on    map[int]row
	exact *row
}

// measured are the models that ran on a machine.
func (r *results) measured(on models) (list []model) {
	for _, m := range on.Rows {
		if m.Error != "" {
			continue
		}
		if n := len(list); n > 0 && list[n-1].name == m.Model {
			list[n-1].on[m.Threads] = m
			continue
		}
		one := model{m.Model, m.Nodes, map[int]row{m.Threads: m}, nil}
		for _, e := range r.exact.Rows {
			if e.Model == m.Model && e.Ours.Distance != nil {
				one.exact = &e
			}
		}
		list = append(list, one)
	}
	return list
}

// A mean is geometric.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum, m.n = m.sum+math.Log(v), m.n+1 }

func (m mean) value() float64 { return math.Exp(m.sum / float64(m.n)) }

func (m mean) String() string { return m.format("%.2f") }

func (m mean) whole() string { return m.format("%.0f") }

func (m mean) format(format string) string {
	if m.n == 0 {
		return ""
	}
	return fmt.Sprintf(format, m.value())
}
