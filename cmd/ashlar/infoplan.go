package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// stepsOf says how a session prepares a run of a model.
func (p *program) stepsOf(s *source, m *onnx.Model, sizes map[string]tensor.Any, f *infoFlags) ([]onnx.Step, error) {
	if s.steps != nil {
		return s.steps, nil
	}
	for _, v := range m.Inputs() {
		_, numbers := v.Type.Elem.DType()
		known := v.Type.Kind == onnx.KindOptional || v.Type.Kind == onnx.KindTensor && (numbers || len(openInputs([]onnx.ValueInfo{v}, nil)) == 0)
		if !known {
			return nil, fmt.Errorf("%s: --plan: it needs the sizes of all inputs, and %s is no tensor of numbers; leave --plan out", s.name, label(v.String()))
		}
	}
	if open := openInputs(m.Inputs(), sizes); len(open) > 0 {
		return nil, fmt.Errorf("%s: --plan: sizes are open: say them, as in %s", s.name, shapeFlags(open))
	}
	session, err := p.session(m, &runFlags{integers: f.integers})
	if err != nil {
		return nil, s.in(err)
	}
	s.steps, err = session.Steps(sizes)
	return s.steps, s.in(err)
}

// describePlan prints the steps of a run.
func (p *program) describePlan(steps []onnx.Step) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nstep\thow\tnodes\tresult\tbytes\tplace\n")
	for i := range steps {
		s := &steps[i]
		name := label(s.String())
		if n := s.Nodes[0].Name; n != "" {
			name += " " + label(n)
		}
		head := fmt.Sprintf("%d\t%s\t%s%s", i, s.Way(), strings.Repeat("  ", s.Depth), name)
		for _, v := range s.Results {
			text, bytes, place := "?", "", label(v.Place())
			if !v.Value.IsZero() {
				text, bytes = tensor.Describe(v.Value), amount(v.Bytes)
				if lay, ok := v.Layout(); ok {
					text = fmt.Sprintf("%v %s", v.Value.DType(), lay)
				}
			}
			if s.How == "constant" {
				place = ""
			}
			fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\n", head, label(v.Name), text, bytes, place)
			head = "\t\t"
		}
		if len(s.Results) == 0 {
			fmt.Fprintf(w, "%s\t\t\t\n", head)
		}
	}
	w.Flush()
	p.describeLayouts(steps)
}

