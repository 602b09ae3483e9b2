package steps

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// A sequence has the choices of each step. A step without any is left out. Every list of numbers is a sequence: a choice
// counts modulo the number of alternatives, of which 0 is the simplest, and absent choices are 0.
type sequence [][]int

func (q sequence) String() string {
	steps := make([]string, len(q))
	for i, list := range q {
		steps[i] = strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
	}
	return strings.TrimRight(strings.Join(steps, ";"), ";")
}

// parse reads the text of a sequence.
func parse(text string) (q sequence, err error) {
	for _, step := range strings.Split(text, ";") {
		var list []int
		for _, word := range strings.FieldsFunc(step, func(r rune) bool { return r == ',' }) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("step %q: %q is no choice", step, word)
			}
			list = append(list, n)
		}
		q = append(q, list)
	}
	return q, nil
}

// A choice source draws choices and notes them, or plays them.
type choices struct {
	rng  *rand.Rand // nil to play
	list []int
	at   int
}

// pick chooses among n alternatives.
func (s *choices) pick(n int) int {
	if s.rng != nil {
		v := s.rng.IntN(n)
		s.list = append(s.list, v)
		return v
	}
	if s.at >= len(s.list) {
		return 0
	}
	s.at++
	return s.list[s.at-1] % n
}

// weighted chooses among alternatives that are drawn as often as the odds say.
func (s *choices) weighted(odds []int) int {
	if s.rng == nil {
		return s.pick(len(odds))
	}
	sum := 0
	for _, o := range odds {
		sum += o
	}
	v := s.rng.IntN(sum)
	for i, o := range odds {
		if v -= o; v < 0 {
			s.list = append(s.list, i)
			return i
		}
	}
	panic("unreachable")
}

// rare is 1 once in n draws.
func (s *choices) rare(n int) bool { return s.weighted([]int{n - 1, 1}) == 1 }

// perm chooses a permutation: all zeros is the identity.
func (s *choices) perm(n int) []int {
	p := seq(n)
	for i := range p {
		j := i + s.pick(n-i)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

func of1[T any](s *choices, list ...T) T { return list[s.pick(len(list))] }

// A running is a sequence at work.
type running struct {
	s        *choices
	dir      string // for files, once there is one
	step     int
	slots    [][]*value
	regions  []*region
	storages int
	arena    []byte
	arrays   []*stored
	text     []string
	ends     []func()
	count    map[string]int // how often each thing happened, may be nil
}

// A fault is a difference from the model.
type fault struct{ text string }

func (r *running) fail(format string, args ...any) { panic(fault{fmt.Sprintf(format, args...)}) }

func (r *running) say(format string, args ...any) {
	r.text = append(r.text, fmt.Sprintf(format, args...))
}

func (r *running) met(what string) {
	if r.count != nil {
		r.count[what]++
	}
}

// most is how many steps a sequence has.
const most = 30

// draw makes a sequence from a seed, and runs it.
func draw(seed uint64, count map[string]int) (q sequence, r *running, text string) {
	q = make(sequence, most)
	r = &running{count: count}
	rng := rand.New(rand.NewPCG(seed, 63))
	text = r.all(func(i int) *choices { return &choices{rng: rng} }, func(i int, s *choices) { q[i] = s.list })
	return q, r, text
}

// play runs a sequence. It returns what differs.
func play(q sequence) (r *running, text string) {
	r = &running{}
	text = r.all(func(i int) *choices {
		if i >= len(q) || q[i] == nil {
			return nil
		}
		return &choices{list: q[i]}
	}, func(int, *choices) {})
	return r, text
}

// all runs the steps.
func (r *running) all(source func(i int) *choices, done func(i int, s *choices)) (text string) {
	i := 0
	var s *choices
	defer func() {
		for _, f := range r.ends {
			f()
		}
		if e := recover(); e != nil {
			f, ok := e.(fault)
			if text = f.text; !ok {
				buf := make([]byte, 1<<14)
				text = fmt.Sprintf("panic: %v\n%s", e, buf[:runtime.Stack(buf, false)])
			}
			text = fmt.Sprintf("step %d: %s", i, text)
			if s != nil && i < most {
				done(i, s)
			}
		}
	}()
	r.arena = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([][2]uint64, arenaSize/16)))), arenaSize)
	r.regions = []*region{{r.arena, make([]byte, arenaSize)}}
	for ; i < most; i++ {
		if s = source(i); s == nil {
			r.slots = append(r.slots, nil)
			continue
		}
		r.s, r.step = s, i
		r.slots = append(r.slots, nil)
		k := s.weighted(odds)
		r.met("step " + kinds[k].name)
		kinds[k].do(r)
		done(i, s)
		r.check()
	}
	r.pairs()
	return ""
}

