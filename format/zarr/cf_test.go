package zarr

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	bignum "math/big"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

var arrays = flag.Int("arrays", 200, "how many random CF arrays are compared with xarray; the model takes ten times as many")

// A packed is an array of numbers with CF attributes, as a program writes it.
type packed struct {
	version    int
	d          dtype.DType
	big        bool
	dims       bool              // xarray or kerchunk wrote it
	fill       string            // JSON
	attributes map[string]string // JSON
	elements   []uint64          // bits
	shape      []int             // [], [n] or [2,n]
	chunk      int               // along the last axis
	holes      bool              // the chunks at odd places along the last axis are absent
}

func (p *packed) String() string {
	return fmt.Sprintf("version %d, %v, dims %v, fill_value %s, attributes %v, %x of shape %v", p.version, p.d, p.dims, p.fill, p.attributes, p.elements, p.shape)
}

// values returns the values of the array in a store.
func (p *packed) values(name string) map[string][]byte {
	v := map[string][]byte{}
	attributes := maps.Clone(p.attributes)
	shape, chunks, axes := fmt.Sprint(p.shape), []int{}, []string{}
	for i := range p.shape {
		chunks, axes = append(chunks, 1), append(axes, fmt.Sprintf("%s-%d", name, i))
		if i == len(p.shape)-1 {
			chunks[i] = p.chunk
		}
	}
	text := func(x any) string { return strings.ReplaceAll(fmt.Sprint(x), " ", ",") }
	shape = text(shape)
	list, _ := json.Marshal(axes)
	if p.dims {
		attributes["_ARRAY_DIMENSIONS"] = string(list)
	}
	var fields []string
	for _, k := range slices.Sorted(maps.Keys(attributes)) {
		fields = append(fields, fmt.Sprintf("%q:%s", k, attributes[k]))
	}
	object := "{" + strings.Join(fields, ",") + "}"
	if p.version == 2 {
		code, _ := codeOf(p.d)
		if p.big && p.d.Size() > 1 {
			code = ">" + code[1:]
		}
		v[".zarray"] = fmt.Appendf(nil, `{"zarr_format":2,"shape":%s,"chunks":%s,"dtype":%q,"compressor":null,"fill_value":%s,"order":"C","filters":null}`, shape, text(chunks), code, p.fill)
		v[".zattrs"] = []byte(object)
	} else {
		order := "little"
		if p.big {
			order = "big"
		}
		v["zarr.json"] = fmt.Appendf(nil, `{"zarr_format":3,"node_type":"array","shape":%s,"data_type":%q,"chunk_grid":{"name":"regular","configuration":{"chunk_shape":%s}},"chunk_key_encoding":{"name":"v2"},
"fill_value":%s,"codecs":[{"name":"bytes","configuration":{"endian":%q}}],"attributes":%s}`, shape, names[p.d], text(chunks), p.fill, order, object)
	}
	n := 1
	if len(p.shape) > 0 {
		n = p.shape[len(p.shape)-1]
	}
	size := p.d.Size()
	for row := range len(p.elements) / max(n, 1) {
		for k := 0; k*p.chunk < n; k++ {
			b := make([]byte, p.chunk*size)
			for i := range p.chunk {
				e := b[i*size : (i+1)*size]
				var w [8]byte
				if k*p.chunk+i < n {
					binary.LittleEndian.PutUint64(w[:], p.elements[row*n+k*p.chunk+i])
				} else { // zarr-python puts the fill value beyond the array
					binary.LittleEndian.PutUint64(w[:], bitsIn(p.fill, p.d))
				}
				if copy(e, w[:]); p.big {
					slices.Reverse(e)
				}
			}
			key := []string{"0", fmt.Sprint(k), fmt.Sprintf("%d.%d", row, k)}[len(p.shape)]
			if !p.holes || k%2 == 0 {
				v[key] = b
			}
		}
	}
	return v
}

// number returns the value of bits of a type, NaN for NaN.
func number(w uint64, d dtype.DType) float64 {
	if d == dtype.Float16 || d == dtype.BFloat16 {
		return d.Format().Value(uint16(w))
	}
	return valueOf(w, d)
}

func whole(w uint64, d dtype.DType) *bignum.Int {
	if shift := 64 - 8*d.Size(); d.IsSigned() {
		return bignum.NewInt(int64(w<<shift) >> shift)
	}
	return new(bignum.Int).SetUint64(w)
}

// A decoded is the result of the model: the type, and the elements as text. Times are counts of its unit.
type decoded struct {
	typ  string
	list []string
}

