package main

import (
	"fmt"
	"slices"
	"strings"
)

// A table is Markdown as it grows.
type table struct{ strings.Builder }

func (t *table) row(cells ...string) { fmt.Fprintf(t, "| %s |\n", strings.Join(cells, " | ")) }

func (t *table) head(cells ...string) {
	t.row(cells...)
	t.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

// tables returns all tables by their names.
func (r *results) tables() map[string]string {
	all := map[string]string{"scoreboard": r.scoreboard(), "arrays": r.arrays(), "models": r.whole(), "numpy": r.selecting(), "machines": r.machines()}
	for _, t := range r.rows.Tables {
		var out table
		var columns []string
		for _, m := range r.rows.Machines {
			for _, c := range t.Rows {
				if c.On[m.Name] != nil {
					columns = append(columns, m.Name)
					break
				}
			}
		}
		out.head(append([]string{"case"}, columns...)...)
		for _, c := range t.Rows {
			cells := []string{"`" + c.Case + "`"}
			for _, name := range columns {
				v := c.On[name]
				switch {
				case v == nil:
					cells = append(cells, "")
				case v.High == 0:
					cells = append(cells, fmt.Sprintf("%.2f %s", v.Ratio, v.Rival))
				default:
					cells = append(cells, fmt.Sprintf("%.2f %s, %.2f to %.2f", v.Ratio, v.Rival, v.Low, v.High))
				}
			}
			out.row(cells...)
		}
		all[t.Name] = out.String()
	}
	for _, o := range r.others {
		var out table
		out.head(o.Columns...)
		for _, cells := range o.Rows {
			out.row(cells...)
		}
		out.WriteString(o.line())
		all[o.Name] = out.String()
	}
	return all
}

// few are the models of the scoreboard in README.md.
var few = []string{"light_resnet50", "yolox-nano", "encoder6", "magika-standard-v3_3", "super-resolution-10", "basic-pitch"}

// scoreboard is the table of README.md.
func (r *results) scoreboard() string {
	var out table
	out.head("model", "speed, 1 thread", "2 threads", "error, ONNX Runtime", "error, ours", "MiB, ONNX Runtime", "MiB, ours")
	list := r.measured(r.models)
	for _, name := range few {
		for _, m := range list {
			if m.name == name {
				theirs, ours := m.errors()
				out.row(m.name, fmt.Sprintf("%.2f", m.on[1].Ratio), fmt.Sprintf("%.2f", m.on[2].Ratio), theirs, ours, mebibytes(m.on[1].Peer.Peak), mebibytes(m.on[1].Ours.Peak))
			}
		}
	}
	out.WriteString("\n")
	out.head("machine", "models", "speed, 1 thread", "2 threads", "slower, 1 thread", "slowest", "MiB, ONNX Runtime", "MiB, ours")
	for _, on := range append([]models{r.models}, r.more...) {
		all := r.measured(on)
		out.means(on, "all", all)
		if on.Processor != r.models.Processor {
			continue
		}
		out.means(on, "looked at while tuning", slices.DeleteFunc(slices.Clone(all), model.late))
		out.means(on, "added late, one of them looked at", slices.DeleteFunc(all, func(m model) bool { return !m.late() }))
	}
	return out.String()
}

// late reports whether a model was added when most kernels were there. Of these, PP-OCRv4 det was looked at since.
func (m model) late() bool {
	return slices.Contains([]string{"openwakeword embedding", "openwakeword alexa", "openwakeword hey_jarvis", "PP-OCRv4 det", "PP-OCRv4 rec", "mlsd 320 tiny", "blazeface front"}, m.name)
}

// means writes a row: geometric means of the models of a machine, and how many of them lose.
func (t *table) means(on models, kind string, list []model) {
	var one, two, theirs, ours mean
	slower, slowest := 0, list[0]
	for _, m := range list {
		one.add(m.on[1].Ratio)
		if m.on[1].Ratio < 1 {
			slower++
		}
		if m.on[1].Ratio < slowest.on[1].Ratio {
			slowest = m
		}
		if both, ok := m.on[2]; ok {
			two.add(both.Ratio)
			theirs.add(float64(m.on[1].Peer.Peak) / 1024)
			ours.add(float64(m.on[1].Ours.Peak) / 1024)
		}
	}
	t.row(on.Processor+", "+on.Level, fmt.Sprintf("%d, %s", one.n, kind), "**"+one.String()+"**", two.String(), fmt.Sprint(slower),
		fmt.Sprintf("%.2f, %s", slowest.on[1].Ratio, slowest.name), theirs.whole(), ours.whole())
}

// arrays is the table of README.md's means beside libraries of arrays.
func (r *results) arrays() string {
	var out table
	out.head("beside", "cases, one thread", "their time over ours, geometric mean")
	var sorts, best mean
	for _, c := range r.numpy.Rows {
		sorts.add(c.Ratio)
	}
	out.row("NumPy", fmt.Sprintf("%d of sorting, selecting and moving", sorts.n), sorts.String())
	for _, t := range r.rows.Tables {
		for _, c := range t.Rows {
			if v := c.On["Emerald Rapids"]; v != nil && t.Threads == 1 {
				best.add(v.Ratio)
			}
		}
	}
	out.row("the best of seven libraries, Go's vek among them", fmt.Sprintf("%d of products, functions, reductions and moves", best.n), best.String())
	return out.String()
}

// errors returns the largest errors of both sides' outputs.
func (m *model) errors() (theirs, ours string) {
	if m.exact == nil {
		return "", ""
	}
	return fmt.Sprintf("%.1e", m.exact.Peer.Distance.Absolute), fmt.Sprintf("%.1e", m.exact.Ours.Distance.Absolute)
}

func mebibytes(kibibytes int64) string { return fmt.Sprintf("%.0f", float64(kibibytes)/1024) }

// whole has a table of all models for each machine.
func (r *results) whole() string {
	var out table
	for _, on := range append([]models{r.models}, r.more...) {
		if on.Rows[0].Peer.Milliseconds == 0 { // ratios are all that is known
			out.head("model", "ratio")
			for _, m := range on.Rows {
				out.row(m.Model, fmt.Sprintf("%.2f", m.Ratio))
			}
			out.WriteString(on.line() + "\n")
			continue
		}
		out.head("model", "nodes", "ONNX Runtime, ms", "ours, ms", "ratio", "ONNX Runtime, ms, 2 threads", "ours, ms, 2 threads", "ratio, 2 threads", "largest output", "error, ONNX Runtime", "error, ours", "MiB, ONNX Runtime", "MiB, ours", "channels last, %")
		number := func(format string, v float64) string { return fmt.Sprintf(format, v) }
		var means [2]mean
		for _, m := range r.measured(on) {
			one, two := m.on[1], m.on[2]
			means[0].add(one.Ratio)
			means[1].add(two.Ratio)
			theirs, ours := m.errors()
			last := ""
			if one.Last != nil {
				last = number("%.1f", 100**one.Last)
			}
			out.row(m.name, fmt.Sprint(m.nodes), number("%.3f", one.Peer.Milliseconds), number("%.3f", one.Ours.Milliseconds), number("%.2f", one.Ratio),
				number("%.3f", two.Peer.Milliseconds), number("%.3f", two.Ours.Milliseconds), number("%.2f", two.Ratio), number("%.2g", one.Largest), theirs, ours, mebibytes(one.Peer.Peak), mebibytes(one.Ours.Peak), last)
		}
		out.row("geometric mean", "", "", "", means[0].String(), "", "", means[1].String(), "", "", "", "", "", "")
		var missed []string
		for _, m := range on.Rows {
			if m.Error != "" && m.Threads == 1 {
				missed = append(missed, m.Model)
			}
		}
		if len(missed) > 0 {
			fmt.Fprintf(&out, "\nNot measured: %s.\n", strings.Join(missed, ", "))
		}
		out.WriteString(on.line() + "\n")
	}
	out.WriteString("The errors have a run of their own.\n" + r.exact.line())
	return out.String()
}

// selecting is the table beside NumPy.
func (r *results) selecting() string {
	var out table
	out.head("case", "NumPy's time over ours", "NumPy, ms", "ours, ms")
	for _, c := range r.numpy.Rows {
		out.row("`"+c.Case+"`", fmt.Sprintf("%.2f, %.2f to %.2f", c.Ratio, c.Low, c.High), fmt.Sprintf("%.2f", c.NumPy), fmt.Sprintf("%.2f", c.Ours))
	}
	out.WriteString(r.numpy.line())
	return out.String()
}

// machines says where the rows of operators come from.
func (r *results) machines() string {
	var out table
	out.head("column", "machine", "a figure is", "commit", "date")
	for _, m := range r.rows.Machines {
		out.row(m.Name, m.Machine, m.Taken, m.Commit, m.Date)
	}
	return out.String()
}
