package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/gguf"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestLosses converts numbers that the type has no room for, or no such precision.
func TestLosses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for i, x := range []struct {
		in          tensor.Any
		as          string
		err, loss   string // the error without --allow-lossy; the warning with it
		want        string
		otherwiseOK bool
	}{
		{tensor.FromSlice([]float32{1, 2.5, 300}, 3).Any(), "int8", "1 of 3 numbers are out of the range of int8, such as 300", "2 of 3 numbers changed, in 1 tensor: by 0.5 at most, in x, root mean square 0.2887; 1 out of range", "[  1   2 127]", false},
		{tensor.FromSlice([]float32{1, 2.5, -3.25}, 3).Any(), "int8", "", "2 of 3 numbers changed, in 1 tensor: by 0.5 at most, in x, root mean square 0.3227", "[ 1  2 -3]", true},
		{tensor.FromSlice([]float32{1, 2}, 2).Any(), "int8", "", "", "[1 2]", true},
		{tensor.FromSlice([]float64{math.NaN(), 1}, 2).Any(), "int32", "such as NaN", "1 of 2", "", false},
		{tensor.FromSlice([]float64{70000, 1}, 2).Any(), "float16", "such as 70000", "1 of 2", "[inf  1.]", false},
		{tensor.FromSlice([]float64{math.Inf(1), math.NaN(), 1}, 3).Any(), "float16", "", "", "[inf nan  1.]", true},
		{tensor.FromSlice([]float64{0.1, 1}, 2).Any(), "float32", "", "1 of 2 numbers changed, in 1 tensor: by 1.49e-09 at most", "[0.1 1. ]", true},
		{tensor.FromSlice([]float64{1000, 1}, 2).Any(), "float8_e4m3", "such as 1000", "1 of 2", "", false},
		{tensor.FromSlice([]int32{-1, 70000}, 2).Any(), "uint16", "2 of 2 numbers are out of the range of uint16, such as -1", "2 of 2", "[65535  4464]", false},
		{tensor.FromSlice([]int64{1<<53 + 1, 1}, 2).Any(), "float64", "", "1 of 2 numbers changed, in 1 tensor", "", true},
		{tensor.FromSlice([]int64{1<<53 + 1, 1}, 2).Any(), "uint64", "", "", "[9007199254740993                1]", true},
		{tensor.FromSlice([]uint64{math.MaxUint64}, 1).Any(), "int64", "such as 1.8446744073709552e+19", "1 of 1", "[-1]", false},
		{tensor.FromSlice([]int64{math.MaxInt64, math.MinInt64}, 2).Any(), "float64", "", "1 of 2 numbers changed, in 1 tensor", "", true},
		{tensor.FromSlice([]int64{math.MaxInt64}, 1).Any(), "uint64", "", "", "", true},
		{tensor.FromSlice([]float32{0, 0.5, 2}, 3).Any(), "bool", "", "2 of 3", "[False  True  True]", true},
		{tensor.FromSlice([]bool{true, false}, 2).Any(), "float32", "", "", "[1. 0.]", true},
	} {
		in, out := at(fmt.Sprint(i, ".npy")), at(fmt.Sprint(i, "-out.npy"))
		if err := format.WriteFile(in, nil, format.Array{Name: "x", Tensor: x.in}); err != nil {
			t.Fatal(err)
		}
		args := []string{"convert", in, out, "--name", "x", "--dtype", x.as}
		if x.as == "float8_e4m3" {
			out = at("f8.safetensors")
			args[2] = out
		}
		c := newCall(nil).with(args...)
		if x.otherwiseOK != (c.code == 0) || !strings.Contains(c.err.String(), x.err) {
			t.Errorf("%d: exit %d: %s, want %s", i, c.code, c.err.String(), x.err)
		}
		if _, err := os.Stat(out); (err == nil) != x.otherwiseOK {
			t.Errorf("%d: %v", i, err)
		}
		c = newCall(nil).with(append(args, "--allow-lossy")...)
		if c.code != 0 || !strings.Contains(c.err.String(), x.loss) || x.loss == "" && c.err.Len() > 0 {
			t.Errorf("%d: exit %d: %q, want %q", i, c.code, c.err.String(), x.loss)
		}
		if c = newCall(nil).with("show", out); x.want != "" && !strings.Contains(c.out.String(), "\n"+x.want+"\n") {
			t.Errorf("%d: %s, want %s", i, c.out.String(), x.want)
		}
	}
}