// A kind is a kind of step.
type kind struct {
	name string
	odds int
	do   func(r *running)
}

var (
	kinds []kind
	odds  []int
)

func init() {
	kinds = []kind{{"root", 4, (*running).root}, {"view", 9, (*running).viewed}, {"write", 6, (*running).written}, {"copy", 2, (*running).copies}, {"operator", 12, (*running).operate},
		{"cast", 2, (*running).casts}, {"file", 2, (*running).filed}, {"bits", 1, (*running).bits}, {"parts", 1, (*running).parts}, {"wrong", 2, (*running).wrong}}
	for _, k := range kinds {
		odds = append(odds, k.odds)
	}
}

// add puts a value into the slot of this step.
func (r *running) add(v view, t tensor.Any) *value {
	lay := t.Layout()
	x := &value{v, fmt.Sprintf("v%d", r.step), t, lay.Flat()}
	if n := len(r.slots[r.step]); n > 0 {
		x.name += string(rune('a' + n - 1))
	}
	r.slots[r.step] = append(r.slots[r.step], x)
	if !slices.Equal(t.Shape(), v.shape) || t.DType() != v.d {
		r.fail("%s is %v, want %v%v", x.name, tensor.Describe(t), v.d, v.shape)
	}
	for how := range 5 {
		if got, want := typeOf[v.d].elems(t, how), v.array().b; !bytes.Equal(got, want) {
			r.fail("%s, read in way %d, has %s, want %s", x.name, how, show(v.d, got), show(v.d, want))
		}
	}
	return x
}

// live returns the values of all steps, the latest first.
func (r *running) live() (list []*value) {
	for _, slot := range slices.Backward(r.slots) {
		list = append(list, slot...)
	}
	return list
}

// ref chooses a live value that fits, nil where there is none. It is chosen by its step, so that it stays when another step goes.
func (r *running) ref(fits func(v *value) bool) *value {
	c := r.step - r.s.pick(r.step+1)
	for i := range r.slots {
		slot := r.slots[(c-i+len(r.slots))%len(r.slots)]
		for _, v := range slices.Backward(slot) {
			if fits(v) {
				return v
			}
		}
	}
	return nil
}

// subject chooses any live value, and makes one if there is none.
func (r *running) subject(fits func(v *value) bool) *value {
	if v := r.ref(fits); v != nil {
		return v
	}
	d := r.dtype(func(d dtype.DType) bool { return fits(&value{view: view{d: d, shape: []int{1, 2}}}) })
	return r.make(d, r.shape())
}

// dtype chooses an element type.
func (r *running) dtype(fits func(d dtype.DType) bool) dtype.DType {
	c := r.s.pick(len(types))
	for i := range types {
		if d := types[(c+len(types)-i)%len(types)].d; fits(d) {
			return d
		}
	}
	return dtype.Int32
}

// shape chooses a shape of at most 300 elements.
func (r *running) shape() []int {
	shape := make([]int, of1(r.s, 1, 2, 1, 2, 3, 2, 0, 3, 4))
	for k := range shape {
		if shape[k] = of1(r.s, 2, 1, 3, 2, 3, 4, 5, 2, 3, 7); r.s.rare(16) {
			shape[k] = of1(r.s, 0, 1, 33, 70, 16)
		}
		if size(shape[:k+1]) > 300 {
			shape[k] = 1
		}
	}
	return shape
}

const (
	arenaSize = 8192
	partStart = 6144 // where elements of types that not all bytes are begin, each type in 128 bytes
)

var partialAt = map[dtype.DType]int{}

func init() {
	for _, t := range types {
		if t.d.IsPartial() {
			partialAt[t.d] = partStart + 128*len(partialAt)
		}
	}
}

// make makes a tensor over a part of the arena, and sets its elements.
func (r *running) make(d dtype.DType, shape []int) *value {
	var a array
	seed := uint64(r.s.pick(1 << 16))
	switch r.s.pick(5) {
	case 0: // 0, 1, 2 and so on
		i := 0
		a = build(d, shape, func([]int) []byte { i++; return small1(d, i-1) })
	case 1, 2:
		x := optest.Random(rand.New(rand.NewPCG(seed, 1)), d, shape, false, false)
		a = array{d, shape, typeOf[d].elems(x, 0)}
	default:
		x := optest.Random(rand.New(rand.NewPCG(seed, 1)), d, shape, true, false)
		a = array{d, shape, typeOf[d].elems(x, 0)}
	}
	v := r.over(d, shape)
	v.put(a)
	for i, at := range v.at {
		copy(v.on.real[at:], a.elem(i))
	}
	r.text[len(r.text)-1] += " <- " + show(d, a.b)
	return r.add(v.view, v.t)
}

