package pytorch

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/mem"
)

// Files of PyTorch 1.13.1 in Debian 12, compressed:
//
//	w = torch.tensor([[1., 2.], [3., 4.]])
//	torch.save({"w": w, "t": w.t(), "n": 3}, path)
//	torch.save({"w": w, "t": w.t(), "n": 3}, path, _use_new_zipfile_serialization=False)
const (
	torchZip    = "eNqFUk1Lw0AQ3Xw0TVertVbw1IOnClqLIujJUiSXPRirQvESahqaYGg6yaaehJ4K1f8gXsSzJ3+H/0L8FW42od/VIctjJ+/NmxlWJ5KMkKqiucBoGwUHrSZtlrv3rlYroNsF0RcfAZUaAhM8gGBSzzftshFSxw2w4Vt3oeO2DGp1As83eocYxFKpkWbkgDGbbQukWII112vSqziJQeYFK5BqSAzNbggKkSmkLwkiIhEHoDIQBpAZmqbnupZJHa8T4Au/ZflW69wxKQa8W4cVCqt1yPJqFNZs5m5LtmynbF5vfVQvR4QINoZ2JMtT2KxDgcs6sEWksKyTtPrz9JH9Zqno6Ev3pqKdZG8HFa1WXLi1cSDUP2OiKvvY6Vcjn+vC+3OOJXN/+mTQKfPpWX7AZtdqx/8YLYkjHDl+vbRvRFZT5I6CyOdIPCenxnNdjF/IrG5yiun2TwQ02tCsarKTzJTqlauSeXWiKHvJj6K0PyJJM/iWYF6Mkemi14c+k7vAcykl1kicH3N/AcyLmKw="
	torchLegacy = "eNpdkL1OwzAQx/NVSg2F8imxMYalagsSIx1QF4uvsmRBUUisxsiKe86lCKRKnSrKM/AAvBqPgMTApREMtew7+e/zz//zzHln6udj8H389Hl71J45V18uxSlYftCyLGtsNOpYq3AiTC51BjYVBE06URJRiVBkiYwycN4CRiK+jEWYy1eRgzsFzw9qJOapNgg17gQu7WSGsMa9wCsZOhtBnXtF8femTeoz2DFqE6ftsECpchYa8VhIlYQoslybcNJj4Ph+UC/hVBmNBLjVFTZQOsL7SmTgBQ2qOT3vdbvdzlkHaksL8bgoLVwj1O+4xR3uzGGdkj2HxiKmbpWIkZrN2Y1JhBHJpYyRATsZwgbC5hCaS58IWynZSN109ZnttMK3/vE73C7T7iItKXsI+0M4WFIyOORu2f8DWCsYO2qXv1SN2QWFPk1as/4vmrF0UQ=="
)

func unzipped(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return b
}

// Pieces of pickles.

func le(n uint64, size int) string {
	return string(binary.LittleEndian.AppendUint64(nil, n)[:size])
}

func text(s string) string { return "X" + le(uint64(len(s)), 4) + s }
func number(n int64) string {
	return "\x8a\x08" + le(uint64(n), 8)
}
func name(s string) string {
	i := strings.LastIndexByte(s, '.')
	return "c" + s[:i] + "\n" + s[i+1:] + "\n"
}
func tuple(parts ...string) string { return "(" + strings.Join(parts, "") + "t" }
func listOf(parts ...string) string {
	return "](" + strings.Join(parts, "") + "e"
}
func dictOf(parts ...string) string {
	return "}(" + strings.Join(parts, "") + "u"
}
func called(f string, args ...string) string { return name(f) + tuple(args...) + "R" }
func numbers(list []int64) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, number(n))
	}
	return tuple(parts...)
}
func store(class, key string, count int64, more ...string) string {
	return tuple(append([]string{text("storage"), name("torch." + class), text(key), text("cpu"), number(count)}, more...)...) + "Q"
}
func tensorOf(storage string, offset int64, shape, strides []int64, more ...string) string {
	return called("torch._utils._rebuild_tensor_v2", append([]string{storage, number(offset), numbers(shape), numbers(strides), "\x89", called("collections.OrderedDict")}, more...)...)
}

// zipOf is a file of a pickle, and of entries by their names in the folder.
func zipOf(t testing.TB, pickle string, entries map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	put := func(name, s string) {
		e, err := w.CreateHeader(&zip.FileHeader{Name: "x/" + name, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(e, s)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("data.pkl", "\x80\x02"+pickle+".")
	var names []string
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		put(name, entries[name])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// legacyOf is a legacy file of a pickle, the keys of its storages and their bytes.
func legacyOf(pickle, keys, storages string) []byte {
	start := "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." + "\x80\x02M\xe9\x03." + "\x80\x02" + dictOf(text("little_endian"), "\x88") + "."
	return []byte(start + "\x80\x02" + pickle + ".\x80\x02" + keys + "." + storages)
}

func opened(b []byte) (*File, error) { return New(mem.Borrow(b, nil)) }
