package simd

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// The build of TestKernels has this file in package simd. There each function Try and each function of a table notes its name.

var (
	noted   sync.Map
	tables  sync.Map // pointers of tables by those of the tables that they are copies of
	copying sync.Mutex
)

// Note notes that a kernel was called.
func Note(name string) { noted.Store(name, true) }

// Noted returns the names of the kernels that were called since the last time.
func Noted() (names []string) {
	noted.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		noted.Delete(name)
		return true
	})
	slices.Sort(names)
	return names
}

// Noting returns the copy of a table whose functions note their names. There is one of each table.
func Noting[F any](table F) F {
	v := reflect.ValueOf(&table).Elem()
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return table
	}
	copying.Lock()
	defer copying.Unlock()
	if c, ok := tables.Load(v.UnsafePointer()); ok {
		return c.(F)
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	note(c.Elem(), v.Type().Elem().Name())
	tables.Store(v.UnsafePointer(), c.Interface())
	tables.Store(c.UnsafePointer(), c.Interface())
	return c.Interface().(F)
}

// note replaces the functions in v.
func note(v reflect.Value, name string) {
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // unexported fields can be set so
	switch v.Kind() {
	case reflect.Func:
		if v.IsNil() {
			return
		}
		f := reflect.ValueOf(v.Interface())
		v.Set(reflect.MakeFunc(v.Type(), func(in []reflect.Value) []reflect.Value {
			Note(name)
			return f.Call(in)
		}))
	case reflect.Struct:
		for i := range v.NumField() {
			note(v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range v.Len() {
			note(v.Index(i), name)
		}
	case reflect.Slice:
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(s, v)
		v.Set(s)
		for i := range v.Len() {
			note(v.Index(i), name)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			v.Set(c)
			note(c.Elem(), fmt.Sprint(name, ".", v.Type().Elem().Name()))
		}
	}
}
