package main

import (
	"time"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/schollz/progressbar/v3"
)

// progress returns what a run calls after each node, and what ends it: a bar on standard error that appears once the
// work has taken a while, or nil where nobody would see it.
func (p *program) progress() (step func(done, total int, n *onnx.Node), end func()) {
	if !p.terminal(p.stderr) || p.getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	start := time.Now()
	step = func(done, total int, _ *onnx.Node) {
		if bar == nil {
			if done == total || time.Since(start) < p.patience {
				return
			}
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.stderr), progressbar.OptionSetDescription("running"),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
				progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false)) // nodes differ too much for a guess
		}
		bar.Set(done)
	}
	return step, func() {
		if bar != nil {
			bar.Finish()
		}
	}
}
