package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// An encoding is an attribute of Triton's dialect ttg, as MLIR prints it: #ttg.NAME<{KEY = VALUE, …}>.
type encoding struct {
	name  string
	attrs map[string]string
	shape []int // of !ttg.memdesc<64x32xf16, #ttg.NAME<{…}>, …>, or nil
	err   error // the first mistake
}

// parseEncoding reads an encoding: linear and shared_linear by ParseLinear; swizzled_shared, nvmma_shared and blocked by their
// attributes. The source of their meaning is Triton's lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp.
func parseEncoding(s string) (Linear, error) {
	const op = "Parse"
	e := encoding{attrs: map[string]string{}}
	if inner, ok := strings.CutPrefix(s, "!ttg.memdesc<"); ok {
		dims, rest, found := strings.Cut(inner, "#")
		if !found {
			return Linear{}, fail(op, layout.ErrSyntax, "want an encoding in the memdesc, as #ttg.swizzled_shared<{…}>")
		}
		s = "#" + rest
		for _, d := range strings.Split(strings.TrimSpace(dims), "x") {
			if n, err := strconv.Atoi(d); err == nil {
				e.shape = append(e.shape, n)
			}
		}
	} else if _, rest, ok := strings.Cut(s, " = #"); ok && !strings.Contains(s[:len(s)-len(rest)], "<") { // #shared = #ttg…
		s = "#" + rest
	}
	open := strings.IndexByte(s, '<')
	switch {
	case s[0] != '#':
		return ParseLinear(s)
	case open < 0:
		return Linear{}, fail(op, layout.ErrSyntax, "%q is an alias, which says nothing here; want what stands for it, as #ttg.swizzled_shared<{…}>", clip(s))
	}
	n := closing(s[open:])
	if n < 0 {
		return Linear{}, fail(op, layout.ErrSyntax, "want the bracket closed in %q", clip(s[open:]))
	}
	e.name = s[strings.LastIndexByte(s[:open], '.')+1 : open]
	body := s[open+1 : open+n]
	switch e.name {
	case "linear", "shared_linear":
		return ParseLinear(body)
	case "swizzled_shared", "shared", "nvmma_shared", "blocked":
	default:
		return Linear{}, fail(op, layout.ErrSyntax, "the encoding %q isn't read; linear, shared_linear, swizzled_shared, nvmma_shared and blocked are", clip(strings.TrimPrefix(e.name, "#")))
	}
	e.read(strings.Trim(body, "{} "))
	if e.name == "blocked" {
		return e.blocked()
	}
	return e.shared()
}

func (e *encoding) bad(format string, args ...any) {
	if e.err == nil {
		e.err = fail("Parse", layout.ErrSyntax, "#ttg."+e.name+": "+format, args...)
	}
}

// read splits KEY = VALUE, … into attributes.
func (e *encoding) read(body string) {
	for body != "" {
		key, rest, ok := strings.Cut(body, "=")
		key, rest = strings.TrimSpace(key), strings.TrimSpace(rest)
		end := len(rest)
		depth := 0
		for i, r := range rest {
			if strings.ContainsRune("[(<{", r) {
				depth++
			} else if strings.ContainsRune("])>}", r) {
				depth--
			}
			if r == ',' && depth == 0 {
				end = i
				break
			}
		}
		if _, twice := e.attrs[key]; !ok || twice {
			e.bad("want KEY = VALUE before %q", clip(body))
			return
		}
		e.attrs[key] = strings.TrimSpace(rest[:end])
		body = strings.TrimSpace(strings.TrimPrefix(rest[end:], ","))
	}
}

// ints takes an attribute that is a number or a list of n numbers. For n = -1 the length may be any; for n = 0 the attribute may be absent, too.
func (e *encoding) ints(key string, n int) []int {
	value, ok := e.attrs[key]
	delete(e.attrs, key)
	if n == 0 && !ok {
		return nil
	}
	var list []int
	for _, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(value, "["), "]"), ",") {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || v < 0 || v > 1<<30 || len(list) == 64 {
			ok = false
			break
		}
		list = append(list, v)
	}
	if !ok || n > 0 && len(list) != n {
		e.bad("want %s, got %q", key, clip(value))
		return make([]int, max(n, 1))
	}
	return list
}

