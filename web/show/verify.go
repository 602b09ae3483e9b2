package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Verdict tells whether the model is the receipt's, and whether it gives the receipt's results.
type Verdict struct {
	Answer string   `json:"answer"` // equal, differs, undecided; or model: all inputs are wanted, and the model is the receipt's
	What   string   `json:"what"`   // the first difference, or a reason
	Sides  []string `json:"sides,omitempty"`
	Value  string   `json:"value,omitempty"` // of this run, if it differs
	Has    string   `json:"has"`             // the numbers of the receipt's parts
	Root   string   `json:"root"`
	Wants  []string `json:"wants,omitempty"` // inputs that aren't given, with their types
}

// Verify runs the model again and compares with a receipt: see onnx.Verify. The files are the receipt, whose name ends in .json, and
// the inputs: arrays with the inputs' names, and npy files. An npy file has the name of an input, or the files are in the inputs' order.
func (f *File) Verify(ctx context.Context, files map[string]*io.SectionReader, order []string) (*Verdict, error) {
	if f.model == nil {
		return nil, errors.New("a receipt is verified with its model: open the ONNX file")
	}
	var r *receipt.Receipt
	var loose []tensor.Any
	given := make(map[string]onnx.Value)
	for _, name := range order {
		in := files[name]
		if strings.EqualFold(path.Ext(name), ".json") {
			b, err := io.ReadAll(io.NewSectionReader(in, 0, receipt.MaxSize+2))
			if err == nil {
				r, err = receipt.Parse(b)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", clip(name), err)
			}
			continue
		}
		list, err := arrays(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clip(name), err)
		}
		for key, t := range list {
			if key == "" {
				key = strings.TrimSuffix(path.Base(name), path.Ext(name))
				if !f.takes(key) {
					loose = append(loose, t)
					continue
				}
			}
			given[key] = onnx.TensorValue(t)
		}
	}
	if r == nil {
		return nil, errors.New("there is no receipt: a file .json that ashlar run --receipt wrote")
	}
	v := &Verdict{Has: r.String(), Root: r.Root().String()}
	for _, in := range r.Inputs {
		if _, ok := given[in.Name]; !ok && len(loose) > 0 {
			given[in.Name], loose = onnx.TensorValue(loose[0]), loose[1:]
		} else if !ok {
			v.Wants = append(v.Wants, clip(in.Name+" "+in.Type))
		}
	}
	if len(v.Wants) > 0 {
		return v, f.unrun(v, r)
	}
	d, err := onnx.Verify(ctx, f.model, r, given, nil)
	switch {
	case err != nil:
		v.Answer, v.What = "undecided", clip(err.Error())
	case d != nil:
		v.differs(&d.Difference)
		if t := d.Value.Tensor(); !t.IsZero() {
			v.Value = clip(tensor.Describe(t) + "\n" + tensor.Sprint(t, &tensor.PrintOptions{Threshold: 32}))
		}
	default:
		v.Answer = "equal"
	}
	return v, nil
}

func (v *Verdict) differs(d *receipt.Difference) {
	v.Answer, v.What, v.Sides = "differs", clip(d.What), []string{clip(d.A), clip(d.B)}
}

// unrun compares only the model, since inputs are missing.
func (f *File) unrun(v *Verdict, r *receipt.Receipt) error {
	if d := r.Check(); d != nil {
		v.differs(d)
		return nil
	}
	p, err := f.model.Digests()
	if err != nil {
		return err
	}
	of := func(p receipt.Program) *receipt.Receipt {
		return &receipt.Receipt{Kind: r.Kind, Rules: receipt.Rules, Program: p}
	}
	d, err := receipt.Compare(of(r.Program), of(p))
	switch {
	case r.Kind != receipt.Model:
		v.Answer, v.What = "undecided", "it is of a computation over arrays"
	case r.Rules != receipt.Rules:
		v.Answer, v.What = "undecided", fmt.Sprintf("it is of version %d of the rules, the page of version %d", r.Rules, receipt.Rules)
	case d != nil:
		v.differs(d)
	default:
		v.Answer = "model"
	}
	return err
}

// takes reports whether the model has an input with the name.
func (f *File) takes(name string) bool {
	for i := range f.model.Graph.Inputs {
		if f.model.Graph.Inputs[i].Name == name {
			return true
		}
	}
	return false
}

// arrays reads the arrays of a file; the array of an npy file has no name.
func arrays(in *io.SectionReader) (map[string]tensor.Any, error) {
	source := &format.Source{At: in, Size: in.Size(), Options: format.Options{MaxBytes: maxWhole}}
	found, err := source.Format()
	if err != nil {
		return nil, err
	}
	if found == nil || found.Name == "onnx" {
		return nil, errors.New("inputs are npy, npz or safetensors files")
	}
	file, err := found.Open(source)
	if err != nil {
		return nil, err
	}
	names := file.Names()
	if names == nil { // there is one array, without a name
		names = []string{""}
	}
	list := make(map[string]tensor.Any)
	for _, name := range names {
		if list[name], err = file.Tensor(name); err != nil {
			return nil, err
		}
	}
	return list, nil
}
