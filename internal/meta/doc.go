// Package meta draws graphs that are valid by construction, and runs each in many ways: with other threads, passes, files,
// limits and contexts. The results of all ways have the same bits, or one of them is wrong. Where two differ, Cut makes
// the graph and the ways as small as it can.
//
// Reference makes the results that count: it runs one node at a time, as a model of its own, without passes.
package meta
