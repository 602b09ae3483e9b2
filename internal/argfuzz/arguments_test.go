package argfuzz

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	cases = flag.Int("cases", 20000, "how many cases TestArguments runs")
	from  = flag.Uint64("from", 0, "the number of the first case")
	trace = flag.String("trace", "", "a file for the number of the case at work, for ends that no test survives")
	keep  = flag.Bool("keep", false, "go on after failures, and print one for each function and cause")
)

type entry struct {
	name string
	fn   any
}

// excluded has the functions that aren't called, with the reason.
var excluded = map[string]string{
	"gguf.WriteSplit":          "it writes files where the arguments say",
	"csv.WriteFile":            "it writes files where the arguments say",
	"gguf.WriteFile":           "it writes files where the arguments say",
	"image.WriteFile":          "it writes files where the arguments say",
	"npy.WriteFile":            "it writes files where the arguments say",
	"npy.WriteZipFile":         "it writes files where the arguments say",
	"raw.WriteFile":            "it writes files where the arguments say",
	"safetensors.WriteFile":    "it writes files where the arguments say",
	"onnx.Model.WriteExternal": "it writes files where the arguments say",
}

const (
	slow = 9 * time.Minute // a call that takes longer hangs, on a slow machine, too
	much = 1 << 30         // bytes that the calls of a case may take, all together
)

// TestArguments runs cases. Each is a function of the table, in turn, with arguments from the number of the case.
func TestArguments(t *testing.T) {
	for name, why := range excluded {
		t.Logf("not called: %s: %s", name, why)
	}
	n := *cases
	if testing.Short() {
		n = min(n, len(table))
	}
	var at *os.File
	if *trace != "" {
		var err error
		if at, err = os.Create(*trace); err != nil {
			t.Fatal(err)
		}
		defer at.Close()
	}
	seen := map[string]bool{}
	calls, skipped := 0, 0
	returned := make([]int, len(table))
	for i := range uint64(n) {
		c := *from + i
		if at != nil {
			if _, err := at.WriteAt(fmt.Appendf(nil, "%20d\n", c), 0); err != nil {
				t.Fatal(err)
			}
		}
		k := int(c % uint64(len(table)))
		r := run(c, k)
		switch {
		case r.failure != "" && !*keep:
			t.Fatal(r.report(c))
		case r.failure != "":
			if !seen[r.cause] {
				seen[r.cause] = true
				t.Error(r.report(c))
			}
		case r.skipped:
			skipped++
		default:
			calls++
			if r.returned {
				returned[k]++
			}
		}
	}
	t.Logf("%d calls, %d without a receiver", calls, skipped)
	if n >= 100*len(table) {
		for k, n := range returned {
			if n == 0 && excluded[table[k].name] == "" {
				t.Logf("never returned: %s", table[k].name)
			}
		}
	}
}

// FuzzArguments lets the fuzzer choose the function and the number of the case.
func FuzzArguments(f *testing.F) {
	f.Add(uint64(0), uint16(0))
	f.Add(uint64(1), uint16(100))
	f.Fuzz(func(t *testing.T, n uint64, k uint16) {
		if r := run(n, int(k)%len(table)); r.failure != "" {
			t.Fatal(r.report(n))
		}
	})
}

// A result is what became of a case.
type result struct {
	name, args     string
	failure, cause string // the failure, with the stack, and one line to tell failures apart
	skipped        bool   // there was no receiver to call a method of
	returned       bool
}

func (r *result) report(n uint64) string {
	return fmt.Sprintf("%s(%s)\n%s\nrepeat it with -run TestArguments -from %d -cases 1", r.name, r.args, r.failure, n)
}

