package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/spf13/cobra"
)

// kernels describes the code of the operators' rows at a level.
func kernels(l cpu.Level) string {
	if l == cpu.Generic {
		return "plain Go"
	}
	return "plain Go, and " + l.String() + " assembly for what ashlar ops lists"
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the build, the processor, and the kernels in use",
		Long: `Version prints the build, the processor, the level of instructions in use, and the
language of the operators' kernels.
ASHLAR_CPU=generic, avx2 or avx512, on arm64 generic, neon, dot or i8mm, sets the
highest level; results are the same bits at every level. A level that the processor
or the build lacks is an error of every command.`,
		Example: `  ashlar version
  ASHLAR_CPU=generic ashlar version`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintf(w, "ashlar\t%s\n", buildVersion())
			if b, ok := debug.ReadBuildInfo(); ok {
				if revision := revisionOf(b); revision != "" {
					fmt.Fprintf(w, "revision\t%s\n", revision)
				}
			}
			fmt.Fprintf(w, "go\t%s %s/%s\nprocessor\t%s, %d threads\nlevel\t%s\nkernels\t%s\n",
				runtime.Version(), runtime.GOOS, runtime.GOARCH, cpu.Name(), runtime.GOMAXPROCS(0), cpu.Current(), kernels(cpu.Current()))
			return w.Flush()
		},
	}
}

// buildVersion is the version of the module that the program was built from.
func buildVersion() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "unknown"
}

// revisionOf is the commit that the program was built from, with its time, as the go command recorded them; "" of a
// released version.
func revisionOf(b *debug.BuildInfo) string {
	m := make(map[string]string)
	for _, s := range b.Settings {
		m[s.Key] = s.Value
	}
	r := m["vcs.revision"]
	switch {
	case r == "" && b.Main.Version != "" && b.Main.Version != "(devel)":
		return ""
	case r == "":
		return "not recorded; go build in a clone records it, go run and -buildvcs=false don't"
	}
	if t := m["vcs.time"]; t != "" {
		r += " of " + t
	}
	if m["vcs.modified"] == "true" {
		r += ", with changes"
	}
	return r
}
