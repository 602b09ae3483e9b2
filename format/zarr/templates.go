package zarr

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/zarr/internal/request"
)

var (
	braces    = regexp.MustCompile(`\{\{(.*?)\}\}`)
	callForm  = regexp.MustCompile(`^(\w+)\s*\(([^()]*)\)$`)
	argument  = regexp.MustCompile(`^\s*(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)")\s*$`)
	variables = regexp.MustCompile(`^[A-Za-z_]\w*`)
)

// expand replaces text in double braces: templates by name or call, and expressions of numbers.
func (s *references) expand(text string, numbers map[string]int64) (out string, err error) {
	rest := text
	for at := braces.FindStringIndex(rest); at != nil && err == nil; at = braces.FindStringIndex(rest) {
		var t string
		t, err = s.value(rest[at[0]:at[1]], numbers)
		out, rest = out+rest[:at[0]]+t, rest[at[1]:]
		if len(out) > maxAddress {
			break
		}
	}
	if out += rest; err == nil && len(out) > maxAddress {
		err = fail(format.ErrLimit, "an address of more than %d bytes", maxAddress)
	}
	return out, err
}

// value returns the text that replaces double braces.
func (s *references) value(m string, numbers map[string]int64) (string, error) {
	inner := strings.TrimSpace(m[2 : len(m)-2])
	bad := fail(ErrFormat, "%.100q isn't read here: it is no template, and no short expression of whole numbers", request.Plain(m))
	if len(m) > maxBraces {
		return "", bad
	}
	if t, ok := s.templates[inner]; ok {
		return t, nil
	}
	if call := callForm.FindStringSubmatch(inner); call != nil {
		t, ok := s.templates[call[1]]
		for arg := range strings.SplitSeq(call[2], ",") {
			a := argument.FindStringSubmatch(arg)
			if ok = ok && a != nil && len(t) <= maxBraces; !ok {
				return "", bad
			}
			t = braces.ReplaceAllStringFunc(t, func(m string) string {
				if strings.TrimSpace(m[2:len(m)-2]) == a[1] {
					return a[2] + a[3]
				}
				return m
			})
		}
		return t, nil
	}
	e := expression{text: inner, numbers: numbers}
	v, ok := e.sum(0)
	if !ok || strings.TrimSpace(e.text) != "" {
		return "", bad
	}
	return strconv.FormatInt(v, 10), nil
}

// An expression of integers, which is parsed from left to right.
type expression struct {
	text    string
	numbers map[string]int64
}

func (e *expression) take(signs ...string) string {
	e.text = strings.TrimSpace(e.text)
	for _, s := range signs {
		if rest, ok := strings.CutPrefix(e.text, s); ok {
			e.text = rest
			return s
		}
	}
	return ""
}

func (e *expression) sum(depth int) (int64, bool) {
	v, ok := e.product(depth)
	for ok {
		sign := e.take("+", "-")
		if sign == "" {
			break
		}
		w, good := e.product(depth)
		if sign == "-" {
			w = -w
		}
		sum := v + w
		ok = good && (sum > v) == (w > 0)
		v = sum
	}
	return v, ok
}

func (e *expression) product(depth int) (int64, bool) {
	v, ok := e.number(depth)
	for ok {
		sign := e.take("*", "//", "/", "%")
		if sign == "" {
			break
		}
		w, good := e.number(depth)
		switch {
		case !good, sign != "*" && (w <= 0 || v < 0), sign == "/" && v%w != 0, sign == "*" && w != 0 && v*w/w != v:
			return 0, false
		case sign == "*":
			v *= w
		case sign == "%":
			v %= w
		default:
			v /= w
		}
	}
	return v, ok
}

func (e *expression) number(depth int) (v int64, ok bool) {
	if depth > 20 {
		return 0, false
	}
	if e.take("(") != "" {
		v, ok = e.sum(depth + 1)
		return v, ok && e.take(")") != ""
	}
	if name := variables.FindString(e.text); name != "" {
		e.text = e.text[len(name):]
		v, ok = e.numbers[name]
		return v, ok
	}
	digits := 0
	for digits < len(e.text) && e.text[digits] >= '0' && e.text[digits] <= '9' {
		digits++
	}
	v, err := strconv.ParseInt(e.text[:digits], 10, 64)
	e.text = e.text[digits:]
	return v, err == nil
}

// generate makes the references that gen describes.
func (s *references) generate(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var list []struct {
		Key, URL       string
		Offset, Length json.RawMessage
		Dimensions     map[string]json.RawMessage
	}
	if err := decode(raw, &list); err != nil {
		return err
	}
	size, made := 0, 0
	for _, g := range list {
		names := slices.Sorted(maps.Keys(g.Dimensions))
		values, total := make([][]int64, len(names)), 1
		for i, name := range names {
			var span struct {
				Start, Stop int64
				Step        *int64
			}
			if json.Unmarshal(g.Dimensions[name], &values[i]) != nil {
				if err := decode(g.Dimensions[name], &span); err != nil {
					return within(fmt.Sprintf("the dimension %.50q", name), err)
				}
				step := int64(1)
				if span.Step != nil {
					step = *span.Step
				}
				if step < 1 || span.Stop > span.Start && (span.Start < 0 || (span.Stop-span.Start-1)/step >= maxGenerated) {
					return fail(format.ErrLimit, "the dimension %.50q from %d to %d by %d; up to %d references are made", name, span.Start, span.Stop, step, maxGenerated)
				}
				for v := span.Start; v < span.Stop; v += step {
					values[i] = append(values[i], v)
					if step >= span.Stop-v { // v + step may be beyond an int64
						break
					}
				}
			}
			made += len(values[i])
			if total = times(total, len(values[i])); total > maxGenerated || made > maxGenerated {
				return fail(format.ErrLimit, "more than %d references", maxGenerated)
			}
		}
		if made += total; made > maxGenerated {
			return fail(format.ErrLimit, "more than %d references, and values of their dimensions", maxGenerated)
		}
		for k := range total {
			numbers, rest := map[string]int64{}, k
			for i := len(names) - 1; i >= 0; i-- {
				numbers[names[i]] = values[i][rest%len(values[i])]
				rest /= len(values[i])
			}
			key, err := s.expand(g.Key, numbers)
			var parts [3]string
			for i, text := range []string{g.URL, string(g.Offset), string(g.Length)} {
				if unquoted := ""; i > 0 && json.Unmarshal([]byte(text), &unquoted) == nil {
					text = unquoted
				}
				if err == nil {
					parts[i], err = s.expand(text, numbers)
				}
			}
			if err != nil {
				return err
			}
			address, _ := json.Marshal(parts[0])
			ref := "[" + string(address) + "]"
			if parts[1] != "" || parts[2] != "" {
				ref = fmt.Sprintf("[%s,%s,%s]", address, parts[1], parts[2])
			}
			if ValidKey(key) != nil || !json.Valid([]byte(ref)) {
				return fail(ErrFormat, "it makes the key %.100q and the reference %.100s", key, request.Plain(ref))
			}
			if size += len(key) + len(ref) + len(g.Key) + len(g.URL) + len(g.Offset) + len(g.Length); size > maxMetadata {
				return fail(format.ErrLimit, "the references have more than %d bytes", maxMetadata)
			}
			s.refs[key] = []byte(ref)
		}
	}
	return nil
}