// run calls function k of the table as case n.
func run(n uint64, k int) (r result) {
	e := table[k]
	if excluded[e.name] != "" {
		return result{name: e.name, skipped: true}
	}
	d := newDrawer(n)
	d.working = e.name
	before := allocated()
	watch := time.AfterFunc(slow, func() {
		fmt.Fprintf(os.Stderr, "%s hangs, or what makes its arguments; repeat it with -run TestArguments -from %d -cases 1\n", d.working, n)
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%s\n", buf[:runtime.Stack(buf, true)])
		os.Exit(2)
	})
	defer watch.Stop()
	r = d.call(k)
	if took := allocated() - before; r.failure == "" && took > much {
		r.failure = fmt.Sprintf("took %d MiB", took>>20)
		r.cause = r.name + ": memory"
	}
	return r
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// enough ends a function that calls another for each of more elements than anybody waits for.
type enough struct{}

// call draws arguments for function k and calls it.
func (d *drawer) call(k int) (r result) {
	e := table[k]
	r.name = e.name
	fn := reflect.ValueOf(e.fn)
	ft := fn.Type()
	args := make([]reflect.Value, ft.NumIn())
	for i := range args {
		args[i] = d.value(ft.In(i))
		// A method of a nil pointer or interface is Go's own mistake to report.
		for try := 0; i == 0 && e.isMethod() && isNil(args[i]); try++ {
			if try == 8 {
				r.skipped = true
				return r
			}
			args[i] = d.value(ft.In(i))
		}
	}
	r.try(fn, args, func(out []reflect.Value) {
		for _, v := range out {
			d.note(v)
		}
		d.take()
	})
	return r
}

func (e *entry) isMethod() bool {
	return strings.Count(strings.SplitN(e.name, "[", 2)[0], ".") > 1 || strings.Contains(e.name, "].")
}

// try calls fn and gives the results to use. It returns the error that fn returns or panics with; a panic with another
// one than those of the packages is a failure.
func (r *result) try(fn reflect.Value, args []reflect.Value, use func(out []reflect.Value)) (err error) {
	defer func() {
		v := recover()
		switch v := v.(type) {
		case nil, enough:
			return
		case *tensor.Error:
			err = v
			return
		case *layout.Error:
			err = v
			return
		}
		stack := string(debug.Stack())
		if i := strings.Index(stack, "panic("); i >= 0 {
			stack = stack[i:]
		}
		if i := strings.Index(stack, "reflect.Value.call"); i >= 0 {
			stack = stack[:i]
		}
		r.args = show(args)
		r.failure = fmt.Sprintf("panic: %T: %v\n%s", v, v, stack)
		r.cause = place(stack)
	}()
	var out []reflect.Value
	if fn.Type().IsVariadic() {
		out = fn.CallSlice(args)
	} else {
		out = fn.Call(args)
	}
	r.returned = true
	for _, v := range out {
		if e, ok := v.Interface().(error); ok && e != nil {
			_ = e.Error() // the text is made here, often of what was wrong
			r.returned, err = false, e
		}
	}
	use(out)
	return err
}

// place returns the first line of a stack that lies in the tree.
func place(stack string) string {
	for line := range strings.Lines(stack) {
		if i := strings.Index(line, "ashlar"); i >= 0 && strings.Contains(line, ".go:") && !strings.Contains(line, "argfuzz") {
			f, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			return f
		}
	}
	return stack
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil()
	case reflect.Interface:
		return v.IsNil() || isNil(v.Elem())
	}
	return false
}

// note keeps a result for later arguments, walks an iterator and calls a function without arguments.
func (d *drawer) note(v reflect.Value) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Func && v.IsNil():
		return
	case t.CanSeq():
		if t.Kind() == reflect.Func {
			i := 0
			for range v.Seq() {
				if i++; i == 3 {
					break
				}
			}
			return
		}
	case t.CanSeq2() && t.Kind() == reflect.Func:
		i := 0
		for range v.Seq2() {
			if i++; i == 3 {
				break
			}
		}
		return
	case t.Kind() == reflect.Func && t.NumIn() == 0:
		v.Call(nil)
		return
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		for range min(v.Len(), 8) {
			d.note(v.Index(d.IntN(v.Len())))
		}
	}
	if a, ok := v.Interface().(laid); ok && !isNil(v) {
		if lay := a.Layout(); lay.Size() > large {
			return
		}
	}
	if (t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface) && !isNil(v) {
		d.made[t] = append(d.made[t], v)
		if t.Kind() == reflect.Interface {
			d.made[v.Elem().Type()] = append(d.made[v.Elem().Type()], v.Elem())
		}
		if a, ok := v.Interface().(tensor.Any); ok {
			d.noteTyped(a)
		}
	}
}

// laid is what has an element type and a layout.
type laid interface {
	DType() dtype.DType
	Layout() layout.Layout
}

// noteTyped keeps a as what it was made of.
func (d *drawer) noteTyped(a tensor.Any) {
	of := a.Foreign()
	for _, hold := range holds {
		if t, ok := hold(a); ok {
			of = t
		}
	}
	if of != nil {
		t := reflect.TypeOf(of)
		d.made[t] = append(d.made[t], reflect.ValueOf(of))
	}
}

// makes lists the functions that return a type; implements, the concrete types of the table behind an interface.
var (
	makes      = map[reflect.Type][]int{}
	known      []reflect.Type
	implements = map[reflect.Type][]reflect.Type{}
)

func init() {
	for k, e := range table {
		t := reflect.TypeOf(e.fn)
		for i := range t.NumOut() {
			o := t.Out(i)
			makes[o] = append(makes[o], k)
			if !slices.Contains(known, o) {
				known = append(known, o)
			}
		}
		for i := range t.NumIn() {
			if !slices.Contains(known, t.In(i)) {
				known = append(known, t.In(i))
			}
		}
	}
}

