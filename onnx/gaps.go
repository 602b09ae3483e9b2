package onnx

// gaps collects the parts of a model that this library doesn't have. A gap of a node of a function counts once.
type gaps struct {
	list []Unsupported
	seen map[gap]bool
}

type gap struct {
	node   *Node // as the file has it
	reason string
}

func (g *gaps) add(c *compiled, s *step, reason string) {
	if s.call != nil {
		node := s.node
		switch {
		case s.index < 0:
		case s.call == c.site:
			node = &c.g.Nodes[s.index]
		case s.index < len(s.call.fn.Nodes):
			node = &s.call.fn.Nodes[s.index]
		}
		if g.seen[gap{node, reason}] {
			return
		}
		if g.seen == nil {
			g.seen = make(map[gap]bool)
		}
		g.seen[gap{node, reason}] = true
	}
	g.list = append(g.list, Unsupported{Place: c.place + c.label(s), Op: opName(s.node.Domain, s.node.Op), Opset: s.opset, Reason: reason})
}

// err returns the list as an error, nil if it is empty.
func (g *gaps) err() error {
	if len(g.list) == 0 {
		return nil
	}
	return &UnsupportedError{List: g.list}
}
