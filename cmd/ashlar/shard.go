package main

import (
	"io"
	"slices"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/spf13/cobra"
)

// shardFlags are the flags of the command.
type shardFlags struct {
	dtype, stored, config, shard, grid, memory, order, device string
	byGrid                                                    bool
}

var configs = map[string]device.Sharding{"interleaved": device.Interleaved, "height": device.HeightSharded, "width": device.WidthSharded, "block": device.BlockSharded, "nd": device.NDSharded}

func (p *program) shardCommand() *cobra.Command {
	var f shardFlags
	var pictures [2]string // SVG and PNG
	c := &cobra.Command{
		Use:   "shard SHAPE",
		Short: "Show where a tensor is on an accelerator, and draw it",
		Long: `Shard prints the part of a tensor that each bank of DRAM or each core holds. It
prints the bytes of each, and the slots that are holes. The accelerators are the ones
in software of package device.

  --config   interleaved deals pages to all banks in turn; height, width and block
             cut the tensor's matrix into shards of rows, of columns, or of both;
             nd cuts the tensor into boxes, dealt to the cores in turn
  --shard    the extents of a shard; without it they are as large as they must be
             for each core of the grid to get one
  --grid     columns and rows of cores; in DRAM, how many banks, as in 12x1

A page is a tile, or with --layout rows a row, or the part of one in a shard. A
picture goes to standard output when FILE is -, and then the text is left out.`,
		Example: `  ashlar shard "(1024,1024)" --dtype bf16 --config block --grid 8x8
  ashlar shard "(160,64)" --config height --shard 64,64 --grid 3x1 --svg height.svg
  ashlar shard "(5,3)" --layout rows --memory dram`,
		Args: arguments(1, 1, "one shape, as 64x64"),
	}
	flags := c.Flags()
	flags.StringVar(&f.dtype, "dtype", "bfloat16", "the element `type`, bfp8 and bfp4 included")
	flags.StringVar(&f.stored, "layout", "tile", "how the tensor is stored: rows, tile, or the `tile`, as 16x32")
	flags.StringVar(&f.config, "config", "interleaved", "interleaved, height, width, block or nd")
	flags.StringVar(&f.shard, "shard", "", "the `shape` of a shard, as in 64x64")
	flags.StringVar(&f.grid, "grid", "", "the `size` of the grid, as in 8x8 (default: all cores)")
	flags.StringVar(&f.memory, "memory", "", "dram or l1 (default: l1, of interleaved tensors dram)")
	flags.StringVar(&f.order, "order", "rows", "whether cores count along rows or columns first")
	flags.StringVar(&f.device, "device", "sim:wormhole", "the `accelerator`: sim:wormhole, sim:blackhole, or sim:4x2 with any grid")
	flags.BoolVar(&f.byGrid, "by-grid", false, "with --config nd, shards of two extents lie in the grid as in the matrix")
	flags.StringVar(&pictures[0], "svg", "", "write the picture to `FILE`")
	flags.StringVar(&pictures[1], "png", "", "write the picture to `FILE`")
	p.quietFlag(c, "text")
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if pictures[0] == "-" && pictures[1] == "-" {
			return usagef(c, "two things want standard output")
		}
		placement, err := f.placement(c, args[0])
		if err != nil {
			return err
		}
		picture, err := draw.NewShards(placement)
		if err != nil {
			return err
		}
		if err := p.writePictures(pictures, picture.WriteSVG, picture.WritePNG); err != nil || p.quiet || slices.Contains(pictures[:], "-") {
			return err
		}
		return picture.WriteText(p.out)
	}
	return c
}

// writePictures writes pictures to the files that have a name; -, standard output, comes last.
func (p *program) writePictures(files [2]string, writes ...func(io.Writer) error) error {
	for _, last := range []bool{false, true} {
		for i, write := range writes {
			if files[i] == "" || (files[i] == "-") != last {
				continue
			}
			if err := p.writeTo(files[i], write); err != nil {
				return err
			}
		}
	}
	return nil
}

// placement reads the flags.
func (f *shardFlags) placement(c *cobra.Command, text string) (device.Placement, error) {
	var none device.Placement
	shape, err := extents(text)
	if err != nil {
		return none, usagef(c, "shape %s: %v", text, err)
	}
	var o pack.Options
	d, err := dtype.Parse(f.dtype)
	if err != nil {
		var e error
		if o.Format, e = pack.FormatNamed(f.dtype); e != nil {
			return none, usagef(c, "--dtype: %v", err)
		}
		d = dtype.Float32
	}
	if o.Tile, err = tileNamed(f.stored); err != nil {
		return none, usagef(c, "--layout %s: %v", f.stored, err)
	}
	s, err := pack.NewSpec(d, shape, &o)
	if err != nil {
		return none, err
	}
	dev, err := device.Open(f.device, nil)
	if err != nil {
		return none, usagef(c, "--device: %v", err)
	}
	m := dev.Model()
	config, known := device.MemoryConfig{}, false
	if config.Sharding, known = configs[f.config]; !known {
		return none, usagef(c, "--config %s: want interleaved, height, width, block or nd", f.config)
	}
	sharded := config.Sharding != device.Interleaved
	switch f.memory {
	case "l1":
		config.Memory = device.L1
	case "dram":
	case "":
		if sharded {
			config.Memory = device.L1
		}
	default:
		return none, usagef(c, "--memory %s: want dram or l1", f.memory)
	}
	switch {
	case f.order != "rows" && f.order != "columns":
		return none, usagef(c, "--order %s: want rows or columns", f.order)
	case !sharded && (f.shard != "" || f.grid != "" || f.order != "rows" || f.byGrid):
		return none, usagef(c, "--shard, --grid, --order and --by-grid are about shards: give --config")
	case f.byGrid && config.Sharding != device.NDSharded:
		return none, usagef(c, "--by-grid is about --config nd")
	case !sharded:
		return config.Place(s, m)
	}
	grid := m.Grid
	if config.Memory == device.DRAM {
		grid = device.Coord{X: m.DRAMBanks, Y: 1}
	}
	if f.grid != "" {
		size, err := extents(f.grid)
		if err != nil || len(size) != 2 || size[0] < 1 || size[1] < 1 {
			return none, usagef(c, "--grid %s: want columns and rows, as in 8x8", f.grid)
		}
		grid = device.Coord{X: size[0], Y: size[1]}
	}
	config.Cores, config.ColMajor, config.Grid2D = []device.Range{device.Grid(grid.X, grid.Y)}, f.order == "columns", f.byGrid
	switch {
	case f.shard != "":
		if config.Shard, err = extents(f.shard); err != nil {
			return none, usagef(c, "--shard %s: %v", f.shard, err)
		}
	case config.Sharding == device.NDSharded:
		return none, usagef(c, "--config nd wants the extents of a shard: give --shard")
	default:
		auto, err := device.Shards(s, config)
		if err != nil {
			return none, err
		}
		config.Shard = auto.Shard
	}
	return config.Place(s, m)
}
