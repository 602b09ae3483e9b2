package pytorch

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// TestRecorded reads files of PyTorch, by path, mapped, by parts and as a stream.
func TestRecorded(t *testing.T) {
	w := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	for about, text := range map[string]string{"PyTorch": torchZip, "PyTorch, legacy": torchLegacy} {
		b := unzipped(t, text)
		path := filepath.Join(t.TempDir(), "a.pt")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*format.Source{{Path: path}, {At: bytes.NewReader(b), Size: int64(len(b))}, {R: bytes.NewReader(b)}} {
			f, err := format.Named("pytorch").Open(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(f.About(), f.Names(), f.(*File).Metadata()); got != about+"[w t] map[n:3]" {
				t.Error(got)
			}
			got, err := f.Tensor("w")
			if err != nil {
				t.Fatal(err)
			}
			tensortest.Equal(t, got, w.Any())
			got, err = f.Tensor("t")
			if err != nil {
				t.Fatal(err)
			}
			tensortest.Equal(t, got, w.Permute(1, 0).Any())
			got, err = f.Tensor("t", tensor.I(1))
			if err != nil {
				t.Fatal(err)
			}
			tensortest.Equal(t, got, tensor.FromSlice([]float32{2, 4}, 2).Any())
			if _, err := f.Tensor("t", tensor.I(2)); err == nil || !errors.Is(err, tensor.ErrIndex) || !strings.Contains(err.Error(), `"t": index 2 is outside`) {
				t.Error(err)
			}
			if _, err := f.Tensor("u"); !errors.Is(err, format.ErrName) {
				t.Error(err)
			}
			if _, err := f.Info("u"); !errors.Is(err, format.ErrName) {
				t.Error(err)
			}
			i, err := f.Info("t")
			if err != nil || i.String() != "float32[2,2], strides (1,2)" || i.Offset != 0 || i.Bytes != 16 {
				t.Error(i, err)
			}
			if i, err = f.Info("w"); err != nil || i.Offset == 0 {
				t.Error(i, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestShared changes a byte of a storage in memory: all its tensors show it, so none is a copy.
func TestShared(t *testing.T) {
	if conv.BigEndian {
		t.Skip("skipped: the file's numbers are in the other byte order, and copied")
	}
	b := unzipped(t, torchZip)
	buf, err := mem.Alloc(len(b))
	if err != nil {
		t.Fatal(err)
	}
	copy(buf.Bytes(), b)
	f, err := New(buf)
	if err != nil {
		t.Fatal(err)
	}
	w, err1 := f.Tensor("w")
	tr, err2 := f.Tensor("t")
	i, err3 := f.Info("w")
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	copy(buf.Bytes()[i.Offset+4:], []byte{0, 0, 0x10, 0x41}) // 9
	if fmt.Sprint(w) != "[[1. 9.]\n [3. 4.]]" || fmt.Sprint(tr) != "[[1. 3.]\n [9. 4.]]" {
		t.Errorf("%v\n%v", w, tr)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensor("w"); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
}

// TestTypes reads an element of each type that PyTorch 2 has and 1.13 hasn't, from bytes that any type may have.
func TestTypes(t *testing.T) {
	for torch, want := range map[string]dtype.DType{"uint16": dtype.Uint16, "uint32": dtype.Uint32, "uint64": dtype.Uint64, "float8_e4m3fn": dtype.Float8E4M3,
		"float8_e5m2": dtype.Float8E5M2, "float8_e4m3fnuz": dtype.Float8E4M3FNUZ, "float8_e5m2fnuz": dtype.Float8E5M2FNUZ, "float8_e8m0fnu": dtype.Float8E8M0} {
		size := int64(want.Size())
		v3 := func(count, offset int64) []byte {
			return zipOf(t, called("torch._utils._rebuild_tensor_v3", store("storage.UntypedStorage", "0", 2*count), number(offset), numbers([]int64{1}), numbers([]int64{1}),
				"\x89", called("collections.OrderedDict"), name("torch."+torch)), map[string]string{"data/0": string(bytes.Repeat([]byte{0x81}, 16))})
		}
		f, err := opened(v3(size, 1))
		if err != nil {
			t.Errorf("%s: %v", torch, err)
			continue
		}
		got, err := f.Tensor("array")
		if err != nil || got.DType() != want || !bytes.Equal(elementsOf(t, got), bytes.Repeat([]byte{0x81}, int(size))) {
			t.Errorf("%s: %v, %v", torch, got, err)
		}
		if _, err := opened(v3(size, 2)); !errors.Is(err, format.ErrShort) {
			t.Errorf("%s beyond its storage: %v", torch, err)
		}
	}
}

// TestBigEndian reads elements of the other byte order, which the file names.
func TestBigEndian(t *testing.T) {
	pickle := dictOf(text("f"), tensorOf(store("FloatStorage", "0", 2), 0, []int64{2}, []int64{1}), text("c"), tensorOf(store("ComplexFloatStorage", "0", 1), 0, nil, nil))
	for order, data := range map[string]string{"big": "\x3f\x80\x00\x00\x40\x00\x00\x00", "little": "\x00\x00\x80\x3f\x00\x00\x00\x40", "": "\x00\x00\x80\x3f\x00\x00\x00\x40"} {
		entries := map[string]string{"data/0": data, "byteorder": order}
		if order == "" {
			delete(entries, "byteorder")
		}
		f, err := opened(zipOf(t, pickle, entries))
		if err != nil {
			t.Fatal(err)
		}
		a, err1 := f.Tensor("f")
		c, err2 := f.Tensor("c")
		if err1 != nil || err2 != nil || fmt.Sprint(a, c) != "[1. 2.] (1+2j)" {
			t.Errorf("%q: %v %v %v %v", order, a, c, err1, err2)
		}
	}
	f, err := opened(bytes.Replace(legacyOf(tensorOf(store("ComplexFloatStorage", "k", 1, "N"), 0, nil, nil), listOf(text("k")), le(1, 8)+strings.Repeat("\x00", 8)), []byte("\x88u."), []byte("\x89u."), 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensor("array"); !errors.Is(err, format.ErrType) || !strings.Contains(err.Error(), "big-endian") {
		t.Error(err)
	}
}

// TestListed has things beside a tensor that no tensor holds: each is named, and its error says why.
func TestListed(t *testing.T) {
	vector := tensorOf(store("FloatStorage", "0", 2), 0, []int64{2}, []int64{1})
	marked := func(bit string) string {
		return tensorOf(store("ComplexFloatStorage", "0", 1), 0, nil, nil, dictOf(text(bit), "\x88"))
	}
	f, err := opened(zipOf(t, dictOf(
		text("v"), vector,
		text("sparse"), called("torch._utils._rebuild_sparse_tensor", "N", "N"),
		text("q"), called("torch._utils._rebuild_qtensor", store("QUInt8Storage", "0", 8)),
		text("conj"), marked("conj"), text("neg"), marked("neg"),
		text("half"), tensorOf(store("ComplexHalfStorage", "0", 2), 0, []int64{2}, []int64{1}),
		text("new"), called("torch._utils._rebuild_tensor_v3", store("UntypedStorage", "0", 8), number(0), numbers([]int64{8}), numbers([]int64{1}), "\x89", "N", name("torch.bits1x8")),
		text("wide"), tensorOf(store("FloatStorage", "0", 2), 0, []int64{1 << 60}, []int64{0}),
		text("run"), called("posix.system", text("touch /tmp/never")),
		text("param"), called("torch._utils._rebuild_parameter", vector, "\x88", "N"),
		text("sub"), called("torch._tensor._rebuild_from_type_v2", name("torch._utils._rebuild_parameter"), name("my.Tensor"), tuple(vector, "\x88", "N"), "N"),
		text("nan"), "G"+string([]byte{0x7f, 0xf8, 0, 0, 0, 0, 0, 0}),
	), map[string]string{"data/0": "\x00\x00\x80\x3f\x00\x00\x00\x40"}))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Names(), " "); got != "v sparse q conj neg half new wide param sub" {
		t.Error(got)
	}
	if got := fmt.Sprint(f.Metadata()); got != `map[nan:"NaN" run:"an object of posix.system, which isn't read"]` {
		t.Error(got)
	}
	for name, want := range map[string]string{"sparse": "a sparse tensor", "q": "quantized", "conj": "resolve_conj", "neg": "resolve_neg", "half": "complex32", "new": "bits1x8", "wide": "a clone"} {
		why := format.ErrType
		if name == "wide" {
			why = format.ErrLimit
		}
		_, err := f.Tensor(name)
		i, err2 := f.Info(name)
		if !errors.Is(err, why) || !strings.Contains(err.Error(), want) || err2 != nil || !strings.Contains(i.String(), want) {
			t.Errorf("%s: %v; %v %v", name, err, i, err2)
		}
	}
	for _, name := range []string{"v", "param", "sub"} {
		if got, err := f.Tensor(name); err != nil || fmt.Sprint(got) != "[1. 2.]" {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}

// TestHostile opens files that are refused, each with its reason, the place and the fault.
func TestHostile(t *testing.T) {
	one, ones := []int64{1}, map[string]string{"data/0": "\x00\x00\x80\x3f"}
	float := func(count int64) string { return store("FloatStorage", "0", count) }
	valid := tensorOf(float(1), 0, one, one)
	laughs := "]q\x00"
	for i := range byte(60) {
		laughs += "](h" + string([]byte{i}) + "h" + string([]byte{i}) + "eq" + string([]byte{i + 1})
	}
	rank := make([]int64, 65)
	for i := range rank {
		rank[i] = 1
	}
	for title, x := range map[string]struct {
		pickle string
		err    error
		text   string
	}{
		"count of a storage":     {tensorOf(float(1<<60), 0, one, one), format.ErrShort, "has 4 bytes in the file"},
		"count beyond int64":     {tensorOf(float(math.MaxInt64), 0, one, one), format.ErrLimit, "elements of float32"},
		"negative count":         {tensorOf(float(-1), 0, one, one), format.ErrFormat, "a count"},
		"extent":                 {tensorOf(float(1), 0, []int64{1 << 60}, one), format.ErrShort, "in a storage of 1 elements"},
		"extents":                {tensorOf(float(1), 0, []int64{1 << 60, 1 << 60}, []int64{0, 0}), format.ErrFormat, "shape"},
		"stride":                 {tensorOf(float(1), 0, []int64{2}, []int64{1 << 62}), format.ErrShort, "strides"},
		"negative stride":        {tensorOf(float(1), 0, []int64{1}, []int64{-1}), format.ErrFormat, "from 0"},
		"offset":                 {tensorOf(float(1), 1, one, one), format.ErrShort, "offset 1"},
		"offset beyond":          {tensorOf(float(1), 1<<60, one, one), format.ErrShort, "offset"},
		"rank":                   {tensorOf(float(1), 0, rank, rank), format.ErrFormat, "64 axes"},
		"strides missing":        {tensorOf(float(1), 0, one, nil), format.ErrFormat, "a stride for each axis"},
		"no storage":             {tensorOf("N", 0, one, one), format.ErrFormat, "no storage"},
		"entry that isn't there": {tensorOf(store("FloatStorage", "../../../etc/passwd", 1), 0, one, one), format.ErrFormat, "has no entry"},
		"class of a storage":     {tensorOf(store("WideStorage", "0", 1), 0, one, one), format.ErrType, "torch.WideStorage"},
		"id":                     {tensorOf(tuple(text("thing"), "N", "N", "N", "N")+"Q", 0, one, one), format.ErrFormat, "thing"},
		"id of no tuple":         {"NQ", format.ErrFormat, "no tuple"},
		"list in itself":         {"]q\x00h\x00a", format.ErrLimit, "in themselves"},
		"list in itself beside":  {dictOf(text("t"), valid, text("l"), "]q\x00h\x00a"), format.ErrLimit, "in themselves"},
		"dictionary in itself":   {"}q\x00" + text("t") + valid + "s" + text("x") + "h\x00s", format.ErrLimit, "in themselves"},
		"nesting":                {strings.Repeat("]", 100000) + strings.Repeat("a", 99999), format.ErrLimit, "more than 256 deep"},
		"nesting beside":         {dictOf(text("t"), valid, text("l"), strings.Repeat("]", 100000)+strings.Repeat("a", 99999)), format.ErrLimit, "more than 256 deep"},
		"tuples in tuples":       {dictOf(text("t"), valid, text("u"), strings.Repeat("(", 100000)+strings.Repeat("t", 100000)), format.ErrLimit, "more than 256 deep"},
		"laughs beside":          {listOf(laughs, valid), format.ErrLimit, "more values"},
		"call of itself":         {name("torch._tensor._rebuild_from_type_v2") + "(]q\x00(" + name("torch._tensor._rebuild_from_type_v2") + "Nh\x00Ne0" + name("torch._tensor._rebuild_from_type_v2") + "Nh\x00NtR", format.ErrType, "an object of"},
		"names":                  {dictOf(text("a.b"), valid, text("a"), dictOf(text("b"), valid)), format.ErrName, "two"},
		"an object":              {called("posix.system", text("true")), format.ErrType, "an object of posix.system"},
		"a number":               {number(1), format.ErrType, "a number"},
		"a call of a number":     {number(1) + ")R", format.ErrFormat, "a number is called"},
		"a call without tuple":   {name("a.b") + "NR", format.ErrFormat, "no tuple"},
		"memo":                   {"h\x07", format.ErrFormat, "memo 7"},
		"memo far":               {"Nr\x00\x00\x00\x7f", format.ErrFormat, "memo"},
		"stack":                  {"0", format.ErrFormat, "the stack has none"},
		"stack below a mark":     {"N(\x85", format.ErrFormat, "the stack has none"},
		"no mark":                {"t", format.ErrFormat, "a mark"},
		"append to a number":     {"NNa", format.ErrFormat, "are appended"},
		"set in a list":          {"](NNu", format.ErrFormat, "keys are set"},
		"key without value":      {"}(Nu", format.ErrFormat, "without a value"},
		"text":                   {"\x8d" + le(1<<60, 8), format.ErrShort, "1152921504606846976 bytes"},
		"bytes":                  {"\x8e" + le(math.MaxUint64, 8), format.ErrShort, "bytes"},
		"frame":                  {"\x95" + le(1<<60, 8), format.ErrShort, "a frame"},
		"protocol":               {"\x80\x09", format.ErrFormat, "protocol 9"},
		"opcode":                 {"i", format.ErrFormat, "opcode 0x69"},
		"extension":              {"\x82\x01", format.ErrFormat, "opcode 0x82"},
		"a name without end":     {"cposix", format.ErrShort, "without an end"},
		"a name of numbers":      {"NN\x93", format.ErrFormat, "no text"},
	} {
		b := zipOf(t, x.pickle, ones)
		_, err := opened(b)
		var e *format.Error
		if !errors.As(err, &e) || !errors.Is(err, x.err) || !strings.Contains(err.Error(), x.text) {
			t.Errorf("%s: %v", title, err)
		}
	}
}

// TestCopies opens pickles that copy a dictionary or a text again and again, and one whose key is many texts.
func TestCopies(t *testing.T) {
	const large = 60000
	var pairs []string
	for i := range 1000 {
		pairs = append(pairs, number(int64(i)), "N")
	}
	plain := func(f string) string { return called(f, "h\x00") }
	kept := func(f string) string {
		return called("torch._tensor._rebuild_from_type_v2", name(f), "N", tuple("h\x00"), "N")
	}
	for title, pickle := range map[string]string{
		"dictionaries": dictOf(pairs...) + "q\x00" + strings.Repeat(plain("collections.OrderedDict"), 2000),
		"in a tensor":  dictOf(pairs...) + "q\x00" + strings.Repeat(kept("collections.OrderedDict"), 2000),
		"texts":        text(strings.Repeat("x", large)) + "q\x00" + strings.Repeat(plain("_codecs.encode"), 2000),
	} {
		if _, err := opened(zipOf(t, pickle, nil)); !errors.Is(err, format.ErrLimit) {
			t.Errorf("%s: %v", title, err)
		}
	}
	key := tuple(text(strings.Repeat("x", large)) + "q\x00" + strings.Repeat("h\x00", 1<<16)) // 4 GB
	b := zipOf(t, dictOf(key, tensorOf(store("FloatStorage", "0", 1), 0, nil, nil)), map[string]string{"data/0": "abcd"})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := opened(b)
	runtime.ReadMemStats(&after)
	if err != nil || len(f.Names()) != 1 || len(f.Names()[0]) > 3*large {
		t.Fatal(f, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d bytes", took)
	}
}

// TestNestedReferences opens pickles of some KiB whose plain data is lists that refer to one value over and over. Their text
// would have up to 100^4 times its size. The memory of all of it is counted, also what is freed on the way.
func TestNestedReferences(t *testing.T) {
	const width = 100
	leaves := map[string]string{
		"number":     "\x8a\xff" + strings.Repeat("\xfe", 254) + "\x7f",
		"text":       text(strings.Repeat("\x01", 400)),
		"long text":  text(strings.Repeat("\x01", 200_000)),
		"bytes":      "B" + le(200_000, 4) + strings.Repeat("\xff", 200_000),
		"name":       "c" + strings.Repeat("\x01", 100) + "\nx\n",
		"object":     "c" + strings.Repeat("\x01", 100) + "\nx\n)R",
		"float":      "G" + le(0xd6d6d6d6d6d6d601, 8),
		"list":       "]",
		"dictionary": dictOf(text(strings.Repeat("\x02", 400)), "N"),
		"key":        dictOf(tuple(text(strings.Repeat("k", 50_000))+"q\x00"+strings.Repeat("h\x00", width)), "N"),
	}
	for title, leaf := range leaves {
		for _, depth := range []int{1, 3, 4, 200} {
			nested := leaf + "q\x01"
			for i := range depth {
				nested += "0](" + strings.Repeat("h"+le(uint64(i+1), 1), width) + "e" + "q" + le(uint64(i+2), 1)
			}
			items := []string{text("w"), tensorOf(store("FloatStorage", "0", 1), 0, nil, nil), text("m"), nested}
			for i := range width {
				items = append(items, text("m"+strconv.Itoa(i)), "h"+le(uint64(depth+1), 1))
			}
			for form, pickle := range map[string]string{"beside a tensor": "q\x00" + dictOf(items...), "without tensors": "q\x00" + dictOf(items[2:]...)} {
				pickle = "N" + pickle[:2] + "0" + pickle[2:] // something that memo 0 holds
				b := zipOf(t, pickle, map[string]string{"data/0": "abcd"})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				f, err := opened(b)
				runtime.ReadMemStats(&after)
				if err != nil && !errors.Is(err, format.ErrLimit) {
					t.Errorf("%s, depth %d, %s: %v", title, depth, form, err)
				}
				if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20+8*uint64(len(b)) {
					t.Errorf("%s, depth %d, %s: a file of %d bytes takes %d", title, depth, form, len(b), took)
				}
				if err == nil {
					for name, s := range f.Metadata() {
						if len(s) > maxText {
							t.Errorf("%s, depth %d, %s: %s has %d bytes", title, depth, form, name, len(s))
						}
					}
				}
			}
		}
	}
}

// TestArchive opens archives that are refused.
func TestArchive(t *testing.T) {
	vector := func(key string) string { return tensorOf(store("FloatStorage", key, 1), 0, nil, nil) }
	make := func(f func(w *zip.Writer, put func(name, s string, method uint16))) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		f(w, func(name, s string, method uint16) {
			e, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
			if err == nil {
				_, err = e.Write([]byte(s))
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	pickle := "\x80\x02" + vector("0") + "."
	good := zipOf(t, vector("0"), map[string]string{"data/0": "abcd"})
	damaged := bytes.Replace(good, []byte("torch"), []byte("tOrch"), 1)
	double := zipOf(t, listOf(vector("0"), vector("1")), map[string]string{"data/0": "abcd", "data/1": "abcd"})
	at := bytes.LastIndex(double, []byte("x/data/0")) - 46 + 42 // its place in the directory, which becomes that of the other's
	other := bytes.LastIndex(double, []byte("x/data/1")) - 46 + 42
	copy(double[other:other+4], double[at:at+4])
	locked := bytes.Clone(good)
	locked[bytes.LastIndex(locked, []byte("x/data/0"))-46+8] |= 1
	for title, x := range map[string]struct {
		file []byte
		err  error
		text string
	}{
		"nothing":    {nil, format.ErrFormat, "neither"},
		"text":       {[]byte("hello world"), format.ErrFormat, "hell"},
		"no archive": {[]byte("PK\x03\x04 and no more"), format.ErrFormat, "a zip file"},
		"empty":      {make(func(*zip.Writer, func(string, string, uint16)) {}), format.ErrFormat, "neither"},
		"no pickle":  {make(func(_ *zip.Writer, put func(string, string, uint16)) { put("x/y", "", zip.Store) }), format.ErrFormat, `no entry "x/data.pkl"`},
		"twice": {make(func(_ *zip.Writer, put func(string, string, uint16)) {
			put("x/data.pkl", pickle, zip.Store)
			put("x/data.pkl", pickle, zip.Store)
		}), format.ErrFormat, "twice"},
		"compressed pickle": {make(func(_ *zip.Writer, put func(string, string, uint16)) { put("x/data.pkl", pickle, zip.Deflate) }), format.ErrFormat, "is compressed"},
		"compressed storage": {make(func(_ *zip.Writer, put func(string, string, uint16)) {
			put("x/data.pkl", pickle, zip.Store)
			put("x/data/0", "abcd", zip.Deflate)
		}), format.ErrFormat, "is compressed"},
		"byte order": {zipOf(t, vector("0"), map[string]string{"data/0": "abcd", "byteorder": "middle"}), format.ErrFormat, "middle"},
		"checksum":   {damaged, format.ErrFormat, "checksum"},
		"shared":     {double, format.ErrFormat, "share bytes"},
		"encrypted":  {locked, format.ErrFormat, "encrypted"},
	} {
		_, err := opened(x.file)
		var e *format.Error
		if !errors.As(err, &e) || !errors.Is(err, x.err) || !strings.Contains(err.Error(), x.text) {
			t.Errorf("%s: %v", title, err)
		}
	}
	if _, err := opened(good); err != nil {
		t.Error(err)
	}
}

// TestLegacy opens a legacy file, and several that are refused.
func TestLegacy(t *testing.T) {
	float := func(key string, count int64, more string) string {
		return tensorOf(store("FloatStorage", key, count, more), 0, nil, nil)
	}
	view := tuple(text("v"), number(1), number(1))
	f, err := opened(legacyOf(listOf(float("a", 2, "N"), float("a", 2, view)), listOf(text("a")), le(2, 8)+"\x00\x00\x80\x3f\x00\x00\x00\x40"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"1.0", "2.0"} {
		if got, err := f.Tensor(fmt.Sprint(i)); err != nil || fmt.Sprint(got) != want {
			t.Error(got, err)
		}
	}
	bytes4 := le(1, 8) + "abcd"
	for title, x := range map[string]struct {
		file []byte
		err  error
		text string
	}{
		"a storage at once": {[]byte("\x80\x02)Q."), format.ErrFormat, "where there is none"},
		"no magic":          {[]byte("\x80\x02N."), format.ErrFormat, "a number which is missing"},
		"version":           {[]byte(strings.Replace(string(legacyOf("N", "]", "")), "M\xe9\x03", "M\xea\x03", 1)), format.ErrFormat, "version 1002"},
		"keys":              {legacyOf(float("a", 1, "N"), "N", bytes4), format.ErrFormat, "None in place"},
		"unknown key":       {legacyOf(float("a", 1, "N"), listOf(text("b")), bytes4), format.ErrFormat, "no tensor has"},
		"key twice":         {legacyOf(float("a", 1, "N"), listOf(text("a"), text("a")), bytes4+bytes4), format.ErrFormat, "twice"},
		"missing key":       {legacyOf(float("a", 1, "N"), "]", bytes4), format.ErrShort, "isn't among"},
		"count":             {legacyOf(float("a", 1, "N"), listOf(text("a")), le(1<<60, 8)+"abcd"), format.ErrFormat, "1152921504606846976 elements"},
		"count of both":     {legacyOf(float("a", 1<<60, "N"), listOf(text("a")), le(1<<60, 8)+"abcd"), format.ErrShort, "ends after 4"},
		"no count":          {legacyOf(float("a", 1, "N"), listOf(text("a")), "abc"), format.ErrShort, "ends before"},
		"two counts":        {legacyOf(listOf(float("a", 1, "N"), float("a", 2, "N")), listOf(text("a")), bytes4), format.ErrShort, "need 8"},
		"view beyond":       {legacyOf(float("a", 1, view), listOf(text("a")), bytes4), format.ErrFormat, "reaches beyond"},
		"view of two parts": {legacyOf(float("a", 1, tuple("N", "N")), listOf(text("a")), bytes4), format.ErrFormat, "a view"},
	} {
		_, err := opened(x.file)
		if !errors.Is(err, x.err) || !strings.Contains(err.Error(), x.text) {
			t.Errorf("%s: %v", title, err)
		}
	}
}

// TestTruncated opens the beginnings of files: each is refused, or by parts as when it is mapped.
func TestTruncated(t *testing.T) {
	for _, text := range []string{torchZip, torchLegacy} {
		b := unzipped(t, text)
		for n := range b {
			_, err := opened(b[:n])
			var e *format.Error
			if !errors.As(err, &e) {
				t.Errorf("%d of %d bytes: %v", n, len(b), err)
			}
			f := &File{r: bytes.NewReader(b[:n]), size: int64(n)}
			if err := f.read(); !errors.As(err, &e) {
				t.Errorf("%d of %d bytes by parts: %v", n, len(b), err)
			}
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent.pt")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "absent.pt") {
		t.Error(err)
	}
	if _, err := New(nil); !errors.Is(err, format.ErrShort) {
		t.Error(err)
	}
}

// TestSign tells files apart by their beginnings and names.
func TestSign(t *testing.T) {
	zipped, legacy := unzipped(t, torchZip), unzipped(t, torchLegacy)
	for _, x := range []struct {
		name string
		head []byte
		want string
	}{{"a.pt", zipped, "pytorch"}, {"a.PTH", legacy, "pytorch"}, {"pytorch_model.bin", zipped, "pytorch"}, {"a", legacy, "pytorch"}, {"a.pt", []byte("hello"), "pytorch"}} {
		if f, err := (&format.Source{Name: x.name, R: bytes.NewReader(x.head)}).Format(); err != nil || f == nil || f.Name != x.want {
			t.Errorf("%s: %v, %v, want %s", x.name, f, err, x.want)
		}
	}
	if got := sign(zipped[:format.Head], false); got != format.No {
		t.Errorf("of any zip file: %v", got)
	}
	if f, err := (&format.Source{Name: "a.npz", R: bytes.NewReader(zipped)}).Format(); err != nil || f == nil || f.Name != "pytorch" {
		t.Errorf("a zip file with the entries of PyTorch is %v, %v", f, err)
	}
}

// FuzzOpen opens files of any bytes. A file that opens can be read, and by parts it has the same elements.
func FuzzOpen(f *testing.F) {
	f.Add(unzipped(f, torchZip))
	f.Add(unzipped(f, torchLegacy))
	f.Add(legacyOf(dictOf(text("t"), tensorOf(store("FloatStorage", "a", 2, tuple(text("v"), number(1), number(1))), 0, nil, nil), text("n"), number(1)), listOf(text("a")), le(2, 8)+"abcdefgh"))
	f.Add([]byte(strings.Replace(string(legacyOf(called("a.b", "N")+"\x94(\x8c\x01xK\x01}b", "]", "")), "\x80\x02", "\x80\x04", -1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := opened(b)
		y := &File{r: bytes.NewReader(b), size: int64(len(b))}
		if err2 := y.read(); (err == nil) != (err2 == nil) {
			t.Fatalf("%v, by parts %v", err, err2)
		}
		if err != nil {
			var e *format.Error
			if !errors.As(err, &e) || e.Err == nil {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for _, name := range x.Names() {
			i, err := x.Info(name)
			if err != nil {
				t.Fatal(err)
			}
			_ = i.String()
			p, err := x.Tensor(name)
			if err != nil {
				continue
			}
			if p.Len() > 1<<16 {
				continue
			}
			q, err := y.Tensor(name)
			if err != nil || !bytes.Equal(elementsOf(t, p), elementsOf(t, q)) {
				t.Fatalf("%s: %v and by parts %v, %v", name, p, q, err)
			}
			if p.Rank() > 0 && p.Dim(0) > 0 {
				if _, err := x.Tensor(name, layout.Point(0)); err != nil {
					t.Fatal(err)
				}
			}
		}
		x.Metadata()
	})
}
