package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// mostWords is the most words of a sentence in the help.
const mostWords = 25

var (
	sentence = regexp.MustCompile(`[.:;]\s+`)
	asNoun   = regexp.MustCompile(`(?i)\b(what|those (of|that|which|who)|so (few|many|much) (as|of)|that which)\b`)
)

// The help has short sentences, and a noun where "what" or "those" could stand.
func TestHelpIsPlain(t *testing.T) {
	p := newCall(nil)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for block := range strings.SplitSeq(c.Long, "\n\n") {
			var prose []string
			for line := range strings.SplitSeq(block, "\n") {
				if !strings.HasPrefix(line, " ") { // tables have their own form
					prose = append(prose, line)
				}
			}
			for _, s := range sentence.Split(strings.Join(prose, " "), -1) {
				if n := len(strings.Fields(s)); n > mostWords {
					t.Errorf("%s: %d words, more than %d: %s", c.CommandPath(), n, mostWords, s)
				}
			}
			if m := asNoun.FindString(block); m != "" {
				t.Errorf("%s: %q stands for a noun in %s", c.CommandPath(), m, block)
			}
		}
		for line := range strings.SplitSeq(c.LocalFlags().FlagUsages(), "\n") {
			if m := asNoun.FindString(line); m != "" {
				t.Errorf("%s: %q stands for a noun in %s", c.CommandPath(), m, line)
			}
		}
		if m := asNoun.FindString(c.Short); m != "" {
			t.Errorf("%s: %q stands for a noun in %s", c.CommandPath(), m, c.Short)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(p.root())
}