// regionsOf returns the regions of steps, in the order of their first results.
func regionsOf(steps []onnx.Step) (list []*onnx.Region) {
	for i := range steps {
		for k := range steps[i].Results {
			if r := steps[i].Results[k].Region; r != nil && !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// decision says how the results of a region lie.
func decision(r *onnx.Region) string {
	switch r.Last {
	case 0:
		return "in planes"
	case r.Values:
		return "channels last"
	}
	return fmt.Sprintf("channels last but for %d", r.Values-r.Last)
}

// An infoShare is how much of the FLOPs of convolutions runs channels last.
type infoShare struct {
	FLOPs     int64 `json:"flops"`
	Last      int64 `json:"last"`
	Many      int64 `json:"of_8_channels"` // FLOPs of those with 8 output channels or more
	ManyLast  int64 `json:"of_8_channels_last"`
	convs     int
	convsLast int
}

func shareOf(steps []onnx.Step) (n infoShare) {
	for i := range steps {
		s := &steps[i]
		if s.Why == "" && !s.Last {
			continue
		}
		n.FLOPs, n.convs = n.FLOPs+s.FLOPs, n.convs+1
		many := len(s.Results) > 0 && s.Results[0].Value.Rank() > 1 && s.Results[0].Value.Dim(1) >= 8
		if many {
			n.Many += s.FLOPs
		}
		if s.Last {
			n.Last, n.convsLast = n.Last+s.FLOPs, n.convsLast+1
			if many {
				n.ManyLast += s.FLOPs
			}
		}
	}
	return n
}

func percent(part, all int64) string {
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

// describeLayouts prints which results lie channels last, by regions, and why convolutions don't.
func (p *program) describeLayouts(steps []onnx.Step) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	regions := regionsOf(steps)
	if len(regions) > 0 {
		fmt.Fprint(w, "\nregion\tsteps\tresults\tdecision\tcost\tin planes\tchannels last\n")
	}
	for k, r := range regions {
		var of []int
		for i := range steps {
			if slices.ContainsFunc(steps[i].Results, func(v onnx.StepValue) bool { return v.Region == r }) {
				of = append(of, i)
			}
		}
		fmt.Fprintf(w, "%d\t%d to %d\t%d\t%s\t%s\t%s\t%s\n", k, of[0], of[len(of)-1], r.Values, decision(r), grouped(r.Cost), grouped(r.Planes), grouped(r.All))
	}
	w.Flush()
	n := shareOf(steps)
	if n.convs == 0 {
		return
	}
	fmt.Fprintf(p.out, "\nconvolutions  %d of %d run channels last, %s of the FLOPs, %s of those with 8 output channels or more\n", n.convsLast, n.convs, percent(n.Last, n.FLOPs), percent(n.ManyLast, n.Many))
	var whys []string
	at := make(map[string][]string)
	for i := range steps {
		if why := steps[i].Why; why != "" {
			if at[why] == nil {
				whys = append(whys, why)
			}
			at[why] = append(at[why], fmt.Sprint(i))
		}
	}
	const most = 12 // steps of a reason
	for _, why := range whys {
		list := at[why]
		more := ""
		if len(list) > most {
			list, more = list[:most], fmt.Sprintf(" and %d more", len(list)-most)
		}
		fmt.Fprintf(p.out, "  in planes   %s: step %s%s\n", why, strings.Join(list, ", "), more)
	}
}

// An infoStep is a step in a line of JSON.
type infoStep struct {
	How      string      `json:"how"`
	Integers bool        `json:"integers,omitempty"`
	Kept     int64       `json:"kept,omitempty"` // bytes of packed weights
	Kernel   string      `json:"kernel,omitempty"`
	Depth    int         `json:"depth,omitempty"`
	Branch   string      `json:"branch,omitempty"`
	FLOPs    int64       `json:"flops,omitempty"` // of a convolution
	Last     bool        `json:"channels_last,omitempty"`
	Why      string      `json:"in_planes,omitempty"` // why a convolution stays so
	Nodes    []infoPart  `json:"nodes"`
	Results  []infoPlace `json:"results"`
}

type infoPart struct {
	Op   string `json:"op"`
	Name string `json:"name,omitempty"`
}

type infoPlace struct {
	infoArray
	Layout string `json:"layout,omitempty"`
	At     *int64 `json:"at,omitempty"` // in the memory that results have in common
	In     string `json:"in,omitempty"`
	Region *int   `json:"region,omitempty"` // its number among the regions
}

// infoRegion is a region in a line of JSON.
type infoRegion struct {
	Results int   `json:"results"`
	Last    int   `json:"channels_last"`
	Cost    int64 `json:"cost"`
	Planes  int64 `json:"cost_in_planes"`
	All     int64 `json:"cost_channels_last"`
}

func infoRegions(steps []onnx.Step) (list []infoRegion) {
	for _, r := range regionsOf(steps) {
		list = append(list, infoRegion{r.Values, r.Last, r.Cost, r.Planes, r.All})
	}
	return list
}

func infoSteps(steps []onnx.Step) (list []infoStep) {
	regions := regionsOf(steps)
	for i := range steps {
		s := &steps[i]
		step := infoStep{How: s.How, Integers: s.Integers, Kept: s.Kept, Kernel: s.Kernel, Depth: s.Depth, Branch: s.Branch, FLOPs: s.FLOPs, Last: s.Last, Why: s.Why}
		for _, n := range s.Nodes {
			step.Nodes = append(step.Nodes, infoPart{opOf(n), n.Name})
		}
		for _, v := range s.Results {
			place := infoPlace{infoArray: infoArray{Name: v.Name, Bytes: v.Bytes}, In: v.In}
			if !v.Value.IsZero() {
				place.DType = v.Value.DType().String()
				if lay, ok := v.Layout(); ok {
					place.Layout = lay.String()
				}
				for _, n := range v.Value.Shape() {
					place.Shape = append(place.Shape, n)
				}
			}
			if v.At >= 0 {
				place.At = &v.At
			}
			if v.Region != nil {
				k := slices.Index(regions, v.Region)
				place.Region = &k
			}
			step.Results = append(step.Results, place)
		}
		list = append(list, step)
	}
	return list
}
