package main

import (
	"fmt"
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

// taskBar is a bar for the tasks of a plan, by the bytes they write, with the time that is left.
func (p *program) taskBar() (step func(chunk.Progress), end func()) {
	meter, end := p.meter(true, progressbar.OptionShowCount(), progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true), progressbar.OptionSetPredictTime(true))
	return func(at chunk.Progress) { meter(fmt.Sprintf("%d of %d tasks", at.Done, at.Tasks), at.Bytes, at.Total) }, end
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