// small1 is the element nearest to a small number.
func small1(d dtype.DType, i int) []byte {
	if d == dtype.Bool {
		i %= 2
	}
	if d == dtype.Float8E8M0 {
		return []byte{byte(120 + i%16)}
	}
	b, _, known := cast(d, dtype.Int32, unword(uint64(i), 4))
	if d.IsFixed() {
		b, _, _ = cast(d, dtype.Float32, mustEncode(dtype.Float32, float64(i)/64))
	}
	if !known {
		b = make([]byte, d.Size())
	}
	return b
}

func mustEncode(d dtype.DType, f float64) []byte {
	b, _ := encode(d, number{f: f})
	return b
}

// over makes a tensor over what a part of the arena has. It gets no slot.
func (r *running) over(d dtype.DType, shape []int) *value {
	es, room, from := d.Size(), partStart, 0
	if d.IsPartial() {
		room, from = 128, partialAt[d]
	}
	var lay layout.Layout
	var at []int
	if r.s.weighted([]int{2, 3}) == 0 {
		lay, _ = layout.RowMajor(shape...)
		at = seq(size(shape))
	} else {
		lay, at = r.laid(shape)
	}
	lo, hi := 0, -1
	if len(at) > 0 {
		lo, hi = slices.Min(at), slices.Max(at)
	}
	if (hi-lo+1)*es > room { // too long with gaps
		lay, _ = layout.RowMajor(shape...)
		at = seq(size(shape))
		lo, hi = 0, len(at)-1
	}
	if (hi+1-lo)*es > room {
		shape = []int{room / es}
		lay, _ = layout.RowMajor(shape...)
		at = seq(size(shape))
		lo, hi = 0, len(at)-1
	}
	align := min(es, 8)
	start := of1(r.s, 0, 1, 2, 4, 8, 3, 16, 5)
	if r.s.rare(3) {
		start = r.s.pick(room)
	}
	start = min(start*align, (room-(hi-lo+1)*es)/align*align)
	at = slices.Clone(at)
	for i := range at {
		at[i] = from + start + (at[i]-lo)*es
	}
	r.storages++
	v := view{d: d, shape: slices.Clone(shape), on: r.regions[0], at: at, storage: r.storages}
	t := typeOf[d].over(r.arena[from+start:][:(hi-lo+1)*es], lay)
	r.say("v%d := FromLayout(arena[%d:], %q) of %v", r.step, from+start, lay.String(), d)
	return &value{v, "", t, lay.Flat()}
}

// laid chooses a layout of a shape, nested or not, and lists its offsets in row-major order, the first leaf of a mode fastest.
func (r *running) laid(shape []int) (lay layout.Layout, at []int) {
	modes := make([][]int, len(shape))
	leaves := 0
	for i, e := range shape {
		modes[i] = []int{e}
		if r.s.rare(4) {
			for f := 2; f < e; f++ {
				if e%f == 0 {
					modes[i] = []int{f, e / f}
					break
				}
			}
		}
		leaves += len(modes[i])
	}
	flat, strides, step := slices.Concat(modes...), make([]int, leaves), 1
	for _, i := range r.s.perm(leaves) {
		step *= of1(r.s, 1, 1, 1, 2, 3)
		strides[leaves-1-i] = step
		step *= max(flat[leaves-1-i], 1)
		if r.s.rare(4) {
			strides[leaves-1-i] = -strides[leaves-1-i]
		}
	}
	var exts, strs []string
	k := 0
	for _, m := range modes {
		var e, s []string
		for _, x := range m {
			e, s = append(e, fmt.Sprint(x)), append(s, fmt.Sprint(strides[k]))
			k++
		}
		if len(m) > 1 {
			e, s = []string{"(" + strings.Join(e, ",") + ")"}, []string{"(" + strings.Join(s, ",") + ")"}
		}
		exts, strs = append(exts, e...), append(strs, s...)
	}
	lay = layout.MustParse("(" + strings.Join(exts, ",") + "):(" + strings.Join(strs, ",") + ")")
	for _, c := range coords(shape) {
		off, k := 0, 0
		for i, x := range c {
			for _, e := range modes[i] {
				off += x % e * strides[k]
				x /= e
				k++
			}
		}
		at = append(at, off)
	}
	return lay, at
}

func (r *running) root() {
	d := r.dtype(func(dtype.DType) bool { return true })
	r.make(d, r.shape())
}

