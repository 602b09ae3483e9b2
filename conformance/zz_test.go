package main

import (
	"context"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"testing"
)

func TestZZ(t *testing.T) {
	r := &report{cache: "/root/.cache/ashlar/packages", root: ".."}
	l, err := quantizedRecognition(r)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range l[0].few {
		npy.WriteFile("/tmp/qm/lines/"+string(rune('a'+i))+".npy", s.x.Any(), nil)
	}
	m, err := onnx.Open(l[0].file)
	if err != nil {
		t.Fatal(err)
	}
	q, rep, err := quantize.Static(context.Background(), m, l[0].samples(l[0].few[:2]), &quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Floats {
		t.Log(f)
	}
	s, err := onnx.NewIntegerSession(q)
	t.Log(s.Integers())
}
