package zarr

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// A cf decodes stored numbers by the CF conventions.
type cf struct {
	stored   dtype.DType
	from, to dtype.DType // from is the stored type by _Unsigned
	scale    float64
	offset   float64
	scaled   bool
	missing  []uint64 // by their bits
	fill     uint64   // missing if it can't be decoded,
	beyond   bool     // where chunks reach beyond the array, and have it there
	nan      bool     // floats become times, and NaN becomes NaT
	// For times: the stored numbers count units since base, which is in units of the result.
	time bool
	base int64
	per  int64 // units of the result in one stored unit
}

// cfOf sets the element type that the attributes define, and completes e. It returns nil if there is nothing to decode.
func cfOf(m *Metadata, e *element) (*cf, error) {
	d := m.DType
	if !d.IsInteger() && !slices.Contains([]dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}, d) {
		return nil, nil
	}
	fields, err := m.attributes()
	if err != nil {
		return nil, err
	}
	c := &cf{from: d, stored: d, scale: 1}
	if text, there := fields["_Unsigned"]; there && d.IsInteger() {
		if c.from = signed(d, string(text) != `"true"`); string(text) != `"true"` && string(text) != `"false"` {
			return nil, fail(ErrFormat, "the attribute _Unsigned is %.100s; it is \"true\" or \"false\"", text)
		}
	}
	c.to = c.from
	for name, to := range map[string]*float64{"scale_factor": &c.scale, "add_offset": &c.offset} {
		if raw, there := fields[name]; there {
			v, ok := finite(raw)
			if !ok {
				return nil, fail(ErrFormat, "the attribute %s is %.100s; it is a finite number", name, raw)
			}
			*to, c.scaled = v, true
		}
	}
	if err := c.absent(m, fields); err != nil {
		return nil, err
	}
	typ, err := c.times(m.Attributes)
	switch {
	case err != nil:
		return nil, err
	case m.Attributes["dtype"] == "bool" && d.IsInteger(): // xarray's truth values
		if c.time || c.scaled || c.missing != nil {
			return nil, fail(ErrFormat, "the attribute dtype is \"bool\", beside units, a factor or a missing value, which truth values don't have; without CF the numbers are read")
		}
		c.to = dtype.Bool
	case c.time:
		c.to, c.nan = dtype.Int64, !d.IsInteger()
	case !c.scaled && len(c.missing) == 0:
		if c.from == d {
			return nil, nil
		}
	case d.IsInteger() || d == dtype.Float64:
		c.to = dtype.Float64
	default:
		c.to = dtype.Float32
	}
	c.fill, c.beyond = word(m.fillBytes()), true // also of absent chunks
	out, err := c.apply(nil, append([]byte{}, m.fillBytes()...), math.MaxInt)
	c.beyond = false
	for i, n := range m.Shape {
		c.beyond = c.beyond || n%m.Chunks[i] != 0 || m.Inner != nil && m.Chunks[i]%m.Inner[i] != 0
	}
	if err != nil {
		return nil, err
	}
	m.DType, m.Type = c.to, typ
	e.d, e.then = c.to, []stage{c.stage()}
	m.Fill, err = tensor.Make(c.to)
	if err == nil {
		raw, _ := tensor.Bytes(m.Fill)
		copy(raw, out)
	}
	return c, err
}

// signed returns the integer type, signed or not, of the size of d.
func signed(d dtype.DType, sign bool) dtype.DType {
	list := []dtype.DType{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}
	if sign {
		list = []dtype.DType{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}
	}
	return list[bits.Len(uint(d.Size()))-1]
}

// attributes returns the text of each attribute. It has integers that no float64 represents.
func (m *Metadata) attributes() (map[string]json.RawMessage, error) {
	if len(m.text) == 0 || string(m.text) == "null" {
		return nil, nil
	}
	return fieldsOf(m.text)
}

// finite reads a number, or a list of one.
func finite(raw json.RawMessage) (float64, bool) {
	list := items(raw)
	if len(list) != 1 {
		return 0, false
	}
	v, err := (&jsonText{b: list[0]}).value()
	x, ok := v.(float64)
	return x, ok && err == nil && !math.IsInf(x, 0) && x == x
}