// fresh notes a tensor in memory of its own.
func (r *running) fresh(t tensor.Any, a array) *value {
	if t.DType() != a.d || !slices.Equal(t.Shape(), a.shape) {
		r.fail("the result is %s, want %v%v", tensor.Describe(t), a.d, a.shape)
	}
	mem, off := t.Memory()
	for _, g := range r.regions {
		if within(g.real, mem) {
			r.fail("the result %s is in memory that another tensor has", tensor.Describe(t))
		}
	}
	lay := t.Layout()
	at := make([]int, 0, len(mem))
	for _, c := range coords(a.shape) {
		o, axis := lay.At(c)
		if axis >= 0 {
			r.fail("coordinate %v isn't in layout %v", c, lay)
		}
		at = append(at, (off+o)*a.d.Size())
	}
	r.storages++
	g := &region{mem, slices.Clone(mem)}
	v := view{d: a.d, shape: slices.Clone(a.shape), on: g, at: at, storage: r.storages, frozen: t.IsReadOnly()}
	if !v.single() {
		r.fail("elements of the result %v share memory", lay)
	}
	r.regions = append(r.regions, g)
	v.put(a)
	return r.add(v, t)
}

// within reports whether two pieces of memory have a byte in common.
func within(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// check compares all memory, and all live values.
func (r *running) check() {
	for k, g := range r.regions {
		if !bytes.Equal(g.real, g.want) {
			r.differ(k, g)
		}
	}
	for i, v := range r.live() {
		switch {
		case v.t.IsReadOnly() != v.frozen:
			r.fail("%s: IsReadOnly is %v", v.name, !v.frozen)
		case v.t.IsContiguous() != v.dense():
			r.fail("%s: IsContiguous is %v, and its elements stand at %v", v.name, !v.dense(), v.at)
		}
		how := i + r.step
		if len(v.at) > 40 {
			how = 2 // in rows
		}
		if got, want := typeOf[v.d].elems(v.t, how), v.array().b; !bytes.Equal(got, want) {
			r.fail("%s has %s, want %s", v.name, show(v.d, got), show(v.d, want))
		}
	}
}

// differ names the values that have another element than they should, or the byte that none has.
func (r *running) differ(k int, g *region) {
	for _, v := range r.live() {
		if got := typeOf[v.d].elems(v.t, 0); !bytes.Equal(got, v.array().b) {
			r.fail("%s has %s, want %s", v.name, show(v.d, got), show(v.d, v.array().b))
		}
	}
	for i := range g.real {
		if g.real[i] != g.want[i] {
			r.fail("byte %d of memory %d, which no tensor has, was written", i, k)
		}
	}
}

// pairs compares what tensors say of each other.
func (r *running) pairs() {
	all := r.live()
	for i, p := range all {
		for _, q := range all[:i+1] {
			if same := p.storage == q.storage; p.t.SameData(q.t) != same {
				r.fail("SameData of %s and %s is %v", p.name, q.name, !same)
			}
			if p.on != q.on && p.storage != q.storage {
				continue
			}
			if meet := meets(p.view, q.view); p.t.Overlaps(q.t) != meet {
				r.fail("Overlaps of %s and %s is %v", p.name, q.name, !meet)
			}
		}
	}
}

// meets reports whether two views have a byte in common.
func meets(a, b view) bool {
	if a.on != b.on || len(a.at) == 0 || len(b.at) == 0 {
		return false
	}
	has := make(map[int]bool, len(a.at)*a.d.Size())
	for _, at := range a.at {
		for k := range a.d.Size() {
			has[at+k] = true
		}
	}
	for _, at := range b.at {
		for k := range b.d.Size() {
			if has[at+k] {
				return true
			}
		}
	}
	return false
}

// try calls a function of the library, and returns its error.
func (r *running) try(f func()) error {
	err := tensor.Try(f)
	var e *tensor.Error
	if err != nil && !errors.As(err, &e) {
		r.fail("the error %v is no *tensor.Error", err)
	}
	return err
}

// show prints elements.
func show(d dtype.DType, b []byte) string {
	n := len(b) / d.Size()
	if d.IsComplex() || n > 24 {
		if len(b) > 48 {
			return fmt.Sprintf("%d elements, %x...", n, b[:48])
		}
		return fmt.Sprintf("%x", b)
	}
	var words []string
	for i := range n {
		e := b[i*d.Size():][:d.Size()]
		if x := decode(d, e); x.z != nil {
			words = append(words, x.z.String())
		} else if x.f != x.f {
			words = append(words, fmt.Sprintf("NaN(%x)", e))
		} else {
			words = append(words, fmt.Sprint(x.f))
		}
	}
	return "[" + strings.Join(words, " ") + "]"
}

// folder is where files go.
func (r *running) folder() string {
	if r.dir == "" {
		dir, err := os.MkdirTemp("", "steps")
		if err != nil {
			panic(err)
		}
		r.dir = dir
		r.ends = append(r.ends, func() { os.RemoveAll(dir) })
	}
	return r.dir
}
