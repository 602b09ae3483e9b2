package main

import (
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/spf13/cobra"
)

// choices are the values of flags that a shell completes, by the name of a flag, or of a command and a flag.
func choices() map[string][]string {
	var types, floats []string
	for _, d := range dtype.All() {
		types = append(types, d.String())
		if d.IsFixed() {
			floats = append(floats, d.String())
		}
	}
	written := append(strings.Split(writtenNames, ", "), "onnx")
	converted := append(slices.Clone(types), "bfp8", "bfp4", "int4", "uint4", "q4_0", "q8_0", "q4_k", "q6_k", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8", "nvfp4")
	return map[string][]string{
		"dtype": types, "convert dtype": converted, "shard dtype": append(slices.Clone(types), "bfp8", "bfp4"),
		"from": strings.Split(formatNames, ", "), "convert to": written,
		"fixed": floats, "codec": {"zstd", "gzip", "none"}, "scales": {"one"}, "order": {"C", "F"}, "axes": {"HW", "CHW", "HWC"}, "delimiter": {"tab"},
		"layout": knownAxes, "convert layout": {"rows", "tile", "16x32"}, "shard layout": {"rows", "tile", "16x32"}, "background": {"white", "black"},
		"shard order": {"rows", "columns"}, "config": {"interleaved", "height", "width", "block", "nd"}, "shard memory": {"dram", "l1"},
		"device": {"sim:wormhole", "sim:blackhole"}, "banks": {"32x4", "nvidia", "amd", "tensix", "8x16single"}, "access": {"row", "column", "row:8", "row:8/16", "ldmatrix", "tv:"},
		"spell to": judge.Spellings, "activations": {"uint8", "int8"}, "range": {"extremes", "percentile", "error"}, "bits": {"4", "8"},
	}
}

// complete lets a shell complete the values of the flags of a command and those below it.
func complete(c *cobra.Command, lists map[string][]string) {
	name := c.Name()
	if name == "convert" && c.Parent().Name() == "layout" {
		name = "spell"
	}
	for key, list := range lists {
		command, flag, ok := strings.Cut(key, " ")
		if !ok && lists[name+" "+key] == nil {
			command, flag = name, key
		}
		if command == name && c.Flags().Lookup(flag) != nil {
			c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, below := range c.Commands() {
		complete(below, lists)
	}
}