// behind returns the types of the table that implement an interface.
func behind(t reflect.Type) []reflect.Type {
	if v, ok := implements[t]; ok || t.NumMethod() == 0 {
		return v
	}
	var v []reflect.Type
	for _, k := range known {
		if k.Kind() != reflect.Interface && k.Implements(t) {
			v = append(v, k)
		}
	}
	implements[t] = v
	return v
}

// opaque reports whether values of a struct come from functions alone.
func opaque(t reflect.Type) bool {
	for i := range t.NumField() {
		if f := t.Field(i); !f.IsExported() {
			return true
		}
	}
	return false
}

// value draws a value of a type.
func (d *drawer) value(t reflect.Type) reflect.Value {
	if m := d.made[t]; len(m) > 0 && d.IntN(3) > 0 {
		return m[d.IntN(len(m))]
	}
	if f := makers[t]; f != nil {
		return f(d)
	}
	if fs := others[t]; len(fs) > 0 && t.Kind() != reflect.Interface && d.ordinary() && d.IntN(2) == 0 {
		return fs[d.IntN(len(fs))](d)
	}
	v := reflect.New(t).Elem()
	if d.depth > 5 {
		return v
	}
	d.depth++
	defer func() { d.depth-- }()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(d.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(d.int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(d.int()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(d.float())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(d.float(), d.float()))
	case reflect.String:
		v.SetString(d.text())
	case reflect.Slice:
		if !d.ordinary() && d.IntN(4) == 0 {
			return v
		}
		n := d.count()
		v.Set(reflect.MakeSlice(t, n, n))
		for i := range n {
			v.Index(i).Set(d.value(t.Elem()))
		}
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(d.value(t.Elem()))
		}
	case reflect.Map:
		if !d.ordinary() && d.IntN(4) == 0 {
			return v
		}
		v.Set(reflect.MakeMap(t))
		for range d.IntN(3) {
			v.SetMapIndex(d.value(t.Key()), d.value(t.Elem()))
		}
	case reflect.Pointer:
		if !d.ordinary() && d.IntN(4) == 0 {
			return v
		}
		if t.Elem().Kind() == reflect.Struct && len(makes[t]) > 0 && opaque(t.Elem()) { // a handle: it has constructors
			return d.produce(t)
		}
		e := d.value(t.Elem())
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(e)
	case reflect.Struct:
		if opaque(t) {
			if len(makes[t]) == 0 || !d.ordinary() && d.IntN(4) == 0 {
				return v
			}
			return d.produce(t)
		}
		for i := range t.NumField() {
			if d.IntN(2) == 0 {
				v.Field(i).Set(d.value(t.Field(i).Type))
			}
		}
	case reflect.Func:
		if !d.ordinary() {
			return v
		}
		var calls atomic.Int64
		v.Set(reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
			if calls.Add(1) > 100_000 {
				panic(enough{})
			}
			d.give(in) // to have their methods called when the function has returned
			out := make([]reflect.Value, t.NumOut())
			for i := range out {
				out[i] = reflect.Zero(t.Out(i))
			}
			return out
		}))
	case reflect.Interface:
		if !d.ordinary() && d.IntN(3) == 0 {
			return v
		}
		ts, fs := behind(t), others[t]
		if n := len(ts) + len(fs); n > 0 {
			if i := d.IntN(n); i < len(fs) {
				return fs[i](d)
			} else if x := d.value(ts[i-len(fs)]); !isNil(x) {
				v.Set(x)
			}
			return v
		}
		if len(makes[t]) > 0 {
			return d.produce(t)
		}
	}
	return v
}

// produce calls functions that return a type until one does.
func (d *drawer) produce(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	for range 4 {
		k := makes[t][d.IntN(len(makes[t]))]
		if excluded[table[k].name] != "" {
			continue
		}
		if r := d.call(k); r.failure != "" {
			continue // it fails in a case of its own, too
		}
		if m := d.made[t]; len(m) > 0 {
			return m[len(m)-1]
		}
	}
	return v
}

// show prints arguments, as far as they have a text.
func show(args []reflect.Value) string {
	var parts []string
	for _, a := range args {
		parts = append(parts, text(a))
	}
	return strings.Join(parts, ", ")
}

func text(v reflect.Value) (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = fmt.Sprintf("%s without a text", v.Type())
		}
	}()
	if !v.IsValid() {
		return "nil"
	}
	if l, ok := v.Interface().(laid); ok && !isNil(v) {
		y := l.Layout()
		return fmt.Sprintf("%s %v", v.Type(), y.String())
	}
	s = fmt.Sprintf("%#v", v.Interface())
	if o, ok := v.Interface().(fmt.Stringer); ok {
		s = o.String()
	}
	if len(s) > 300 {
		s = s[:300] + "..."
	}
	return v.Type().String() + "(" + s + ")"
}