// power takes an attribute that is a power of two.
func (e *encoding) power(key string) int {
	v := e.ints(key, 1)[0]
	if !isPower(v) {
		e.bad("%s is %d, no power of two", key, v)
		return 1
	}
	return v
}

// order takes the order of the axes, the fastest first.
func (e *encoding) order() []int {
	order := e.ints("order", -1)
	for d := range order {
		if !slices.Contains(order, d) {
			e.bad("order = %v isn't one of its axes", order)
			break
		}
	}
	return order
}

// blocks takes the attributes that split a tensor over the blocks of a cluster. It returns the number of parts along each axis.
func (e *encoding) blocks(rank int) []int {
	split := slices.Repeat([]int{1}, rank)
	if list := e.ints("CTASplitNum", 0); len(list) == rank {
		copy(split, list)
	} else if slices.Max(append(list, 1)) > 1 {
		e.bad("CTASplitNum = %v of %d axes", list, rank)
	}
	e.ints("CTAsPerCGA", 0)
	e.ints("CTAOrder", 0)
	for _, base := range strings.Split(strings.Trim(e.attrs["CGALayout"], "[] "), "],") {
		for d, v := range strings.Split(strings.Trim(base, "[ "), ",") {
			if n, _ := strconv.Atoi(strings.TrimSpace(v)); n > 0 && d < rank {
				split[d] *= 2
			}
		}
	}
	delete(e.attrs, "CGALayout")
	return split
}

// done returns the first mistake. An attribute that isn't known is one.
func (e *encoding) done() error {
	for key := range e.attrs {
		e.bad("the attribute %s isn't read", clip(key))
	}
	return e.err
}

// blocked returns the map from registers, lanes and warps to the coordinates of one tile of a block.
func (e *encoding) blocked() (Linear, error) {
	order := e.order()
	rank := len(order)
	used := make([]int, rank) // bits of each coordinate
	type bit struct{ dim, at int }
	var in []Dim
	var images []bit
	for i, key := range []string{"sizePerThread", "threadsPerWarp", "warpsPerCTA"} {
		sizes := e.ints(key, rank)
		in = append(in, Dim{Name: []string{"register", "lane", "warp"}[i]})
		for _, d := range order {
			if d >= len(sizes) || !isPower(sizes[d]) {
				e.bad("%s = %v isn't of powers of two", key, sizes)
				break
			}
			for range log2(sizes[d]) {
				images = append(images, bit{d, used[d]})
				used[d]++
				in[i].Bits++
			}
		}
	}
	for _, n := range e.blocks(rank) {
		if n > 1 {
			e.bad("a tile over several blocks isn't read")
		}
	}
	if err := e.done(); err != nil {
		return Linear{}, err
	}
	out, first := make([]Dim, rank), make([]int, rank)
	for d := range out {
		if out[d] = (Dim{"dim" + strconv.Itoa(d), used[d]}); d > 0 {
			first[d] = first[d-1] + used[d-1]
		}
	}
	if len(images) > 62 {
		return Linear{}, fail("Parse", layout.ErrLimit, "more than 62 bits")
	}
	cols := make([]uint64, len(images))
	for i, b := range images {
		cols[i] = 1 << (first[b.dim] + b.at)
	}
	return NewLinear(in, out, cols)
}

