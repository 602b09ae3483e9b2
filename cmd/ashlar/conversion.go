package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/gguf"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A conversion is one call of convert.
type conversion struct {
	p         *program
	to        *format.Format
	out       string
	names     []string       // --name
	lossy     bool           // --allow-lossy
	fortran   bool           // --order F
	slice     []layout.Index // --slice
	sliceText string
	skip      bool // --skip
	digest    bool // --digest
	packed    bool // --layout, or a format as --dtype
	storage   pack.Options
	integers  pack.Integers // int4 and its like as --dtype; Bits is 0 for others
	several   bool          // scales
	chunks    []int         // --chunks
	axes      string        // --axes
	split     *gguf.Split   // --split; nil: one file

	named    []string      // the tensors that the command line names, nil: all are written
	metadata []format.Meta // of IN
}

func (v *conversion) run(in string) error {
	s, err := v.p.open(in)
	if err != nil {
		return err
	}
	items, err := v.items(s)
	if err != nil {
		return badSlice(in, v.sliceText, err)
	}
	var kept, whole []string
	all := loss{lossy: v.lossy}
	levels := loss{} // of JPEG
	for i := range items {
		x := &items[i]
		if len(items) > 1 && v.named == nil && v.leaves(x.Tensor.DType()) {
			whole = append(whole, x.Name)
			continue
		}
		if len(items) > 1 && !v.blocks(x.Tensor) {
			kept = append(kept, x.Name)
			continue
		}
		before := x.Tensor
		err := v.change(x)
		if err == nil {
			err = all.measure(x.Name, before, x.Tensor)
		}
		if err == nil && len(items) == 1 && (v.to.Name == "png" || v.to.Name == "jpeg") {
			err = all.pictured(x.Name, x.Tensor)
		}
		if err == nil && len(items) == 1 && v.to.Name == "jpeg" {
			levels, err = v.compressed(x)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", in, err)
		}
	}
	if len(whole) == len(items) && len(items) > 1 {
		return fmt.Errorf("%s: none of its %d arrays are floats: name those to convert by --name", in, len(items))
	}
	if whole != nil {
		fmt.Fprintf(v.p.stderr, "ashlar: warning: %s: kept as they are, since they aren't floats and --name doesn't name them%s\n", s.name, listed(whole))
	}
	if all.tensors > 0 {
		fmt.Fprintf(v.p.stderr, "ashlar: warning: %s: %v\n", s.name, &all)
	}
	if levels.tensors > 0 {
		fmt.Fprintf(v.p.stderr, "ashlar: warning: %s: JPEG changes levels from 0 to 255, and PNG keeps them: %v\n", s.name, &levels)
	}
	if len(kept) > 0 && len(kept)+len(whole) == len(items) {
		return fmt.Errorf("%s: none of its %d arrays are floats in rows of whole blocks of %s", in, len(items), v.storage.Format.Name())
	}
	if kept != nil {
		fmt.Fprintf(v.p.stderr, "ashlar: warning: %s: kept as they are, since they aren't floats in rows of whole blocks of %s%s\n", s.name, v.storage.Format.Name(), listed(kept))
	}
	if len(items) != 1 && !v.to.Several {
		names := make([]string, len(items))
		for i, x := range items {
			names[i] = x.Name
		}
		return fmt.Errorf("%s: it has %d arrays%s; %s files hold one: choose it with --name, or write an npz or safetensors file", in, len(items), listed(names), v.to.Name)
	}
	if err := v.write(items); err != nil {
		return fmt.Errorf("%s: %w", v.out, disk.Bare(err))
	}
	for i := range items {
		if !v.digest {
			break
		}
		if err := v.p.printDigest(items[i].Tensor, items[i].Name); err != nil {
			return fmt.Errorf("%s: %w", label(items[i].Name), err)
		}
	}
	return nil
}

