package mesh

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/device/grid"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func fail(op string, err error, format string, args ...any) *tensor.Error {
	return &tensor.Error{Op: op, Text: fmt.Sprintf(format, args...), Err: err}
}

// Devices are the accelerators of a mesh.
type Devices struct {
	mesh grid.Mesh
	list []*device.Sim
}

// Open opens the accelerators of a mesh, all with the numbers of one model.
func Open(m grid.Mesh, model device.Model) (*Devices, error) {
	if _, err := m.Plan(nil, 1, make([]grid.OnAxis, len(m.Axes)), make([]grid.OnAxis, len(m.Axes))); err != nil {
		return nil, tensor.Wrap("mesh.Open", err)
	}
	d := &Devices{mesh: m}
	for range m.Len() {
		s, err := device.New(model, nil)
		if err != nil {
			return nil, tensor.Wrap("mesh.Open", err)
		}
		d.list = append(d.list, s)
	}
	return d, nil
}

// Mesh returns the mesh.
func (d *Devices) Mesh() grid.Mesh { return d.mesh }

// Device returns a device. It panics unless there is one with that number.
func (d *Devices) Device(i int) *device.Sim {
	if i < 0 || i >= len(d.list) {
		panic(fail("mesh.Device", tensor.ErrIndex, "there is no device %d of %d", i, len(d.list)))
	}
	return d.list[i]
}