// absent finds the missing values. The fill value of version 2 stands in place of _FillValue, as xarray has it.
func (c *cf) absent(m *Metadata, fields map[string]json.RawMessage) error {
	names := []string{"missing_value", "_FillValue"}
	if _, xarray := fields["_ARRAY_DIMENSIONS"]; m.Version == 2 && xarray && !m.fillless {
		names = names[:1]
		c.add(word(m.fillBytes()))
	}
	for _, name := range names {
		raw, there := fields[name]
		if !there {
			continue
		}
		for _, item := range items(raw) {
			if !c.miss(item) {
				return fail(ErrFormat, "the attribute %s is %.100s; it is a number or a list of numbers", name, raw)
			}
		}
	}
	return nil
}

// add adds a missing value by its bits. Both zeros of floats are one number, and NaN is missing anyway.
func (c *cf) add(w uint64) {
	float, sign := c.from.IsFloat(), uint64(1)<<(8*c.from.Size()-1)
	if float && c.value(w) != c.value(w) {
		return
	}
	c.missing = append(c.missing, w)
	if float && w&^sign == 0 {
		c.missing = append(c.missing, w^sign)
	}
}

// miss adds the missing value that an item of JSON says, and reports whether it is a number. It ignores a number that no element can have.
func (c *cf) miss(item json.RawMessage) bool {
	text, quoted := string(item), ""
	if item[0] == '"' {
		if json.Unmarshal(item, &quoted) != nil {
			return false
		}
		text = quoted
	}
	v, err := strconv.ParseFloat(text, 64)
	if b, problem := base64.StdEncoding.DecodeString(quoted); problem == nil && len(b) == 8 && c.from.IsFloat() { // as xarray writes version 3
		v, err = math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	}
	if err != nil {
		return false
	}
	if c.from.IsFloat() {
		if w := c.bitsOf(v); math.IsInf(v, 0) || !math.IsInf(c.value(w), 0) {
			c.add(w)
		}
		return true
	}
	w, err := strconv.ParseUint(text, 10, 64)
	negative := v < 0
	if n, problem := strconv.ParseInt(text, 10, 64); problem == nil {
		w, err = uint64(n), nil
	}
	switch {
	case err == nil:
	case v != math.Trunc(v) || v < -(1<<63) || v > 1<<64 || v != v:
		return true
	case negative:
		w = uint64(int64(v))
	case v == 1<<63 && c.from == dtype.Int64: // 2^63 - 1 as a float64
		w = math.MaxInt64
	case v == 1<<64:
		w = math.MaxUint64
	default:
		w = uint64(v)
	}
	fits := func(d dtype.DType) bool {
		top := 8*d.Size() - 1
		if d.IsSigned() {
			return negative == (int64(w) < 0) && int64(w)>>top == int64(w)>>63
		}
		return !negative && w>>top <= 1
	}
	if fits(c.from) || fits(c.stored) { // by _Unsigned, -1 is 255
		b := make([]byte, c.from.Size())
		putWord(b, w)
		c.add(word(b))
	}
	return true
}

// bitsOf rounds a number to a float of the stored type.
func (c *cf) bitsOf(v float64) uint64 {
	switch c.from {
	case dtype.Float64:
		return math.Float64bits(v)
	case dtype.Float32:
		return uint64(math.Float32bits(float32(v)))
	}
	return uint64(c.from.Format().Round(v))
}

// unitNames has the names of units, each with its nanoseconds.
var unitNames = map[string]int64{"d": 864e11, "day": 864e11, "h": 36e11, "hr": 36e11, "hour": 36e11, "min": 6e10, "minute": 6e10, "s": 1e9, "sec": 1e9, "second": 1e9,
	"ms": 1e6, "msec": 1e6, "millisec": 1e6, "millisecond": 1e6, "us": 1e3, "microsec": 1e3, "microsecond": 1e3, "ns": 1, "nanosec": 1, "nanosecond": 1}

var sinceForm = regexp.MustCompile(`^\s*([\pL_]+)\s+since\s+(\d{1,5})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9})0*)?)?)?\s*(?:Z|UTC|GMT|0{1,2}:?0{0,2}|([+-])(\d{1,2}):?(\d{2})?)?\s*$`)

