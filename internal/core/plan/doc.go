// Package plan says how a call of an operator is worked out: options, attributes, shapes, results, scratch and
// floating-point operations, before anything is computed.
//
// An operator is a Table: About holds the facts of it, and its method Plan fills in a Draft. Op is the run-time form,
// Plan a Draft that is done: callers see them as op.Op and op.Plan. A fact about an operator is a field of About, so that no other package
// compares names. The callers are package op, which has the operators, and the rooms of loops below it.
package plan
