package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// mostWork is how many floating-point operations a run may take of which a receipt is kept: others take too long under emulation.
const mostWork = 50e6

// keep writes the receipt of a run, with all nodes, to the folder of -receipts, with the model and the inputs. Beside them is a
// file of arguments for ashlar verify, one a line. A model has one receipt; a run of unknown or of much work has none.
func (r *report) keep(op, name, file string, s *onnx.Session, m *onnx.Model, inputs map[string]onnx.Value) error {
	if r.receipts == "" {
		return nil
	}
	tensors := make(map[string]tensor.Any)
	for name, v := range inputs {
		tensors[name] = v.Tensor()
	}
	cost, err := m.Cost(tensors)
	if err != nil || cost.FLOPs > mostWork {
		return err
	}
	base := filepath.Join(r.receipts, strings.NewReplacer("/", "_", " ", "_").Replace(op+"-"+name))
	var made receipt.Receipt
	if _, err := s.RunValues(context.Background(), inputs, &onnx.Options{Receipt: &made, ReceiptNodes: true}); err != nil {
		return err
	}
	b, err := made.Encode()
	if err != nil {
		return err
	}
	model, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var args strings.Builder
	for i, name := range slices.Sorted(maps.Keys(tensors)) {
		in := fmt.Sprintf("%s.%d.npy", base, i)
		var b bytes.Buffer
		if err := npy.Write(&b, tensors[name], nil); err != nil {
			return err
		}
		if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&args, "-i\n%s=%s\n", name, in)
	}
	for end, b := range map[string][]byte{".json": b, ".onnx": model, ".args": []byte(args.String())} {
		if err := os.WriteFile(base+end, b, 0o666); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.out, "receipt  %-38s %6.2f MFLOP, %d nodes\n", op+"/"+name, float64(cost.FLOPs)/1e6, len(made.Nodes))
	return nil
}