// TestPictureLosses converts floats to pictures of 256 levels.
func TestPictureLosses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for i, x := range []struct {
		in        []float32
		end       string
		err, loss string // the error without --allow-lossy; the warning with it
	}{
		{[]float32{0, 1, 51. / 255, 17. / 255}, ".png", "", ""},
		{[]float32{0, 1, 0.5, 0.25}, ".png", "", "2 of 4 numbers changed, in 1 tensor: by 0.001961 at most, in x, root mean square 0.001096"},
		{[]float32{0, 1, 1.5, float32(math.NaN())}, ".png", "2 of 4 numbers are outside of 0 to 1, such as 1.5", "2 of 4 numbers changed, in 1 tensor; 2 out of range"},
		{[]float32{0, 1, -1, 1}, ".jpg", "1 of 4 numbers are outside", "1 of 4 numbers changed, in 1 tensor; 1 out of range"},
		{[]float32{51. / 255, 1, 17. / 255, 0}, ".jpg", "", "JPEG changes levels from 0 to 255, and PNG keeps them: 2 of 4 numbers changed, in 1 tensor: by 8 at most"},
	} {
		in, out := at(fmt.Sprint(i, ".npy")), at(fmt.Sprint(i, x.end))
		if err := format.WriteFile(in, nil, format.Array{Tensor: tensor.FromSlice(x.in, 2, 2).Any()}); err != nil {
			t.Fatal(err)
		}
		args := []string{"convert", in, out, "--name", "x"}
		if c := newCall(nil).with(args...); (c.code == 0) != (x.err == "") || !strings.Contains(c.err.String(), x.err) {
			t.Errorf("%d: exit %d: %s", i, c.code, c.err.String())
		}
		if c := newCall(nil).with(append(args, "--allow-lossy")...); c.code != 0 || !strings.Contains(c.err.String(), x.loss) || x.loss == "" && c.err.Len() > 0 {
			t.Errorf("%d: exit %d: %q", i, c.code, c.err.String())
		}
	}
}

// TestNames converts several tensors by name, in this order, and leaves integers as they are unless they are named.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	f, i, b := tensor.FromSlice([]float32{1, 2}, 2).Any(), tensor.FromSlice([]int64{1, 2}, 2).Any(), tensor.FromSlice([]bool{true, false}, 2).Any()
	if err := format.WriteFile(at("in.npz"), nil, format.Array{Name: "f", Tensor: f}, format.Array{Name: "i", Tensor: i}, format.Array{Name: "b", Tensor: b}); err != nil {
		t.Fatal(err)
	}
	if err := format.WriteFile(at("ints.npz"), nil, format.Array{Name: "i", Tensor: i}, format.Array{Name: "b", Tensor: b}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args string
		want string // the arrays of OUT, or the error
	}{
		{"in.npz out.npz --name i --name f", "i int64[2], f float32[2]"},
		{"in.npz out.npz --name i --name i", "comes twice"},
		{"in.npz out.npz --name i --name x", `no array "x"`},
		{"in.npz#i out.npz --name f", "two arrays"},
		{"in.npz#i out.npz --name i", "i int64[2]"},
		{"in.npz out.npy --name i --name f", "files hold one"},
		{"in.npz out.npz --dtype float16", "f float16[2], i int64[2], b bool[2]"},
		{"in.npz out.npz --dtype float16 --name i --name b", "i float16[2], b float16[2]"},
		{"in.npz#i out.npz --dtype float16", "i float16[2]"},
		{"in.npz out.npz --dtype int32", "f int32[2], i int32[2], b int32[2]"},
		{"in.npz out.npz --dtype complex64", "f complex64[2], i int64[2], b bool[2]"},
		{"in.npz out.safetensors --dtype int4", "i int64[2], f uint4, b bool[2]"},
		{"ints.npz out.npz --dtype float16", "none of its 2 arrays are floats"},
	} {
		var args []string
		for _, a := range strings.Fields(x.args) {
			if strings.Contains(a, ".") {
				a = at(a)
			}
			args = append(args, a)
		}
		os.Remove(args[1])
		c := newCall(nil).with(append([]string{"convert"}, args...)...)
		got := c.err.String()
		if c.code == 0 {
			out, err := format.Open(args[1])
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, name := range out.Names() {
				info, err := out.Info(name)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, name+" "+info.String())
			}
			out.Close()
			if got = strings.Join(list, ", "); got != x.want && !strings.Contains(x.args, "int4") {
				t.Errorf("%s: %s, want %s", x.args, got, x.want)
			}
			if strings.Contains(x.args, "int4") && !(strings.Contains(got, "i int64[2]") && strings.Contains(got, "b bool[2]") && strings.Contains(got, "int4")) {
				t.Errorf("%s: %s", x.args, got)
			}
			if kept := strings.Contains(c.err.String(), "kept as they are"); kept != (strings.Contains(got, "i int64") && strings.Contains(x.args, "--dtype")) {
				t.Errorf("%s: %s", x.args, c.err.String())
			}
		} else if !strings.Contains(got, x.want) {
			t.Errorf("%s: %s, want %s", x.args, got, x.want)
		}
	}
}

