package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/internal/classes"
	"github.com/ashlar-go/ashlar/internal/core/disk"
)

// labels are the names of classes.
type labels struct {
	file  string
	names []string
	asked bool // by --labels, and not found beside the model
}

// mostLabels is how many bytes a file of labels may have.
const mostLabels = 16 << 20

// findLabels reads the file of --labels or, without that, the one beside the model: digits.txt beside digits.onnx. It is
// used for outputs of as many classes as it has lines, and may be nil.
func findLabels(file string, model *source) (*labels, error) {
	asked := file != ""
	if !asked {
		if file = labelsBeside(model.Path); file == "" {
			return nil, nil
		}
	}
	f, err := os.Open(file)
	if err != nil && !asked {
		return nil, nil
	}
	var text []byte
	if err == nil {
		defer f.Close()
		text, err = io.ReadAll(io.LimitReader(f, mostLabels+1))
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, disk.Bare(err))
	case len(text) > mostLabels:
		return nil, fmt.Errorf("%s: it is over %s long, which isn't a list of labels", file, amount(mostLabels))
	}
	l := &labels{file: file, asked: asked}
	l.names = classes.Names(string(text))
	return l, nil
}

// labelsBeside is the file of labels beside a model, "" where there is none.
func labelsBeside(model string) string {
	ext := filepath.Ext(model)
	file := strings.TrimSuffix(model, ext) + ".txt"
	if info, err := os.Stat(file); !strings.EqualFold(ext, ".onnx") || err != nil || !info.Mode().IsRegular() || info.Size() > mostLabels {
		return ""
	}
	return file
}

// of returns the name of class i of n, its number where there are no labels for n classes.
func (l *labels) of(i, n int) string {
	if name := l.name(i, n); name != "" {
		return label(name)
	}
	return strconv.Itoa(i)
}

// name is of, with "" where there is none.
func (l *labels) name(i, n int) string {
	if l == nil || len(l.names) != n {
		return ""
	}
	return l.names[i]
}
