package onnx

import (
	"fmt"
	"slices"
)

// maxOpset is the last version of ONNX's operator set whose operators are known.
const maxOpset = 28

// changed lists the opsets at which ONNX gave an operator another meaning: other inputs, another default, another result.
// Left out are versions that no operator here has, and versions that only admit more element types, or add an attribute: an
// unknown element type or attribute is reported by its own name. An operator of this library runs if one of its Versions
// lies between the last change up to the opset that the model imports and that opset.
//
// Source: the history of each operator in docs/Changelog.md and onnx/defs of github.com/onnx/onnx.
var changed = map[string][]int{
	"Attention":          {24}, // another input: how much of the cache is valid
	"BatchNormalization": {9, 14},
	"Clip":               {11}, // bounds become inputs
	"DFT":                {20},
	"DequantizeLinear":   {13},     // per axis
	"Dropout":            {10, 12}, // mask of bool; ratio and mode become inputs
	"GridSample":         {20},     // other names of the modes
	"GroupNormalization": {21},     // scale and bias per channel, not per group
	"Hardmax":            {13},     // along one axis, not over the flattened rest
	"LogSoftmax":         {13},
	"Max":                {8}, // operands broadcast
	"Mean":               {8},
	"Min":                {8},
	"OptionalGetElement": {18},
	"OptionalHasElement": {18},
	"Pad":                {11, 18}, // amounts become inputs; axes
	"Pow":                {12},     // operands of different types
	"QuantizeLinear":     {13},
	"ReduceL1":           {18}, // axes become an input
	"ReduceL2":           {18},
	"ReduceLogSum":       {18},
	"ReduceLogSumExp":    {18},
	"ReduceMax":          {18},
	"ReduceMean":         {18},
	"ReduceMin":          {18},
	"ReduceProd":         {18},
	"ReduceSum":          {13},
	"ReduceSumSquare":    {18},
	"Resize":             {11, 13, 18, 19}, // region and coordinates; sizes; axes and antialiasing; half_pixel_symmetric
	"RoiAlign":           {16},             // another default of the coordinates
	"Scan":               {9},
	"ScatterElements":    {18}, // ways to combine
	"ScatterND":          {18},
	"Slice":              {10}, // bounds become inputs
	"Softmax":            {13},
	"Split":              {13, 18}, // sizes become an input; a number of parts
	"Squeeze":            {13},
	"Sum":                {8},
	"TopK":               {10}, // k becomes an input
	"Unsqueeze":          {13},
	"Upsample":           {9}, // scales become an input
}

// A definition is an operator with the opsets of its domain whose meaning it has: one of package op, or a valueOp.
type definition interface {
	Name() string
	Domain() string
	Versions() []int
}

// meaning says why o doesn't have the meaning that opset v gives it; "" if it does.
func meaning(o definition, v int64) string {
	for domain, last := range map[string]int64{"": maxOpset, mlDomain: mlOpset} {
		if o.Domain() == domain && v > last {
			return fmt.Sprintf("opset %d is newer than %d, the last whose operators are known", v, last)
		}
	}
	since := 0
	for _, c := range changed[opName(o.Domain(), o.Name())] {
		if int64(c) <= v {
			since = c
		}
	}
	if slices.ContainsFunc(o.Versions(), func(have int) bool { return since <= have && int64(have) <= v }) {
		return ""
	}
	if since == 0 || len(o.Versions()) > 0 && slices.Min(o.Versions()) > int(v) {
		return fmt.Sprintf("its meaning at opset %d isn't available, only that of opsets %v", v, o.Versions())
	}
	return fmt.Sprintf("opset %d changed its meaning; available are those of opsets %v", since, o.Versions())
}

// microsoftDomain is the domain of the operators that ONNX Runtime adds.
const microsoftDomain = "com.microsoft"

const mlDomain = "ai.onnx.ml"

const preview = "ai.onnx.preview"

const trainingDomain = "ai.onnx.preview.training"

// ownDomain has the parts of bodies that no operator of ONNX is.
const ownDomain = "ashlar.part"

// mlOpset is the last version of ai.onnx.ml whose operators are known.
const mlOpset = 5

// An opKey tells operators and functions apart.
type opKey struct{ domain, name, overload string }

func keyOf(domain, name, overload string) opKey {
	if isDefault(domain) {
		domain = ""
	}
	return opKey{domain, name, overload}
}
