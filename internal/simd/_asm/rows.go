package main

import "strings"

// kernel describes a row. Its parameters are slices, the first of which is written, and numbers.
type kernel struct {
	table string // the variable of package simd that lists it
	field string // of the struct in that table; "" means the table holds functions
	form  string // that struct
	args  []arg
	wide  bool         // AVX-512 alone
	same  []kernelName // functions of other element types that are the same instructions
	body  func(m machine)
}

type kernelName struct{ field, from, to string }

type arg struct {
	name   string
	kind   kind
	number bool
}

// function returns the name of the function for a field and an instruction set.
func (k *kernel) function(field, level string) string {
	return strings.ToLower(k.table[:1]) + k.table[1:] + field + level
}

func (k *kernel) signature() string {
	var s []string
	for _, a := range k.args {
		t := a.kind.golang()
		if !a.number {
			t = "[]" + t
		}
		s = append(s, a.name+" "+t)
	}
	return "func(" + strings.Join(s, ", ") + ")"
}

// lanes returns how many elements fit a register, of the widest type.
func (k *kernel) lanes(bytes int) int {
	widest := 1
	for _, a := range k.args {
		widest = max(widest, a.kind.size())
	}
	return bytes / widest
}

func slices1(dst, a kind) []arg { return []arg{{"dst", dst, false}, {"a", a, false}} }
func slices2(dst, a kind) []arg { return []arg{{"dst", dst, false}, {"a", a, false}, {"b", a, false}} }

var kernels = func() []kernel {
	var ks []kernel
	two := func(table string, wide func(k kind) bool, op func(m machine, a, b value) value, kinds ...kind) {
		for _, k := range kinds {
			ks = append(ks, kernel{table: table, form: "Rows2", field: k.String(), args: slices2(k, k), wide: wide != nil && wide(k), body: func(m machine) {
				m.store(0, canon(m, op(m, m.load(1), m.load(2))))
			}})
		}
	}
	two("Add", nil, machine.add, F32, F64, I8, I16, I32, I64)
	return ks
}()
