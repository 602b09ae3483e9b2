package ashlar_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// The tests differences_*_test.go are the differences from another library: each is a subtest. Its title is a line of a page, and its program
// shows our value beside theirs. go test . -run Differences -update writes the pages.

// seen is what a difference shows.
type seen struct {
	ours   any    // computed
	want   string // as text
	theirs string // theirs, as text in the same form
	why    string
}

// check returns the fault of a difference, or "".
func (s seen) check() string {
	switch got := fmt.Sprint(s.ours); {
	case got != s.want:
		return fmt.Sprintf("got %s, want %s; there it is %s. Why: %s", got, s.want, s.theirs, s.why)
	case s.want == s.theirs:
		return "both have " + s.want + ", which is no difference"
	case s.why == "":
		return "the reason is missing"
	}
	return ""
}

// differences collects the titles of a test's differences.
type differences struct {
	t      *testing.T
	titles []string
}

func (d *differences) show(title string, program func() seen) {
	d.titles = append(d.titles, title)
	d.t.Run(title, func(t *testing.T) {
		if fault := program().check(); fault != "" {
			t.Error(fault)
		}
	})
}

const listBegins, listEnds = "<!-- differences: go test . -run Differences -update -->\n", "<!-- end -->\n"

// withList returns a page whose list, or table, has these lines.
func withList(page string, lines []string) (string, error) {
	head, rest, begins := strings.Cut(page, listBegins)
	_, tail, ends := strings.Cut(rest, listEnds)
	if !begins || !ends {
		return "", fmt.Errorf("the page has no place for the list: a line %s and a line %s", strings.TrimSpace(listBegins), strings.TrimSpace(listEnds))
	}
	return head + listBegins + strings.Join(lines, "\n") + "\n" + listEnds + tail, nil
}

// page compares the list of a page with the titles.
func (d *differences) page(name string) {
	d.t.Helper()
	var lines []string
	for _, title := range d.titles {
		lines = append(lines, "- "+title)
	}
	d.lines(name, lines)
}

// lines compares the list of a page with lines.
func (d *differences) lines(name string, lines []string) {
	d.t.Helper()
	file := filepath.FromSlash(name)
	text, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	want, err := withList(string(text), lines)
	switch {
	case err != nil:
		d.t.Fatalf("%s: %v", name, err)
	case want == string(text):
	case *update:
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			d.t.Fatal(err)
		}
	default:
		d.t.Errorf("the list of %s isn't that of the titles; go test . -run Differences -update writes it", name)
	}
}

func TestDifferencesCanFail(t *testing.T) {
	for _, s := range []seen{{1, "2", "3", "so"}, {1, "1", "1", "so"}, {1, "1", "2", ""}} {
		if s.check() == "" {
			t.Errorf("%+v is no fault", s)
		}
	}
	if _, err := withList("- a\n", nil); err == nil {
		t.Error("a page without marks has a list")
	}
	page := "x\n" + listBegins + "- a\n- b\n" + listEnds + "y\n"
	same, err1 := withList(page, []string{"- a", "- b"})
	other, err2 := withList(page, []string{"- b", "- a"})
	if err1 != nil || err2 != nil || same != page || other == page || !strings.HasSuffix(other, "y\n") {
		t.Errorf("got %q, %v and %q, %v", same, err1, other, err2)
	}
}

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
	neg = float32(math.Copysign(0, -1))
)

// vec returns a tensor of rank 1.
func vec[T float32 | float64 | int8 | int32 | int64 | uint8 | uint32 | bool](v ...T) tensor.Tensor[T] {
	return tensor.FromSlice(v, len(v))
}

// bits returns the bits of float32 elements, in hexadecimal.
func bits(t tensor.Tensor[float32]) string {
	var list []string
	for v := range t.Values() {
		list = append(list, fmt.Sprintf("%08x", math.Float32bits(v)))
	}
	return strings.Join(list, " ")
}

// refused returns the message of f's panic.
func refused(f func()) string { return fmt.Sprint(tensor.Try(f)) }
