package safetensors

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// micros are the formats of package pack by the types of the elements that scales of F8_E8M0 belong to.
var micros = map[string]string{"F4": "mxfp4", "F6_E2M3": "mxfp6_e2m3", "F6_E3M2": "mxfp6_e3m2", "F8_E4M3": "mxfp8_e4m3", "F8_E5M2": "mxfp8_e5m2"}

// A pair is a tensor whose elements and scales are entries of their own.
type pair struct {
	codes, scales string
	spec          pack.Spec
}

// scaled is a file whose microscaled tensors are joined with their scales, of which each becomes a pack.Tensor.
type scaled struct {
	tensors
	names []string
	pairs map[string]pair
}

// joined finds the pairs of a file. The names are from public checkpoints: N and N_scale (NVIDIA's ModelOpt, compressed-tensors), N.weight and
// N.scale (DeepSeek-V4), and N_blocks and N_scales, of U8, which are N (gpt-oss). A block has 32 elements of a row and one scale.
func joined(f tensors) tensors {
	s := scaled{tensors: f, pairs: map[string]pair{}}
	list := f.Names()
	there := make(map[string]bool, len(list))
	for _, name := range list {
		there[name] = true
	}
	used := map[string]bool{}
	for _, name := range list {
		whole, found := name, false
		var p pair
		of, weight := strings.CutSuffix(name, ".weight")
		if p, found = s.pair(name, name+"_scale", there); !found && weight {
			p, found = s.pair(name, of+".scale", there)
		}
		if of, blocks := strings.CutSuffix(name, "_blocks"); !found && blocks && !there[of] {
			p, found = s.pair(name, of+"_scales", there)
			whole = of
		}
		if !found || p.spec.DType() == dtype.Invalid {
			continue
		}
		s.pairs[whole] = p
		used[p.scales], used[p.codes] = true, true
	}
	for _, name := range list {
		of := strings.TrimSuffix(name, "_blocks")
		switch {
		case s.pairs[name].codes == name:
			s.names = append(s.names, name)
		case s.pairs[of].codes == name:
			s.names = append(s.names, of)
		case !used[name]:
			s.names = append(s.names, name)
		}
	}
	return s
}

// pair looks whether two entries fit as the elements and the scales of a tensor.
func (s *scaled) pair(codes, scales string, there map[string]bool) (p pair, ok bool) {
	if !there[scales] {
		return p, false
	}
	x, err := s.tensors.Info(codes)
	if err != nil {
		return p, false // it says so when it is asked for
	}
	y, err := s.tensors.Info(scales)
	if err != nil || len(x.Shape) == 0 {
		return p, false
	}
	name, shape, groups := micros[x.Type], x.Shape, slices.Clone(y.Shape)
	if x.Type == "U8" && y.Type == "U8" && strings.HasSuffix(codes, "_blocks") && len(y.Shape) > 0 && slices.Equal(x.Shape, append(slices.Clone(y.Shape), 16)) {
		name, shape = "mxfp4", slices.Clone(y.Shape)
		shape[len(shape)-1] *= 32
	} else if y.Type != "F8_E8M0" {
		return p, false
	}
	if len(groups) != len(shape) {
		return p, false
	}
	groups[len(groups)-1] *= 32
	f, err := pack.FormatNamed(name)
	if err != nil || !slices.Equal(groups, shape) {
		return p, false
	}
	p = pair{codes: codes, scales: scales}
	p.spec, err = pack.NewSpec(dtype.Float32, shape, &pack.Options{Format: f})
	return p, err == nil
}

func (s scaled) Names() []string { return slices.Clone(s.names) }

func (s scaled) Info(name string) (Info, error) {
	p, ok := s.pairs[name]
	if !ok {
		return s.tensors.Info(name)
	}
	i, err := s.tensors.Info(p.codes)
	return Info{Name: name, Type: i.Type, DType: p.spec.DType(), Shape: p.spec.Shape(), Offset: i.Offset, Bytes: p.spec.Bytes(), Packed: &p.spec}, err
}

func (s scaled) Tensor(name string, idx ...tensor.Index) (tensor.Any, error) {
	p, ok := s.pairs[name]
	if !ok {
		return s.tensors.Tensor(name, idx...)
	}
	t, err := s.blocks(name, p)
	if len(idx) == 0 || err != nil {
		return t, err
	}
	if t, err = t.Foreign().(pack.Tensor).Unpack(); err != nil {
		return tensor.Any{}, err
	}
	t, err = tensor.Slice(t, idx...)
	return t, cmp.Or(formats.WrongIndex("safetensors", name, err), err)
}

// blocks makes blocks of a pair's codes and scales.
func (s scaled) blocks(name string, p pair) (tensor.Any, error) {
	codes, err := s.tensors.Tensor(p.codes)
	if err != nil {
		return tensor.Any{}, err
	}
	scales, err := s.tensors.Tensor(p.scales)
	if err != nil {
		return tensor.Any{}, err
	}
	own, err := mem.AllocDirty(p.spec.Bytes())
	if err != nil {
		return tensor.Any{}, fail(-1, name, err, "%v", err)
	}
	six, packed := codes.Foreign().(pack.Tensor)
	if packed {
		if codes, err = six.Data(); err != nil {
			return tensor.Any{}, fail(-1, name, err, "%v", err)
		}
	}
	err = ram.Guard(func() error {
		dst := own.Bytes()
		from, _ := tensor.Bytes(codes)
		by, _ := tensor.Bytes(scales)
		size := len(dst) / max(len(by), 1)
		for i, scale := range by {
			block := dst[i*size : (i+1)*size]
			if block[0] = scale; codes.DType().Bits() == 4 {
				codes.DType().Pack(block[1:], from[32*i:32*i+32])
			} else {
				copy(block[1:], from[i*(size-1):])
			}
		}
		return nil
	})
	runtime.KeepAlive(codes)
	runtime.KeepAlive(scales)
	if err != nil {
		return tensor.Any{}, fail(-1, name, err, "%v", disk.Bare(err))
	}
	t, err := pack.FromBytes(p.spec, own, 0)
	return t.Any(), err
}