// Close closes the devices: see device.Sim.Close. It returns the first failure.
func (d *Devices) Close() error {
	var errs []error
	for _, s := range d.list {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Tensor is a tensor on the devices of a mesh. Each device has its part as rows in its DRAM. The zero value is none.
type Tensor struct {
	devs  *Devices
	dtype dtype.DType
	shape []int
	on    []grid.OnAxis
	local []device.Tensor
}

// Distribute copies a tensor of the host to the devices: to each the part that the placement
// gives it. It fails if the placement doesn't fit, or has a partial axis: FromParts takes parts.
func Distribute(x tensor.Any, d *Devices, on ...grid.OnAxis) (Tensor, error) {
	const op = "mesh.Distribute"
	if x.IsZero() {
		return Tensor{}, fail(op, tensor.ErrDType, "there is no tensor: it is the zero value")
	}
	t := Tensor{d, x.DType(), x.Shape(), slices.Clone(on), nil}
	for i, o := range on {
		if (o.Kind == grid.PartialSum || o.Kind == grid.PartialMax) && i < len(d.mesh.Axes) {
			return Tensor{}, fail(op, tensor.ErrAxis, "axis %s is %v; a tensor has no parts to add, and FromParts takes them", d.mesh.Axes[i].Name, o)
		}
	}
	return t.fill(op, func(i int, first, extent []int) (tensor.Any, error) {
		idx := make([]tensor.Index, len(first))
		for k := range first {
			idx[k] = tensor.R(first[k], first[k]+extent[k])
		}
		return x.Slice(idx...), nil
	})
}

// FromParts copies a tensor of the host to each device: its part of a tensor of the shape. On a partial axis
// these are addends. With several Parts, the tensor of a device has one more axis at the front, which counts them;
// with several such axes of the mesh, it has theirs in the mesh's order. FromParts fails if the placement doesn't
// fit, or a part has another type or shape.
func FromParts(d *Devices, shape []int, on []grid.OnAxis, parts ...tensor.Any) (Tensor, error) {
	const op = "mesh.FromParts"
	if len(parts) != len(d.list) || parts[0].IsZero() {
		return Tensor{}, fail(op, tensor.ErrShape, "%d parts for %d devices", len(parts), len(d.list))
	}
	t := Tensor{d, parts[0].DType(), slices.Clone(shape), slices.Clone(on), nil}
	lead := leading(on)
	return t.fill(op, func(i int, first, extent []int) (tensor.Any, error) {
		if want := append(slices.Clone(lead), extent...); parts[i].IsZero() || parts[i].DType() != t.dtype || !slices.Equal(parts[i].Shape(), want) {
			return tensor.Any{}, fail(op, tensor.ErrShape, "the part of device %v is %s; want %v of shape %v", d.mesh.Coord(i), tensor.Describe(parts[i]), t.dtype, want)
		}
		return parts[i], nil
	})
}

// leading is the axes before a part's: the numbers of addends.
func leading(on []grid.OnAxis) (lead []int) {
	for _, o := range on {
		if several(o) {
			lead = append(lead, o.Parts)
		}
	}
	return lead
}

func several(o grid.OnAxis) bool {
	return (o.Kind == grid.PartialSum || o.Kind == grid.PartialMax) && o.Parts > 1
}

// fill copies the part of each device there.
func (t Tensor) fill(op string, part func(i int, first, extent []int) (tensor.Any, error)) (Tensor, error) {
	t.local = make([]device.Tensor, len(t.devs.list))
	for i, dev := range t.devs.list {
		first, extent, err := t.devs.mesh.Box(t.shape, t.on, i)
		var x tensor.Any
		if err == nil {
			x, err = part(i, first, extent)
		}
		if err == nil {
			t.local[i], err = device.ToDevice(x, dev, device.MemoryConfig{})
		}
		if err != nil {
			t.Deallocate()
			return Tensor{}, tensor.Wrap(op, err)
		}
	}
	return t, nil
}

// Shape returns the shape of the whole tensor.
func (t Tensor) Shape() []int { return slices.Clone(t.shape) }

// DType returns the type of the elements.
func (t Tensor) DType() dtype.DType { return t.dtype }

// On returns the placement.
func (t Tensor) On() []grid.OnAxis { return slices.Clone(t.on) }

// String writes the type, the shape, the placement and the mesh.
func (t Tensor) String() string {
	if t.devs == nil {
		return "mesh.Tensor{}"
	}
	var on []string
	for _, o := range t.on {
		on = append(on, o.String())
	}
	return fmt.Sprintf("%v%s %s on %v", t.dtype, strings.ReplaceAll(fmt.Sprint(t.shape), " ", ","), strings.Join(on, " "), t.devs.mesh)
}

// Deallocate releases the memory on every device.
func (t Tensor) Deallocate() {
	for _, l := range t.local {
		l.Deallocate()
	}
}

// Part returns the tensor of one device, as FromParts takes it. It fails if there is no such device, or the tensor is deallocated.
func (t Tensor) Part(i int) (tensor.Any, error) {
	const op = "mesh.Part"
	if i < 0 || i >= len(t.local) {
		return tensor.Any{}, fail(op, tensor.ErrIndex, "there is no device %d of %d", i, len(t.local))
	}
	x, err := host(t.local[i])
	if err != nil {
		return tensor.Any{}, tensor.Wrap(op, err)
	}
	return x, nil
}

// host copies a tensor from its device.
func host(t device.Tensor) (tensor.Any, error) {
	p, err := device.FromDevice(t)
	if err != nil {
		return tensor.Any{}, err
	}
	defer p.Close()
	return p.Unpack()
}

// Gather copies the tensor to the host. Each element comes from the first device that has it. Parts are
// combined before, as To(R, …) does, and come from one device. Gather fails if the tensor is deallocated.
func (t Tensor) Gather() (tensor.Any, error) {
	const op = "mesh.Gather"
	if t.devs == nil {
		return tensor.Any{}, fail(op, tensor.ErrClosed, "the tensor is the zero value")
	}
	whole := t
	next := slices.Clone(t.on)
	for i := range next {
		if next[i].Kind == grid.PartialSum || next[i].Kind == grid.PartialMax {
			next[i] = grid.OnAxis{}
		}
	}
	if !slices.Equal(next, t.on) {
		var err error
		if whole, _, err = t.To(next...); err != nil {
			return tensor.Any{}, tensor.Wrap(op, err)
		}
		defer whole.Deallocate()
	}
	out, err := tensor.Make(t.dtype, t.shape...)
	if err != nil {
		return tensor.Any{}, tensor.Wrap(op, err)
	}
	var seen [][]int // the boxes that came: two are equal, or have no element in common
	for i, l := range whole.local {
		first, extent, err := t.devs.mesh.Box(t.shape, whole.on, i)
		if err != nil {
			return tensor.Any{}, tensor.Wrap(op, err)
		}
		if slices.Contains(extent, 0) || slices.ContainsFunc(seen, func(f []int) bool { return slices.Equal(f, first) }) {
			continue
		}
		seen = append(seen, first)
		x, err := host(l)
		if err != nil {
			return tensor.Any{}, tensor.Wrap(op, err)
		}
		idx := make([]tensor.Index, len(first))
		for k := range first {
			idx[k] = tensor.R(first[k], first[k]+extent[k])
		}
		if err := tensor.Copy(out.Slice(idx...), x); err != nil {
			return tensor.Any{}, tensor.Wrap(op, err)
		}
	}
	return out, nil
}

// To returns the tensor in another placement, in new memory, and the exchange that led there. The bits are those
// that Plan's order gives. It fails as grid.Mesh.Plan does, if the operator has no such type, and if t is deallocated.
func (t Tensor) To(on ...grid.OnAxis) (Tensor, *grid.Exchange, error) {
	const op = "mesh.To"
	if t.devs == nil {
		return Tensor{}, nil, fail(op, tensor.ErrClosed, "the tensor is the zero value")
	}
	e, err := t.devs.mesh.Plan(t.shape, t.dtype.Size(), t.on, on)
	if err != nil {
		return Tensor{}, nil, tensor.Wrap(op, err)
	}
	now := t
	for k := range e.Stages {
		next, err := now.stage(&e.Stages[k])
		if k > 0 {
			now.Deallocate()
		}
		if err != nil {
			return Tensor{}, nil, tensor.Wrap(op, err)
		}
		now = next
	}
	return now, e, nil
}

// stage does the steps of a stage.
func (t Tensor) stage(s *grid.Stage) (next Tensor, err error) {
	next = Tensor{t.devs, t.dtype, t.shape, s.On, make([]device.Tensor, len(t.local))}
	defer func() {
		if err != nil {
			next.Deallocate()
		}
	}()
	for i, dev := range t.devs.list {
		_, extent, err := t.devs.mesh.Box(t.shape, s.On, i)
		if err != nil {
			return next, err
		}
		spec, err := pack.NewSpec(t.dtype, append(leading(s.On), extent...), nil)
		if err != nil {
			return next, err
		}
		if next.local[i], err = device.Empty(spec, dev, device.MemoryConfig{}); err != nil {
			return next, err
		}
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		has := map[int]tensor.Any{} // the boxes on each device
		if s.Axis >= 0 {
			sum, err := t.combine(step, s.Axis)
			if err != nil {
				return next, err
			}
			for _, d := range step.To {
				has[d] = sum
			}
		} else {
			var own []int // the devices that hand their own box on, or keep it
			for _, l := range step.Links {
				own = append(own, l[0])
			}
			for _, d := range append(own, step.To...) {
				if !slices.Contains(step.From, d) || !has[d].IsZero() {
					continue
				}
				if has[d], err = t.read(d, step, -1, 0); err != nil {
					return next, err
				}
			}
			for _, l := range step.Links {
				has[l[1]] = has[l[0]]
			}
		}
		for _, d := range step.To {
			box, err := next.view(d, step, -1, 0)
			if err != nil {
				return next, err
			}
			err = device.CopyToDevice(box, has[d])
			box.Deallocate()
			if err != nil {
				return next, err
			}
		}
	}
	return next, nil
}

// combine adds the parts of a step's devices, or finds the largest.
func (t Tensor) combine(step *grid.Step, axis int) (sum tensor.Any, err error) {
	name := "Add"
	if t.on[axis].Kind == grid.PartialMax {
		name = "Max"
	}
	combine, ok := op.Lookup(name)
	if !ok {
		return sum, fail("mesh.To", tensor.ErrDType, "there is no operator %s", name)
	}
	for _, d := range step.From {
		for part := range max(t.on[axis].Parts, 1) {
			x, err := t.read(d, step, axis, part)
			if err != nil {
				return sum, err
			}
			if sum.IsZero() {
				sum = x
				continue
			}
			out, err := combine.Run(&op.Call{Inputs: []tensor.Any{sum, x}, Attrs: op.AttrMap(nil)})
			if err != nil {
				return sum, err
			}
			sum = out[0]
		}
	}
	return sum, nil
}

// read copies a step's box from a device: of one part if axis isn't -1, else with all.
func (t Tensor) read(d int, step *grid.Step, axis, part int) (tensor.Any, error) {
	box, err := t.view(d, step, axis, part)
	if err != nil {
		return tensor.Any{}, err
	}
	defer box.Deallocate()
	return host(box)
}

// view returns a step's box on a device.
func (t Tensor) view(d int, step *grid.Step, axis, part int) (device.Tensor, error) {
	first, extent, err := t.devs.mesh.Box(t.shape, t.on, d)
	if err != nil {
		return device.Tensor{}, err
	}
	shape, stride := slices.Clone(step.Extent), make([]int, len(extent))
	off, unit := 0, 1
	for k := len(extent) - 1; k >= 0; k-- {
		stride[k] = unit
		off += (step.First[k] - first[k]) * unit
		unit *= extent[k]
	}
	for i, o := range slices.Backward(t.on) {
		switch {
		case !several(o):
			continue
		case i == axis:
			off += part * unit
		default:
			shape, stride = slices.Insert(shape, 0, o.Parts), slices.Insert(stride, 0, unit)
		}
		unit *= o.Parts
	}
	lay, err := layout.New(shape, stride)
	if err != nil {
		return device.Tensor{}, err
	}
	return t.local[d].View(off, lay)
}