// TestMetadataSurvives converts files with metadata to others.
func TestMetadataSurvives(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	w := []tensor.Any{tensor.FromSlice(make([]float32, 64), 2, 32).Any()}
	values := []gguf.KV{{Key: "general.architecture", Value: "llama"}, {Key: "general.file_type", Value: uint32(0)}, {Key: "llama.rope.freq_base", Value: float32(0.1)}, {Key: "tokenizer.ggml.tokens", Value: []string{"a", "ä\n"}}, {Key: "general.alignment", Value: uint32(64)}}
	g, err := os.Create(at("a.gguf"))
	if err == nil {
		err = gguf.Write(g, []string{"w"}, w, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
	s, err := os.Create(at("a.safetensors"))
	if err == nil {
		err = safetensors.Write(s, []string{"w"}, w, map[string]string{"format": "pt", "ä": "{\n}"})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	convert := func(args ...string) string {
		c := newCall(nil).with(append([]string{"convert"}, args...)...)
		if c.code != 0 {
			t.Fatalf("%q: %s", args, c.err.String())
		}
		return c.err.String()
	}
	metadata := func(file string) map[string]any {
		f, err := format.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		list, err := format.MetadataOf(f)
		if err != nil {
			t.Fatal(err)
		}
		m := make(map[string]any)
		for _, x := range list {
			m[x.Key] = x.Value
		}
		return m
	}
	check := func(file string, want map[string]any) {
		t.Helper()
		if got := metadata(file); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", filepath.Base(file), got, want)
		}
	}
	all := make(map[string]any)
	for _, x := range values {
		all[x.Key] = x.Value
	}
	convert(at("a.gguf"), at("b.gguf"))
	check(at("b.gguf"), all)
	convert(at("a.gguf"), at("c.gguf"), "--dtype", "q8_0")
	delete(all, "general.file_type")
	all["general.quantization_version"] = uint32(2)
	check(at("c.gguf"), all)
	convert(at("a.gguf"), at("d.safetensors"))
	check(at("d.safetensors"), map[string]any{"general.architecture": "llama", "general.file_type": "0", "llama.rope.freq_base": "0.1", "tokenizer.ggml.tokens": `["a","ä\n"]`})
	convert(at("a.safetensors"), at("e.safetensors"), "--dtype", "float16")
	check(at("e.safetensors"), map[string]any{"format": "pt", "ä": "{\n}"})
	convert(at("e.safetensors"), at("f.gguf"))
	check(at("f.gguf"), map[string]any{"format": "pt", "ä": "{\n}"})
	if got := convert(at("a.safetensors"), at("g.npz")); !strings.Contains(got, "npz files have no place for metadata; IN has 2 keys of it") {
		t.Error(got)
	}
	convert(at("a.safetensors"), at("h.safetensors"), "--dtype", "bfp8")
	convert(at("h.safetensors"), at("i.safetensors"), "--dtype", "float32") // the description of the packed tensor goes
	check(at("i.safetensors"), map[string]any{"format": "pt", "ä": "{\n}"})
}
