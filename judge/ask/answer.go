package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// asJSON makes a function of the page of a function that answers questions.
func asJSON[T any](f func(context.Context, *Question) (T, error)) func(context.Context, *Question) (any, error) {
	return func(ctx context.Context, q *Question) (any, error) { return f(ctx, q) }
}

var answers = map[string]func(context.Context, *Question) (any, error){
	"map": asJSON(drawn), "find": asJSON(found), "compare": asJSON(compared), "copy": asJSON(copied),
	"verdict": asJSON(Verdict), "faults": asJSON(faults), "banks": asJSON(counted), "solve": asJSON(Solve),
	"order": asJSON(ordered), "explain": asJSON(explained), "axes": asJSON(Axes), "mesh": asJSON(Mesh), "convert": asJSON(Spell), "infer": asJSON(inferred), "relayout": asJSON(Relay),
	"instruction": asJSON(Instruction), "load": asJSON(Load), "stage": asJSON(Stage),
}

// Answer answers a question in JSON. It never fails: an error becomes an answer with a Fault.
func Answer(ctx context.Context, question []byte) []byte {
	var q Question
	if err := json.Unmarshal(question, &q); err != nil {
		return Reply(nil, err)
	}
	f := answers[q.Op]
	if f == nil {
		return Reply(nil, fmt.Errorf("no question %q", clip(q.Op)))
	}
	return Reply(f(ctx, &q))
}

// Reply writes an answer, or its error, as JSON.
func Reply(answer any, err error) []byte {
	var out struct {
		Answer any    `json:"answer,omitempty"`
		Fault  *Fault `json:"fault,omitempty"`
	}
	if out.Answer = answer; err != nil {
		out.Answer = nil
		if !errors.As(err, &out.Fault) {
			out.Fault = &Fault{Text: clip(err.Error())}
		}
	}
	b, err := json.Marshal(&out)
	if err != nil {
		b, _ = json.Marshal(map[string]*Fault{"fault": {Text: err.Error()}})
	}
	return b
}