// model decodes an array by the rules of Options.CF, one element after the other, with texts and big integers. It returns false for an error.
func (p *packed) model(fillBits uint64) (r decoded, ok bool) {
	from := p.d
	unsigned := p.attributes["_Unsigned"]
	if p.d.IsInteger() && unsigned != "" {
		from = dtypeNamed(strings.TrimPrefix(p.d.String(), "u"))
		if unsigned == `"true"` {
			from = dtypeNamed("u" + from.String())
		}
	}
	same := func(w uint64, text string) bool { // whether the element is the number of the attribute
		if from.IsInteger() {
			n, whole1 := new(bignum.Rat).SetString(text)
			if !whole1 {
				return false
			}
			e, stored := new(bignum.Rat).SetInt(whole(w, from)), new(bignum.Rat).SetInt(whole(w, p.d))
			if n.Cmp(e) == 0 {
				return true
			}
			other := n.IsInt() && (n.Cmp(new(bignum.Rat).SetInt(whole(0, from))) < 0 || !fitsIn(n.Num(), from))
			return other && n.Cmp(stored) == 0
		}
		v, _ := strconv.ParseFloat(text, 64)
		e := number(w, from)
		switch {
		case from == dtype.Float32 && !math.IsInf(float64(float32(v)), 0):
			v = float64(float32(v))
		case from != dtype.Float64 && from != dtype.Float32 && !math.IsInf(from.Format().Value(from.Format().Round(v)), 0):
			v = from.Format().Value(from.Format().Round(v))
		}
		return e == v
	}
	var gaps []string
	names := []string{"missing_value", "_FillValue"}
	zarrFill := p.version == 2 && p.dims && p.fill != "null"
	if zarrFill {
		names = names[:1]
	}
	for _, name := range names {
		text := strings.Trim(p.attributes[name], "[]")
		for _, one := range strings.Split(text, ",") {
			if one != "" {
				if b, err := base64.StdEncoding.DecodeString(strings.Trim(one, `"`)); err == nil && one[0] == '"' && len(b) == 8 {
					one = strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
				}
				gaps = append(gaps, one)
			}
		}
	}
	fillIsNaN := from.IsFloat() && number(fillBits, from) != number(fillBits, from)
	missing := func(w uint64) bool {
		if zarrFill && (w == fillBits || from.IsFloat() && number(w, from) == number(fillBits, from)) {
			return true
		}
		return slices.ContainsFunc(gaps, func(g string) bool { return same(w, g) }) || from.IsFloat() && number(w, from) != number(w, from)
	}
	hasGaps := zarrFill && !fillIsNaN
	for _, g := range gaps {
		if from.IsFloat() {
			v, _ := strconv.ParseFloat(g, 64)
			back := v // as a float of the type; a finite number beyond all of them isn't one
			if from != dtype.Float64 {
				back = float64(float32(v))
			}
			if from.Size() == 2 {
				back = from.Format().Value(from.Format().Round(v))
			}
			hasGaps = hasGaps || v == v && math.IsInf(back, 0) == math.IsInf(v, 0)
		} else if n, ok := new(bignum.Rat).SetString(g); ok && n.IsInt() {
			hasGaps = hasGaps || fitsIn(n.Num(), from) || fitsIn(n.Num(), p.d)
		}
	}
	scale, offset := 1.0, 0.0
	_, scaled := p.attributes["scale_factor"]
	if scaled {
		scale, _ = strconv.ParseFloat(strings.Trim(p.attributes["scale_factor"], "[]"), 64)
	}
	if text, there := p.attributes["add_offset"]; there {
		offset, _ = strconv.ParseFloat(text, 64)
		scaled = true
	}
	units, isTime := p.attributes["units"], false
	var per, base int64
	if name, date, since := strings.Cut(strings.Trim(units, `"`), " since "); since {
		isTime = true
		when, err := time.Parse("2006-01-02 15:04:05.999999999", date)
		if err != nil {
			panic(err)
		}
		unit := map[string]int64{"days": 864e11, "hours": 36e11, "seconds": 1e9, "milliseconds": 1e6, "nanoseconds": 1}[name]
		step := min(unit, 1e9)
		for int64(when.Nanosecond())%step != 0 {
			step /= 1000
		}
		if scaled || from.IsFloat() {
			step = 1
		}
		per, base = unit/step, when.Unix()*(1e9/step)+int64(when.Nanosecond())/step
		r.typ = map[int64]string{1e9: "datetime64[s]", 1e6: "datetime64[ms]", 1e3: "datetime64[us]", 1: "datetime64[ns]"}[step]
	}
	truth := p.attributes["dtype"] == `"bool"` && from.IsInteger()
	switch {
	case truth && (isTime || scaled || hasGaps):
		return r, false
	case truth:
		r.typ = "bool"
	case isTime:
	case !scaled && !hasGaps:
		r.typ = from.String()
	case from.IsInteger() || from == dtype.Float64:
		r.typ = "float64"
	default:
		r.typ = "float32"
	}
	ok = true
	for i, w := range p.elements {
		n := 1
		if len(p.shape) > 0 {
			n = p.shape[len(p.shape)-1]
		}
		absent := p.holes && i%n/p.chunk%2 == 1
		if absent {
			w = fillBits
		}
		absent = absent || w == fillBits && n%p.chunk != 0 // or like the elements beyond the array
		v := float64(0)
		if !from.IsInteger() {
			v = number(w, from)
		}
		exact := true
		if from.IsInteger() {
			var accuracy bignum.Accuracy
			v, accuracy = new(bignum.Float).SetInt(whole(w, from)).Float64()
			exact = accuracy == bignum.Exact
		}
		text := ""
		switch {
		case truth:
			text = strconv.FormatBool(w != 0)
		case r.typ == p.d.String() && !isTime && !from.IsFloat() || !isTime && !scaled && !hasGaps && from.IsInteger():
			text = whole(w, from).String()
		case missing(w):
			text = "NaN"
		case isTime && from.IsInteger() && !scaled:
			t := new(bignum.Int).Mul(whole(w, from), bignum.NewInt(per))
			if t.Add(t, bignum.NewInt(base)); !t.IsInt64() || whole(w, from).CmpAbs(bignum.NewInt(math.MaxInt64/per)) > 0 {
				if absent {
					text = "NaN"
					break
				}
				return r, false
			}
			text = t.String()
		case isTime:
			x := new(bignum.Rat)
			if x.SetFloat64(float64(scale*v)+offset) == nil {
				if absent {
					text = "NaN"
					break
				}
				return r, false
			}
			x.Add(x.Mul(x, new(bignum.Rat).SetInt64(per)), new(bignum.Rat).SetInt64(base))
			near := new(bignum.Int).Div(new(bignum.Int).Add(new(bignum.Int).Mul(x.Num(), bignum.NewInt(2)), x.Denom()), new(bignum.Int).Mul(x.Denom(), bignum.NewInt(2)))
			if !near.IsInt64() || math.Abs(float64(scale*v)+offset) >= float64(math.MaxInt64/per) {
				if absent {
					text = "NaN"
					break
				}
				return r, false
			}
			text = near.String()
		case scaled:
			if v = float64(scale*v) + offset; r.typ == "float32" {
				v = float64(float32(v))
			}
			text = strconv.FormatFloat(v, 'g', -1, 64)
		case !exact:
			if !absent {
				return r, false
			}
			text = "NaN"
		default:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
		r.list = append(r.list, text)
	}
	return r, ok
}

func fitsIn(n *bignum.Int, d dtype.DType) bool {
	bits := 8 * d.Size()
	if !d.IsSigned() {
		return n.Sign() >= 0 && n.BitLen() <= bits
	}
	return n.BitLen() < bits || n.Sign() < 0 && new(bignum.Int).Neg(n).Cmp(new(bignum.Int).Lsh(bignum.NewInt(1), uint(bits-1))) == 0
}

func dtypeNamed(name string) dtype.DType {
	d, err := typeNamed(name)
	if err != nil {
		panic(err)
	}
	return d
}

// open opens the array with CF, and reads it.
func (p *packed) open(t testing.TB) (r decoded, err error) {
	s := Memory()
	for key, b := range p.values("x") {
		if err := s.Set(t.Context(), "x/"+key, b); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(t.Context(), s, "x", &Options{CF: true})
	if err != nil {
		return r, err
	}
	x, err := a.Read(t.Context())
	if err != nil {
		return r, err
	}
	d := a.DType()
	if r.typ = d.String(); a.meta.Type != "" {
		r.typ = a.meta.Type
	}
	c, _ := tensor.Contiguous(x)
	b, _ := tensor.Bytes(c)
	for i := range c.Len() {
		w := word(b[i*d.Size() : (i+1)*d.Size()])
		text := ""
		switch {
		case d == dtype.Bool:
			text = strconv.FormatBool(w != 0)
		case a.meta.Type != "" && w == 1<<63:
			text = "NaN"
		case d.IsInteger():
			text = whole(w, d).String()
		default:
			text = strconv.FormatFloat(number(w, d), 'g', -1, 64)
		}
		r.list = append(r.list, text)
	}
	return r, nil
}

// check compares an array with the model, and returns its elements.
func (p *packed) check(t testing.TB) (r decoded, ok bool) {
	t.Helper()
	fill, err := parseFill([]byte(p.fill), p.d, p.version)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	want, ok := p.model(word(fill))
	r, err = p.open(t)
	var own *Error
	switch {
	case (err == nil) != ok, err != nil && !errors.As(err, &own):
		t.Errorf("%v: error %v; the model has one: %v", p, err, !ok)
	case err != nil:
	case r.typ != want.typ || len(r.list) != len(want.list):
		t.Errorf("%v: %s %v, want %s %v", p, r.typ, r.list, want.typ, want.list)
	default:
		for i, text := range r.list {
			if text == want.list[i] {
				continue
			}
			a, _ := strconv.ParseInt(text, 10, 64)
			b, err := strconv.ParseInt(want.list[i], 10, 64)
			integer := p.d.IsInteger() && p.attributes["scale_factor"]+p.attributes["add_offset"] == ""
			if strings.HasPrefix(r.typ, "datetime") && err == nil && (a-b == 1 || b-a == 1) && !integer { // halves of a nanosecond
				continue
			}
			t.Errorf("%v: element %d is %s, want %s", p, i, text, want.list[i])
		}
	}
	return r, err == nil && ok
}

var (
	cfTypes = []dtype.DType{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64, dtype.Float16, dtype.Float32, dtype.Float64}
	// Fill values, of xarray, zarr-python, netCDF's defaults and in use.
	wholeFills = []string{"0", "1", "-1", "127", "-127", "-128", "255", "-32767", "-32768", "65535", "-9999", "-2147483647", "-2147483648", "2147483647", "4294967295",
		"-9223372036854775806", "-9223372036854775808", "9223372036854775807", "18446744073709551614", "18446744073709551615"}
	floatFills = []string{`"NaN"`, `"Infinity"`, `"-Infinity"`, "0.0", "-0.0", "1.0", "2.5", "-9999.0", "-999.9", "-32768.0", "1e20", "9.969209968386869e+36", "3.4028234663852886e+38", "-1.7976931348623157e+308", "5e-324"}
)

// fills returns the fill values that a type has.
func fills(d dtype.DType) (list []string) {
	all := floatFills
	if d.IsInteger() {
		all = wholeFills
	}
	for _, text := range all {
		if _, err := parseFill([]byte(text), d, 2); err == nil {
			list = append(list, text)
		}
	}
	return list
}

// bitsIn returns the bits of the number that JSON has, 0 if the type has none.
func bitsIn(text string, d dtype.DType) uint64 {
	b, err := parseFill([]byte(text), d, 2)
	if err != nil {
		return 0
	}
	return word(b)
}

// some returns elements at which decodings differ: zeros, NaN, infinities, and the numbers that are given as JSON.
func some(d dtype.DType, given ...string) (list []uint64) {
	for _, text := range append(given, "0", "1", "2", "100") {
		list = append(list, bitsIn(text, d))
	}
	if d.IsFloat() {
		for _, text := range []string{"-0.0", `"NaN"`, `"Infinity"`, "-2.5", "-999.9"} {
			list = append(list, bitsIn(text, d))
		}
	}
	return list
}

// fillTable returns an array for each fill value, type, version and writer.
func fillTable() (list []packed) {
	for _, d := range append(slices.Clone(cfTypes), dtype.BFloat16) {
		for _, fill := range append(fills(d), "null") {
			for _, p := range []packed{{version: 2, dims: true}, {version: 2}, {version: 3}} {
				if p.version == 3 && fill == "null" || p.version == 2 && d == dtype.BFloat16 {
					continue
				}
				p.d, p.fill, p.elements, p.attributes = d, fill, some(d, fill), map[string]string{}
				p.shape, p.chunk = []int{len(p.elements)}, 4
				list = append(list, p)
				p.elements, p.shape, p.chunk = p.elements[:1], []int{}, 1 // of rank 0
				list = append(list, p)
			}
		}
	}
	return list
}

// Each fill value of each type is a missing value in version 2 if xarray wrote the array, and an element otherwise.
func TestCFFillValues(t *testing.T) {
	table := fillTable()
	for i := range table {
		table[i].check(t)
	}
	t.Logf("%d arrays", len(table))
}

// random makes an array. If xarray is set, it avoids the inputs for which the rules of Options.CF aren't those of xarray 2023.1.
func random(r *rand.Rand, xarray bool) packed {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	p := packed{version: 2, dims: true, d: cfTypes[r.IntN(len(cfTypes))], big: r.IntN(3) == 0, attributes: map[string]string{}}
	if !xarray {
		p.dims = r.IntN(4) > 0
		if p.version = 2 + r.IntN(2); p.version == 3 && r.IntN(8) == 0 {
			p.d = dtype.BFloat16
		}
	}
	given := fills(p.d)
	wide := p.d.Size() == 8 && p.d.IsInteger()
	if xarray && wide { // xarray compares in float64
		given = slices.DeleteFunc(given, func(text string) bool { return len(text) > 16 })
	}
	p.fill = pick(given...)
	if p.version == 2 && r.IntN(4) == 0 {
		p.fill = "null"
	}
	numbers := []string{p.fill}
	a := p.attributes
	for _, name := range []string{"_FillValue", "missing_value"} {
		if r.IntN(4) > 0 {
			continue
		}
		text := strings.Trim(pick(given...), `"`)
		switch {
		case !xarray && p.version == 3 && p.d.IsFloat() && r.IntN(2) == 0:
			v, _ := strconv.ParseFloat(text, 64)
			numbers = append(numbers, strconv.FormatFloat(v, 'g', -1, 64))
			text = strconv.Quote(base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))))
		case r.IntN(3) == 0 && !wide:
			text = pick("0", "2", "-1", "300", "1e20", "-999.9", "2.5", "100000", "1e300")
			if name == "missing_value" && r.IntN(2) == 0 {
				text = "[" + text + ",1,100]"
			}
		}
		a[name], numbers = text, append(numbers, strings.Trim(text, "[]"))
	}
	if r.IntN(4) == 0 {
		a["scale_factor"] = pick("0.5", "0.01", "[2]", "-1", "1000.0", "1")
	}
	if r.IntN(6) == 0 {
		a["add_offset"] = pick("273.15", "0", "-5", "1e6")
	}
	if p.d.IsInteger() && r.IntN(5) == 0 && !(xarray && wide) {
		a["_Unsigned"] = pick(`"true"`, `"false"`)
		if xarray {
			delete(a, "missing_value") // xarray takes it as it stands, and the conventions by the type
		}
		if _, err := parseFill([]byte(a["_FillValue"]), p.d, 2); xarray && err != nil {
			delete(a, "_FillValue")
		}
	}
	if r.IntN(4) == 0 {
		a["units"] = strconv.Quote(pick("days", "hours", "seconds", "milliseconds", "nanoseconds") + " since " + pick("2000-01-01 00:00:00", "1970-01-01 12:30:00", "1900-01-01 00:00:00.5", "2020-02-29 23:59:59"))
		a["calendar"] = pick(`"standard"`, `"gregorian"`, `"proleptic_gregorian"`)
	} else if r.IntN(3) == 0 {
		a["units"] = pick(`"m s-1"`, `"K"`, `"1"`)
	}
	if r.IntN(8) == 0 && p.d.IsInteger() && p.version+r.IntN(2) < 4 {
		a["dtype"] = `"bool"`
		if r.IntN(8) > 0 {
			p.fill, p.attributes = "null", map[string]string{"dtype": `"bool"`}
			if p.version == 3 {
				p.fill = "0"
			}
		}
	}
	n := r.IntN(7)
	switch r.IntN(5) {
	case 0:
		p.shape, p.chunk, n = []int{}, 1, 1
	case 1:
		p.shape, p.chunk, n = []int{2, n}, 1+r.IntN(4), 2*n
	default:
		p.shape, p.chunk = []int{n}, 1+r.IntN(4)
	}
	pool := some(p.d, numbers...)
	if !xarray {
		for range 3 {
			pool = append(pool, r.Uint64()>>(64-8*p.d.Size()))
		}
	}
	for range n {
		p.elements = append(p.elements, pool[r.IntN(len(pool))])
	}
	if xarray && len(p.shape) == 0 { // for which NumPy 1 compares a float32 with a float64
		delete(a, "_FillValue")
		delete(a, "missing_value")
	}
	p.holes = r.IntN(6) == 0 && p.fill != "null" && len(p.shape) > 0
	return p
}

