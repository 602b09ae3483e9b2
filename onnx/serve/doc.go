// Package serve answers inference requests over HTTP with models of package onnx. It speaks version 2 of the open
// inference protocol, which KServe and Triton define, with tensors in JSON and in binary form.
//
//	s, err := serve.New(nil, serve.Model{Name: "digits", Model: m})
//	mux.Handle("/v2/", s)                   // or s.Serve(ctx, listener)
//
// A Server is an http.Handler with these paths:
//
//	GET  /v2                                     name, version and extensions of the server
//	GET  /v2/health/live, /v2/health/ready       whether it runs, and takes requests
//	GET  /v2/models                              names and versions of the models
//	GET  /v2/models/NAME[/versions/V]            inputs and outputs of a model
//	GET  /v2/models/NAME[/versions/V]/ready      whether the model takes requests
//	POST /v2/models/NAME[/versions/V]/infer      a run
//	GET  /metrics                                counts and times in the text form of Prometheus
//
// Clients are not trusted. For any body, the answer is a result or an error with a text, in bounded memory and time; Options
// has the bounds. There is no encryption and no login: use a proxy in front of the server for these.
//
// Numbers are exact. A float in an answer is the shortest text that parses to the same bits. JSON has no infinities and NaNs:
// requests and answers use the words NaN, Infinity and -Infinity, without quotes, as Triton's server and the clients in
// Python do. Requests may also have Inf and -Inf, and null with Options.NullNaN. The binary form keeps all bits.
//
// A body may be a picture, if Options.Picture makes the input of it.
//
// Tensors of strings have the datatype BYTES. In JSON a string is UTF-8. In binary form it may have any bytes, after their
// number in four bytes. An output that isn't UTF-8 can't be requested as JSON.
//
// Sources: required_api.md of github.com/kserve/kserve, inference_rest.md of github.com/kserve/open-inference-protocol,
// and extension_binary_data.md of github.com/triton-inference-server/server.
package serve