// times reads units since a date, and returns the type of such times, "" if the elements aren't times.
func (c *cf) times(attributes map[string]any) (string, error) {
	text, _ := attributes["units"].(string)
	name, _, since := strings.Cut(strings.TrimSpace(text), " since ")
	name = strings.ToLower(strings.TrimSpace(name))
	unit, known := unitNames[name]
	if !known {
		unit, known = unitNames[strings.TrimSuffix(name, "s")]
	}
	calendar, _ := attributes["calendar"].(string)
	calendar = strings.ToLower(cmp.Or(calendar, "standard"))
	mixed := calendar == "standard" || calendar == "gregorian"
	if !since || !known || !mixed && calendar != "proleptic_gregorian" {
		return "", nil
	}
	form := sinceForm.FindStringSubmatch(strings.TrimSpace(text))
	if form == nil {
		return "", fail(ErrFormat, "the units %.100q: the date isn't of the form 2000-01-31 12:00:00; without CF the numbers are read", text)
	}
	at := func(i int) int { n, _ := strconv.Atoi(form[i]); return n }
	y, m, d := at(2), at(3), at(4)
	if m < 1 || m > 12 || d < 1 || d > monthOf(y, m, d, mixed) || at(5) > 23 || at(6) > 59 || at(7) > 60 || mixed && y == 0 || at(10) > 18 || at(11) > 59 {
		return "", fail(ErrFormat, "the units %.100q: there is no such date", text)
	}
	zone := int64(at(10)*3600 + at(11)*60)
	if form[9] == "-" {
		zone = -zone
	}
	seconds := days(y, m, d, mixed)*86400 + int64(at(5)*3600+at(6)*60+at(7)) - zone
	frac, _ := strconv.ParseInt((form[8] + "000000000")[:9], 10, 64)
	step := min(unit, 1e9) // nanoseconds of the result's unit
	for frac%step != 0 {
		step /= 1000
	}
	if c.scaled || !c.from.IsInteger() {
		step = 1
	}
	if hi, lo := bits.Mul64(uint64(max(seconds, -seconds)), uint64(1e9/step)); step == 1 && (hi != 0 || lo > math.MaxInt64-1e9) {
		if step = 1000; c.from.IsInteger() && !c.scaled {
			return "", fail(format.ErrLimit, "the units %.100q: nanoseconds since 1970 are beyond int64", text)
		}
	}
	c.time, c.base, c.per = true, seconds*(1e9/step)+frac/step, unit/step
	return "datetime64[" + map[int64]string{1e9: "s", 1e6: "ms", 1e3: "us", 1: "ns"}[step] + "]", nil
}

// monthOf returns the last day of the month of a date, and 0 for the days that the calendar left out in 1582.
func monthOf(y, m, d int, mixed bool) int {
	switch {
	case !mixed || y != 1582 || m != 10:
		return int(days(y+m/12, m%12+1, 1, mixed) - days(y, m, 1, mixed))
	case d > 4 && d < 15:
		return 0
	}
	return 31
}

// days since 1970-01-01 of a date of the Gregorian calendar; of one before 1582-10-15, if mixed, of the Julian.
func days(y, m, d int, mixed bool) int64 {
	julian := mixed && (y < 1582 || y == 1582 && (m < 10 || m == 10 && d < 15))
	// Years begin in March, so that the day of a leap year is the last. Source: E. G. Richards, Mapping Time, 1998, chapter 25.
	a := (14 - m) / 12
	y, m = y+4800-a, m+12*a-3
	n := int64(d + (153*m+2)/5 + 365*y + y/4)
	if julian {
		return n - 32083 - 2440588
	}
	return n - int64(y/100) + int64(y/400) - 32045 - 2440588
}

// unixOf returns the time of a number of units.
func (c *cf) unixOf(w uint64, v float64) (int64, error) {
	far := func() (int64, error) {
		return 0, fail(format.ErrLimit, "CF: the time %v is beyond int64; without CF the numbers are read", v)
	}
	var n int64
	switch {
	case !c.from.IsFloat() && !c.scaled:
		if c.from.IsSigned() {
			shift := 64 - 8*c.from.Size()
			n = int64(w<<shift) >> shift
		} else if n = int64(w); n < 0 {
			return far()
		}
		if n > math.MaxInt64/c.per || n < -math.MaxInt64/c.per {
			return far()
		}
		n *= c.per
	default:
		// The whole units are exact; the fraction is rounded once.
		v = float64(c.scale*v) + c.offset
		whole := math.Floor(v)
		if !(math.Abs(whole) < float64(math.MaxInt64/max(c.per, 1))) {
			return far()
		}
		n = int64(whole)*c.per + int64(math.RoundToEven((v-whole)*float64(c.per)))
		if c.per == 0 { // nanoseconds in a result of microseconds
			n = int64(math.RoundToEven(v / 1000))
		}
	}
	if sum := n + c.base; (sum > n) == (c.base > 0) && sum != math.MinInt64 || c.base == 0 {
		return sum, nil
	}
	return far()
}