// shared returns the map from coordinates to offsets in the shared memory of one block. Its shape is the memdesc's. Without a
// memdesc, it is the smallest tile that has the whole swizzle. Columns go along the fastest axis, rows along the next. The
// columns of row r are XORed with vec · (r / perPhase mod maxPhase).
func (e *encoding) shared() (Linear, error) {
	var vec, perPhase, phases int
	var order, rows []int // rows: of a core matrix, or none
	cols := 0
	if e.name == "nvmma_shared" {
		width, size := e.ints("swizzlingByteWidth", 1)[0], e.power("elementBitWidth")
		if order = []int{1, 0}; e.attrs["transposed"] == "true" {
			order = []int{0, 1}
		}
		if !slices.Contains([]int{0, 32, 64, 128}, width) || size < 4 || size > 128 {
			e.bad("swizzlingByteWidth = %d of elements of %d bits", width, size)
			width, size = 128, 16
		}
		if v := e.attrs["fp4Padded"]; v != "" && v != "false" {
			e.bad("fp4Padded isn't read")
		}
		delete(e.attrs, "transposed")
		delete(e.attrs, "fp4Padded")
		vec, perPhase, phases = 128/size, 128/max(width, 16), max(width, 16)/16
		if width == 0 {
			perPhase, phases = 1, 1
		}
		rows, cols = []int{8}, 8*max(16, width)/size
		if width == 0 && e.shape != nil {
			e.bad("swizzlingByteWidth = 0 is read without a shape alone")
		}
	} else {
		vec, perPhase, phases, order = e.power("vec"), e.power("perPhase"), e.power("maxPhase"), e.order()
		if v, ok := e.attrs["hasLeadingOffset"]; ok && v == "false" {
			delete(e.attrs, "hasLeadingOffset")
		}
	}
	rank := len(order)
	split := e.blocks(rank)
	shape := slices.Repeat([]int{1}, rank)
	switch lead := len(e.shape) - rank; {
	case e.err != nil || rank == 0:
	case e.shape == nil && rows != nil:
		shape[order[0]], shape[order[1]] = cols, rows[0]
	case e.shape == nil:
		if shape[order[0]] = vec * phases; rank > 1 {
			shape[order[1]] = perPhase * phases
		}
	case lead < 0:
		e.bad("a memdesc of shape %v with an order of %d axes", e.shape, rank)
	default: // several buffers, one behind the other
		shape = slices.Clone(e.shape)
		for d, n := range split {
			if n = max(n, 1); shape[lead+d]%n != 0 {
				e.bad("axis %d of %v isn't split into %d blocks", d, e.shape, n)
			}
			shape[lead+d] /= n
		}
		for i := range order {
			order[i] += lead
		}
		for d := lead - 1; d >= 0; d-- {
			order = append(order, d)
		}
	}
	total := 0
	for _, n := range shape {
		if !isPower(n) {
			e.bad("the shape %v isn't of powers of two", shape)
			break
		}
		total += log2(n)
	}
	if total > 62 {
		e.bad("a shape of more than 62 bits")
	}
	if err := e.done(); err != nil {
		return Linear{}, err
	}
	// The bits of the coordinates in the order of memory.
	type bit struct{ dim, at int }
	var list []bit
	upto := make([]int, len(shape))
	take := func(d, n int) {
		for ; upto[d] < min(n, log2(shape[d])); upto[d]++ {
			list = append(list, bit{d, upto[d]})
		}
	}
	if rows != nil { // a core matrix, 256 rows of them, and the rest
		if shape[order[0]] < cols || shape[order[1]] < rows[0] {
			return Linear{}, fail("Parse", layout.ErrShape, "#ttg.%s: a shape of %v is smaller than its core matrix, %d by %d", e.name, shape, rows[0], cols)
		}
		take(order[0], log2(cols))
		take(order[1], 8)
		take(min(order[0], order[1]), 62)
		take(max(order[0], order[1]), 62)
	} else if len(order) > 0 {
		cols = shape[order[0]]
	}
	for _, d := range order {
		take(d, 62)
	}
	image := make(map[bit]uint64, len(list))
	for i, b := range list {
		image[b] = 1 << i
		if rank > 1 && b.dim == order[1] {
			phase := 1 << b.at / perPhase % phases
			image[b] ^= uint64(vec * phase % cols)
		}
	}
	var dims []Dim
	var images []uint64
	for d, n := range shape {
		dims = append(dims, Dim{"dim" + strconv.Itoa(d), log2(n)})
		for at := range log2(n) {
			images = append(images, image[bit{d, at}])
		}
	}
	return NewLinear(dims, []Dim{{"offset", total}}, images)
}
