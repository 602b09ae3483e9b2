package npy

import (
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
)

// isRaw reports whether Write stores d as raw bytes, as ml_dtypes does. An element of 2 or
// 4 bits takes a byte.
func isRaw(d dtype.DType) bool { return conv.NumPy[d] == "" && structured[d] == "" && d.Size() > 0 }

// structured are the descriptors of fixed point, as Python lists of one field.
var structured = [dtype.Count]string{
	dtype.FP8x23: "[('fp8x23', '<i4')]", dtype.FP16x16: "[('fp16x16', '<i4')]", dtype.FP32x32: "[('fp32x32', '<i8')]",
	dtype.FP64x64: "[('fp64x64', [('hi', '<i8'), ('lo', '<u8')])]",
}

// list reads a structured type; at is the place of its bracket.
func (p *parser) list(at int, h *Header) error {
	plain := strings.NewReplacer(", ", ",", "\"", "'") // other spellings by Python programs
	for depth, i := 0, at; i < len(p.text); i++ {
		switch p.text[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth > 0 {
			continue
		}
		text := string(p.text[at : i+1])
		for d, want := range structured {
			if want == "" {
				continue
			}
			got, want := plain.Replace(text), plain.Replace(want)
			if big := got != want; !big || got == strings.ReplaceAll(want, "<", ">") {
				p.pos, h.Descr, h.DType, h.BigEndian = i+1, text, dtype.DType(d), big
				return nil
			}
		}
		break
	}
	return p.fail(at, format.ErrType, "descr is a list: a structured type; save each field as an array of its own")
}

// refused are the kinds without a counterpart.
var refused = map[byte]string{
	'O': "Python objects: the file holds a pickle, which can run code; save the array with a numeric dtype",
	'S': "byte strings; convert them to numbers before saving",
	'a': "byte strings; convert them to numbers before saving",
	'U': "strings; convert them to numbers before saving",
	'T': "strings; convert them to numbers before saving",
	'M': "dates; save them .astype('int64')",
	'm': "time differences; save them .astype('int64')",
}

// descr reads the value of the key descr.
func (p *parser) descr(h *Header) error {
	at := p.pos
	if at < len(p.text) && p.text[at] == '[' {
		return p.list(at, h)
	}
	if at < len(p.text) && p.text[at] == '(' {
		return p.fail(at, format.ErrType, "descr is a tuple: a type of sub-arrays; save the array with its full shape")
	}
	text, err := p.quoted("descr")
	if err != nil {
		return err
	}
	h.Descr = text
	order, kind := byte('<'), text
	if text != "" && strings.IndexByte("<>|=", text[0]) >= 0 {
		order, kind = text[0], text[1:]
	}
	if strings.HasPrefix(kind, "V") {
		return p.void(at, h, order, kind)
	}
	d, ok := coded(kind)
	if !ok && kind == text {
		d, ok = named(text)
	}
	if !ok {
		if kind != "" {
			if why, known := refused[kind[0]]; known {
				return p.fail(at, format.ErrType, "descr %q: %s", text, why)
			}
		}
		if strings.HasPrefix(kind, "datetime64") || strings.HasPrefix(kind, "timedelta64") {
			return p.fail(at, format.ErrType, "descr %q: %s", text, refused['M'])
		}
		return p.fail(at, format.ErrType, "descr %q is no element type known here; save the array with another dtype", text)
	}
	h.DType, h.BigEndian = d, order == '>' && d.Size() > 1
	return nil
}

func coded(kind string) (dtype.DType, bool) {
	switch kind {
	case "":
		return dtype.Invalid, false
	case "?":
		return dtype.Bool, true
	case "f1": // ml_dtypes' name for its only IEEE type of that size
		return dtype.Float8E5M2, true
	}
	for d, c := range conv.NumPy {
		if c == kind {
			return dtype.DType(d), true
		}
	}
	return dtype.Invalid, false
}

// named returns the type that NumPy or ml_dtypes calls by this name.
func named(name string) (dtype.DType, bool) {
	switch name {
	case "float8_e4m3fn":
		return dtype.Float8E4M3, true
	case "float8_e8m0fnu":
		return dtype.Float8E8M0, true
	case "float4_e2m1fn":
		return dtype.Float4E2M1, true
	case "float8_e4m3": // not the type of this name here: it has infinities
		return dtype.Invalid, false
	}
	for _, d := range dtype.All() {
		if d.String() == name {
			return d, true
		}
	}
	return dtype.Invalid, false
}

// void reads raw bytes as the type the caller asked for, or as the only one
// they can be.
func (p *parser) void(at int, h *Header, order byte, kind string) error {
	size, err := strconv.Atoi(kind[1:])
	if err != nil {
		return p.fail(at, format.ErrType, "descr %q is no element type known here; save the array with a numeric dtype", h.Descr)
	}
	h.BigEndian = order == '>' && size > 1
	switch {
	case p.as.Size() == size && size > 0:
		h.DType = p.as
		return nil
	case kind == "V2" && order == '<':
		h.DType = dtype.BFloat16
		return nil
	case p.as != dtype.Invalid:
		return p.fail(at, format.ErrType, "descr %q: raw bytes, %d an element; they can't be read as %v, which has %d", h.Descr, size, p.as, p.as.Size())
	}
	var perhaps []string
	for _, d := range dtype.All() {
		if isRaw(d) && d.IsNarrow() && d.Size() == size {
			perhaps = append(perhaps, d.String())
		}
	}
	hint := ""
	if len(perhaps) > 0 {
		hint = ", perhaps " + strings.Join(perhaps, " or ")
	}
	return p.fail(at, format.ErrType, "descr %q: raw bytes whose type the file doesn't say%s; the option As names it", h.Descr, hint)
}

// descrOf returns the descriptor that Write uses for d, as Python writes it; "" if there is none.
func descrOf(d dtype.DType) string {
	if int(d) >= dtype.Count {
		return ""
	}
	if s := structured[d]; s != "" {
		return s
	}
	if c := code(d); c != "" {
		return "'" + c + "'"
	}
	return ""
}

func code(d dtype.DType) string {
	switch {
	case isRaw(d) && d.Size() == 1:
		return "|V1"
	case isRaw(d):
		return "<V2"
	case d.Size() == 0:
		return ""
	case d.Size() == 1:
		return "|" + conv.NumPy[d]
	}
	return "<" + conv.NumPy[d]
}