// items reads the tensors to convert, or the parts of them.
func (v *conversion) items(s *source) ([]format.Array, error) {
	if !s.isModel() && !s.several() {
		if s.array != "" {
			return nil, s.single()
		}
		if len(v.names) > 1 {
			return nil, fmt.Errorf("%s: it holds one tensor, and --name gives %d names", s.name, len(v.names))
		}
		x := format.Array{Name: strings.Join(v.names, "")}
		if x.Name == "" && s.Path != "" {
			x.Name = strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path))
		}
		f, err := v.p.file(s)
		if err != nil {
			return nil, err
		}
		x.Tensor, err = f.Tensor("", v.slice...)
		if table, ok := f.(interface{ Columns() []string }); ok && v.sliceText == "" { // of a part nobody knows whose they are
			x.Columns = table.Columns()
		}
		return []format.Array{x}, s.in(err)
	}
	switch {
	case s.array != "" && v.names != nil && (len(v.names) > 1 || s.array != v.names[0]):
		return nil, fmt.Errorf("%s: #%s and --name %s are two arrays", s.name, s.array, strings.Join(v.names, " --name "))
	case s.array != "":
		v.named = []string{s.array}
	default:
		v.named = v.names
	}
	f, err := v.p.file(s)
	if err != nil {
		return nil, err
	}
	names := f.Names()
	for i, name := range v.named {
		if s.array = name; !slices.Contains(names, name) {
			return nil, s.noArray(names)
		}
		if slices.Contains(v.named[:i], name) {
			return nil, fmt.Errorf("%s: --name %s comes twice", s.name, name)
		}
	}
	if v.named != nil {
		names = v.named
	}
	if v.metadata, err = format.MetadataOf(f); err != nil {
		return nil, s.in(err)
	}
	if err := v.p.within(s, f, names, v.slice); err != nil {
		return nil, err
	}
	var items []format.Array
	var left []string
	for _, name := range names {
		t, err := f.Tensor(name, v.slice...)
		switch {
		case err == nil:
			x := format.Array{Name: name, Tensor: t}
			if s.is("zarr") {
				if i, err := f.Info(name); err == nil && i.Type != i.DType.String() {
					x.Type = i.Type
				}
			}
			items = append(items, x)
		case v.named != nil || !noTensor(err):
			return nil, s.in(err)
		case !v.skip:
			return nil, fmt.Errorf("%w; --skip leaves out such arrays", s.in(err))
		default:
			left = append(left, name)
		}
	}
	if left != nil {
		fmt.Fprintf(v.p.stderr, "ashlar: warning: %s: left out, as no tensor holds them%s\n", s.name, listed(left))
	}
	if left != nil && items == nil {
		return nil, fmt.Errorf("%s: no array is left", s.name)
	}
	return items, nil
}

// readScales reads the value of --scales, and takes the names of scaled integers out of
// --dtype.
func (v *conversion) readScales(text string) (err error) {
	d := &v.p.reading.dtype
	o := pack.Integers{Bits: 4, Unsigned: strings.HasPrefix(*d, "u")}
	switch *d {
	case "int8", "uint8":
		if o.Bits = 8; text == "" {
			return nil
		}
	case "int4", "uint4":
	default:
		if text != "" {
			return fmt.Errorf("it is about --dtype int4, uint4, int8 and uint8")
		}
		return nil
	}
	if text != "" && text != "one" {
		axis, block, blocks := strings.Cut(text, "/")
		if o.Axis, err = strconv.Atoi(axis); err == nil && blocks {
			o.Block, err = strconv.Atoi(block)
		}
		if err != nil || blocks && o.Block < 1 {
			return fmt.Errorf("want one, an axis, or an axis and a block, as 0/32")
		}
		v.several = true
	}
	*d, v.integers = "float32", o
	return nil
}

// blocks says whether a tensor can have the format of --dtype, if it is one of blocks.
func (v *conversion) blocks(t tensor.Any) bool {
	if !inRows(v.storage.Format) {
		return true
	}
	_, err := pack.NewSpec(dtype.Float32, t.Shape(), &pack.Options{Format: v.storage.Format})
	return err == nil && t.Rank() > 1 && t.DType().IsFloat() && t.DType() != dtype.Float64
}

// inRows says whether a format is one of blocks in rows, without tiles.
func inRows(f pack.Format) bool {
	if f == nil {
		return false
	}
	_, err := pack.NewSpec(dtype.Float32, []int{f.Group()}, &pack.Options{Format: f})
	return err == nil
}