// String describes the decoding.
func (c *cf) String() string {
	text := "of " + c.from.String()
	if c.scale != 1 {
		text += fmt.Sprintf(" · %v", c.scale)
	}
	if c.offset != 0 {
		text += fmt.Sprintf(" + %v", c.offset)
	}
	if c.missing != nil {
		text += " with gaps"
	}
	return text
}

// stage returns the decoding as a stage behind all others.
func (c *cf) stage() stage {
	return stage{name: "CF", decode: c.apply, grow: func(n int) int { return times(n/c.to.Size(), c.from.Size()) }}
}

// apply decodes elements in the machine's order.
func (c *cf) apply(dst, b []byte, most int) ([]byte, error) {
	size, to := c.from.Size(), c.to.Size()
	n := len(b) / size
	if len(b)%size != 0 || n > most/to {
		return nil, errors.New("the bytes are no whole elements of the chunk")
	}
	if c.to.IsInteger() && !c.time { // by _Unsigned alone
		return b, nil
	}
	if c.to == dtype.Bool {
		out := sized(dst, n)
		for i := range out {
			out[i] = 0
			if word(b[i*size:(i+1)*size]) != 0 {
				out[i] = 1
			}
		}
		return out, nil
	}
	out := sized(dst, n*to)
	nan, whole, sign, shift := c.none(), c.from.IsInteger(), c.from.IsSigned(), 64-8*size
	for i := range n {
		var w uint64
		switch size {
		case 1:
			w = uint64(b[i])
		case 2:
			w = uint64(binary.NativeEndian.Uint16(b[2*i:]))
		case 4:
			w = uint64(binary.NativeEndian.Uint32(b[4*i:]))
		default:
			w = binary.NativeEndian.Uint64(b[8*i:])
		}
		var v float64
		switch {
		case whole && sign:
			v = float64(int64(w<<shift) >> shift)
		case whole:
			v = float64(w)
		default:
			v = c.value(w)
		}
		r := nan
		switch none := slices.Contains(c.missing, w) || v != v; {
		case none:
			if v != v && !c.nan { // as it was
				r = c.bits(float64(c.scale*v) + c.offset)
			}
		case c.time:
			t, err := c.unixOf(w, v)
			if err == nil {
				r = uint64(t)
			} else if w != c.fill || !c.beyond {
				return nil, err
			}
		default:
			if c.scaled {
				v = float64(c.scale*v) + c.offset
			} else if whole && size == 8 && !exact(w, v, sign) {
				if w == c.fill && c.beyond {
					break
				}
				return nil, fail(format.ErrLimit, "CF: float64 has no %s; without CF the integers are read", decimal(w, sign))
			}
			r = c.bits(v)
		}
		if to == 4 {
			binary.NativeEndian.PutUint32(out[4*i:], uint32(r))
		} else {
			binary.NativeEndian.PutUint64(out[8*i:], r)
		}
	}
	return out, nil
}

// none has the bits of NaN or NaT.
func (c *cf) none() uint64 {
	switch {
	case c.time:
		return 1 << 63
	case c.to == dtype.Float32:
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}

func (c *cf) bits(v float64) uint64 {
	if c.to == dtype.Float32 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

func (c *cf) value(w uint64) float64 {
	switch c.from {
	case dtype.Float64:
		return math.Float64frombits(w)
	case dtype.Float16, dtype.BFloat16:
		return c.from.Format().Value(uint16(w))
	}
	return float64(math.Float32frombits(uint32(w)))
}

// exact reports whether v is the integer w.
func exact(w uint64, v float64, sign bool) bool {
	if sign {
		return v < 1<<63 && int64(v) == int64(w)
	}
	return v < 1<<64 && uint64(v) == w
}

func decimal(w uint64, sign bool) string {
	if sign {
		return fmt.Sprint(int64(w))
	}
	return fmt.Sprint(w)
}
