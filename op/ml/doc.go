// Package ml has the operators of ONNX's domain ai.onnx.ml: scalers, encoders, linear models, support vector machines and
// trees. They take tables of features, [rows, features], and give float32 scores and integer labels.
//
// Sums run in float64 in the order of the features and are rounded once, so each platform gives the same bits. Labels that
// are strings are for package onnx. Functions panic, as in package op; tensor.Try turns a panic into an error.
package ml

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
)

// Operators returns the operators of this package in their run-time form, in alphabetical order.
func Operators() []*op.Op { return index.All(tables, as) }

// Lookup returns the operator of this package that ONNX calls name.
func Lookup(name string) (*op.Op, bool) { return index.Lookup(name, tables, as) }

var index plan.Index[op.Op]

func as(o *plan.Op) *op.Op { return (*op.Op)(o) }

func tables() []plan.Table {
	return []plan.Table{
		&arrayFeatureExtractor,
		&binarizer,
		&featureVectorizer,
		&imputer,
		&labelEncoder,
		&linearClassifier,
		&linearRegressor,
		&normalizer,
		&oneHotEncoder,
		&scaler,
		&svmClassifier,
		&svmRegressor,
		&treeEnsemble,
		&treeEnsembleClassifier,
		&treeEnsembleRegressor,
	}
}
