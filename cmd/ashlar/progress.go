package main

import (
	"fmt"
	"math"
	"time"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/schollz/progressbar/v3"
)

// progress returns a function that a run calls after each node, nil where nobody would see the bar, and one to end it.
func (p *program) progress() (step func(done, total int, n *onnx.Node), end func()) {
	if !p.watched() {
		return nil, func() {}
	}
	bar, end := p.bar("running", true)
	return func(done, total int, _ *onnx.Node) { bar(done, total) }, end
}

// watched reports whether standard error is a screen that a bar can be drawn on.
func (p *program) watched() bool { return p.terminal(p.stderr) && p.getenv("TERM") != "dumb" }

// bar returns a function that shows progress, and one to end it. The bar is on standard error. It appears once the work has
// taken a while, if it is wanted and somebody would see it.
func (p *program) bar(title string, wanted bool) (step func(done, total int), end func()) {
	meter, end := p.meter(wanted, progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false)) // nodes differ too much for a guess
	return func(done, total int) { meter(title, int64(done), int64(total)) }, end
}

// taskBar is a bar for the tasks of a plan with the time that is left. The work of a task is the bytes it reads and writes.
func (p *program) taskBar(plan *chunk.Plan) (step func(chunk.Progress), end func()) {
	meter, end := p.meter(true, progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false)) // its guess begins with the bar
	stages := plan.Stages()
	var total, done float64
	for _, s := range stages {
		total += work(s)
	}
	left := estimate{marks: [2]mark{{at: time.Now()}, {at: time.Now()}}}
	return func(at chunk.Progress) {
		s := stages[at.Stage]
		done += work(s) / float64(s.Tasks)
		title := fmt.Sprintf("%d of %d tasks", at.Done, at.Tasks)
		if t := left.after(time.Now(), done, total); t > 0 {
			title += fmt.Sprintf(", %v left", t)
		}
		meter(title, int64(1e6*done/total), 1e6)
	}, end
}

// work is the bytes that the tasks of a stage read and write, at least one each.
func work(s chunk.Stage) float64 { return float64(s.Read) + float64(s.Write) + float64(s.Tasks) }

// An estimate tells the time that is left by the work of the last seconds: a run that goes on with an earlier one passes
// quickly over the tasks that are done.
type estimate struct{ marks [2]mark }

// A mark is how much work was done at a time.
type mark struct {
	at   time.Time
	done float64
}

// after returns the time that is left when so much work is done, 0 where nothing is known.
func (e *estimate) after(now time.Time, done, total float64) time.Duration {
	if now.Sub(e.marks[1].at) > 5*time.Second {
		e.marks = [2]mark{e.marks[1], {now, done}}
	}
	from := e.marks[0]
	if done <= from.done {
		return 0
	}
	seconds := now.Sub(from.at).Seconds() * (total - done) / (done - from.done)
	return time.Duration(math.Ceil(seconds)) * time.Second
}

func (p *program) meter(wanted bool, options ...progressbar.Option) (step func(title string, done, total int64), end func()) {
	if !wanted || !p.watched() {
		return func(string, int64, int64) {}, func() {}
	}
	var bar *progressbar.ProgressBar
	start := time.Now()
	step = func(title string, done, total int64) {
		if bar == nil {
			if done == total || time.Since(start) < p.patience {
				return
			}
			bar = progressbar.NewOptions64(total, append(options, progressbar.OptionSetWriter(p.stderr), progressbar.OptionSetDescription(title),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())...)
		}
		bar.Describe(title)
		bar.Set64(done)
	}
	return step, func() {
		if bar != nil {
			bar.Finish()
		}
	}
}
