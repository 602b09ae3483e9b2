package receipt

import "slices"

// A Certificate is by what a program checks a machine before it answers anyone: runs of a model on inputs that a rule makes or a file
// has. Package onnx makes and checks it: onnx.Session.Certify, onnx.Session.CheckCertificate.
type Certificate struct {
	Rule   *Rule     // of the inputs; nil where a file has them
	Runs   []Receipt // with their nodes
	Missed []string  // nodes that ran in none of them, as in a branch that no input takes
}

// A Rule makes inputs. The same rule makes the same bits everywhere. An element follows from its place k in row-major order, from the index j of
// its input in the rule, and from the run i, all counted from 0:
//
//	a, b, … = Philox4x32-10 of the counter (k mod 2³², k div 2³², j, i) with the key Seed
//	w       = a + 2³²·b
//	bool    = w mod 2
//	integer = From + ⌊w·(To − From)/2⁶⁴⌋
//	float   = From + (To − From)·⌊w/2¹¹⌋·2⁻⁵³ in float64, rounded to the type
type Rule struct {
	Seed   int64 // from 0 to 2⁵³ − 1
	Runs   int64
	Inputs []Range
}

// A Range says the numbers of an input: from From, for integers below To. Both are written as Go writes an int64 or a float64. A bool has
// an empty From and To.
type Range struct {
	Name     string
	Type     string // element type and shape, as float32[2,3]
	From, To string
}

func (c *Certificate) fields() fieldsOf {
	return fieldsOf{{"ashlar_certificate", new(version)}, {"missed", texts{&c.Missed}}, {"rule", maybe[Rule, *Rule]{&c.Rule}}, {"runs", list[Receipt, *Receipt]{&c.Runs}}}
}

func (r *Rule) fields() fieldsOf {
	return fieldsOf{{"inputs", list[Range, *Range]{&r.Inputs}}, {"runs", (*number)(&r.Runs)}, {"seed", (*number)(&r.Seed)}}
}

func (r *Range) fields() fieldsOf {
	return fieldsOf{{"from", (*text)(&r.From)}, {"name", (*text)(&r.Name)}, {"to", (*text)(&r.To)}, {"type", (*text)(&r.Type)}}
}

// ParseCertificate reads a certificate as Parse reads a receipt. It compares the roots in the file with those of its contents.
func ParseCertificate(b []byte) (*Certificate, error) {
	c := &Certificate{}
	if err := parse(b, "certificate", c.fields()); err != nil {
		return nil, err
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		r.parsed = true
		if err := r.known(); err != nil {
			return nil, err
		}
		if d := r.Check(); d != nil {
			return nil, fail("run %d: %v", i, d)
		}
	}
	if len(c.Runs) == 0 {
		return nil, fail("the certificate has no runs")
	}
	return c, nil
}

// Encode returns the bytes of a file. It fails for what ParseCertificate would refuse.
func (c *Certificate) Encode() ([]byte, error) {
	own := *c
	own.Runs = slices.Clone(c.Runs)
	for i := range own.Runs {
		own.Runs[i].root, own.Runs[i].tree = own.Runs[i].Root(), own.Runs[i].NodesRoot()
	}
	b := append(put(nil, own.fields()), '\n')
	_, err := ParseCertificate(b)
	return b, err
}