// change converts the elements of a tensor, and packs it.
func (v *conversion) change(x *format.Array) (err error) {
	if holds := v.to.Name == "safetensors" || v.to.Name == "gguf" && gguf.TypeOf(x.Tensor) != ""; holds && v.sliceText == "" && v.p.reading.as == dtype.Invalid && !v.packed {
		return nil
	}
	if x.Tensor, err = unpacked(x.Tensor); err != nil {
		return err
	}
	if d := v.p.reading.as; d != dtype.Invalid && d != x.Tensor.DType() {
		if x.Tensor, err = cast(x.Tensor, d); err != nil {
			return err
		}
	}
	if x.Tensor.DType() != dtype.Int64 {
		x.Type = ""
	}
	storage := v.storage
	if o := v.integers; o.Bits > 0 {
		if v.several {
			o.Shape = append([]int{}, x.Tensor.Shape()...)
		}
		single, ok := tensor.As[float32](x.Tensor)
		if !ok {
			return fmt.Errorf("%s: it holds %v; integers of a few bits stand for float32", label(x.Name), x.Tensor.DType())
		}
		if storage.Format, err = pack.Calibrate(single, o); err != nil {
			return fmt.Errorf("%s: %w", label(x.Name), err)
		}
	}
	if storage.Format != nil || storage.Tile != (pack.Tile{}) {
		packed, err := pack.Pack(x.Tensor, &storage)
		if err != nil {
			return fmt.Errorf("%s: %w", label(x.Name), err)
		}
		x.Tensor = packed.Any()
	}
	return nil
}

// cast converts elements as op.Cast does; a value outside the range of a fixed-point format is an error.
func cast(t tensor.Any, d dtype.DType) (tensor.Any, error) {
	o, ok := op.Lookup("CastLike")
	if !ok {
		return tensor.Any{}, fmt.Errorf("there is no operator CastLike")
	}
	like, err := tensor.Make(d, 0)
	if err != nil {
		return tensor.Any{}, err
	}
	out, err := o.Run(&op.Call{Inputs: []tensor.Any{t, like}, Attrs: op.AttrMap(nil)})
	if err != nil {
		return tensor.Any{}, err
	}
	return out[0], nil
}

// write writes OUT.
func (v *conversion) write(items []format.Array) error {
	a := v.p.atomic()
	o := format.WriteOptions{Force: a.Force, Begun: a.Begun, Fortran: v.fortran, Axes: v.axes, Comma: v.p.reading.comma, Chunks: v.chunks, Metadata: v.carried()}
	for i := range items {
		x := &items[i]
		if columns := 1; v.p.reading.header && x.Columns == nil && x.Tensor.Rank() > 0 { // a row of names is wanted: IN's, or numbers
			if x.Tensor.Rank() > 1 {
				columns = x.Tensor.Dim(1)
			}
			for i := range columns {
				x.Columns = append(x.Columns, fmt.Sprint(i))
			}
		}
		if x.Type != "" && v.to.Name != "zarr" {
			fmt.Fprintf(v.p.stderr, "ashlar: warning: %s is %s; %s has no such type, and OUT has the int64 numbers\n", label(x.Name), x.Type, v.to.Name)
		}
		if axes := x.Tensor.Rank(); v.chunks != nil && len(v.chunks) != axes {
			return fmt.Errorf("%s: --chunks has %d extents, %s has %d axes", label(x.Name), len(v.chunks), tensor.Describe(x.Tensor), axes)
		}
	}
	if v.out == "-" {
		return v.to.Write(disk.Pieces(v.p.out), items, o)
	}
	switch {
	case zarr.Scheme(v.out) != "":
		return v.upload(items)
	case v.split != nil:
		_, err := gguf.WriteSplit(v.out, *v.split, &o, items...)
		return err
	}
	return v.to.WriteFile(v.out, &o, items...)
}

// readSplit reads the value of --split.
func (v *conversion) readSplit(text string) error {
	if text == "" {
		return nil
	}
	v.split = new(gguf.Split)
	n, err := strconv.Atoi(text)
	if v.split.Tensors = n; err == nil {
		if n < 1 {
			return fmt.Errorf("not positive")
		}
		return nil
	}
	var size memoryLimit
	err = size.Set(text)
	if v.split.Bytes = int64(size); err == nil && size < 1 {
		return fmt.Errorf("not positive")
	}
	return err
}

// upload writes OUT, a Zarr folder in a bucket. A signal ends it. It then removes the part that is there.
func (v *conversion) upload(items []format.Array) error {
	ctx, stop := signal.NotifyContext(v.p.command.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := zarr.URL(ctx, v.out)
	if err != nil {
		return err
	}
	return zarr.Put(ctx, store, items, v.chunks, "ashlar convert")
}