// Random arrays decode as the model says.
func TestCFModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fine := 0
	for range 10 * *arrays {
		p := random(r, false)
		if _, ok := p.check(t); ok {
			fine++
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d arrays, %d of them without an error", 10**arrays, fine)
}

// Random arrays, and those of the table, decode as xarray does it. This needs Debian's python3-zarr and python3-xarray.
func TestCFBesideXarray(t *testing.T) {
	python := python(t, "xarray")
	r := rand.New(rand.NewPCG(3, 4))
	var table []packed
	for _, p := range fillTable() {
		if p.version == 2 && p.dims {
			table = append(table, p)
		}
	}
	const batch = 5000
	compared, refused := 0, 0
	for left := *arrays; left > 0 && !t.Failed(); left -= batch {
		for range min(left, batch) {
			table = append(table, random(r, true))
		}
		store := map[string][]byte{".zgroup": []byte(`{"zarr_format":2}`)}
		for i := range table {
			name := fmt.Sprintf("x%d", i)
			for key, b := range table[i].values(name) {
				store[name+"/"+key] = b
			}
		}
		input, err := json.Marshal(store)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "testdata/cf.py")
		cmd.Stdin = bytes.NewReader(input)
		out, err := cmd.Output()
		var results map[string][2]json.RawMessage
		if err == nil {
			err = json.Unmarshal(out, &results)
		}
		if err != nil || len(results) != len(table) {
			t.Fatal(len(results), err)
		}
		for i := range table {
			got, ok := table[i].check(t)
			if !ok { // integers that float64 doesn't have, times beyond int64
				refused++
				continue
			}
			result := results[fmt.Sprintf("x%d", i)]
			if text := beside(&table[i], got, result); text != "" {
				t.Errorf("%v: %s", &table[i], text)
			}
			compared++
		}
		table = table[:0]
	}
	t.Logf("%d arrays compared with xarray, %d refused", compared, refused)
}

// beside compares decoded elements with xarray's. It computes scaled elements of narrow types in float32. It rounds times down.
func beside(p *packed, got decoded, result [2]json.RawMessage) string {
	var kind string
	var list []*json.RawMessage
	json.Unmarshal(result[0], &kind)
	json.Unmarshal(result[1], &list)
	unit := map[string]float64{"datetime64[s]": 1, "datetime64[ms]": 1e3, "datetime64[us]": 1e6, "datetime64[ns]": 1e9}[got.typ]
	for _, text := range got.list {
		if v, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(v) > unit*9.2e9 && unit > 0 {
			return "" // xarray has no such times in nanoseconds
		}
	}
	if kind == "O" { // dates of years that nanoseconds don't reach, where an absent chunk has none here
		return ""
	}
	if kind == "error" || len(list) != len(got.list) {
		return fmt.Sprintf("xarray says %s; got %v", result[1], got.list)
	}
	_, scale := p.attributes["scale_factor"]
	_, offset := p.attributes["add_offset"]
	for i, text := range got.list {
		if (list[i] == nil) != (text == "NaN") {
			return fmt.Sprintf("element %d is %s, in xarray %s", i, text, result[1])
		}
		if text == "NaN" {
			continue
		}
		want := strings.Trim(string(*list[i]), `"`)
		switch w, err := strconv.ParseFloat(want, 64); {
		case err != nil:
			return err.Error()
		case kind == "M":
			a, _ := new(bignum.Int).SetString(text, 10)
			b, _ := new(bignum.Int).SetString(want, 10)
			diff, _ := new(bignum.Float).SetInt(a.Sub(a.Mul(a, bignum.NewInt(int64(1e9/unit))), b)).Float64()
			near := 0.0
			if p.d.IsFloat() || scale || offset {
				near = 1e12 + 1e-6*math.Abs(w)
			}
			if math.Abs(diff) > near {
				return fmt.Sprintf("element %d is %s, in xarray %s", i, text, want)
			}
		default:
			v, _ := strconv.ParseFloat(strings.NewReplacer("true", "1", "false", "0").Replace(text), 64)
			near := 0.0
			if scale || offset {
				b, _ := strconv.ParseFloat(p.attributes["add_offset"], 64)
				near = 1e-6*(math.Abs(w)+math.Abs(b)) + 1e-6
			}
			if v != w && !(math.Abs(v-w) <= near) {
				return fmt.Sprintf("element %d is %s, in xarray %s", i, text, want)
			}
		}
	}
	return ""
}
