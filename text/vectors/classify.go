package vectors

import (
	"context"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Label is a class of a text and its score.
type Label struct {
	Name  string // as id2label of config.json has it, or LABEL_ and a number
	Score float32
}

// Classify returns the classes of each text, the best first, of equal scores in the order of id2label. Scores are
// probabilities: by Softmax, or by Sigmoid where config.json says multi_label_classification or has one class. Options.Raw
// leaves them as logits.
func (m *Model) Classify(ctx context.Context, texts []string, opts ...Options) ([][]Label, error) {
	o, err := m.scoring("Classify", opts)
	if err != nil {
		return nil, err
	}
	list, err := m.items(ctx, texts, nil, &o)
	if err != nil {
		return nil, err
	}
	all := make([][]Label, len(list))
	err = m.run(ctx, list, &o, func(i int, logits []float32, _ int) error {
		function := m.config.Function
		if function == "" {
			if function = "softmax"; m.config.Problem == "multi_label_classification" || len(logits) == 1 {
				function = "sigmoid"
			}
		}
		scores := logits
		switch {
		case o.Raw || function == "none":
		case function == "softmax":
			scores = softmax(logits, len(logits))
		case function == "sigmoid":
			scores = sigmoid(logits)
		default:
			return errorf("config.json: function_to_apply is %.40q; softmax, sigmoid and none are known", function)
		}
		for c, s := range scores {
			all[i] = append(all[i], Label{m.label(c), s})
		}
		slices.SortStableFunc(all[i], func(a, b Label) int {
			switch {
			case a.Score > b.Score:
				return -1
			case a.Score < b.Score:
				return 1
			}
			return 0
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Rerank returns a score for each text: how well it answers the query. The model takes the pair of both, and has one class. The
// score is Sigmoid of its logit, or the logit where config.json has the activation function Identity, or Options.Raw says so.
func (m *Model) Rerank(ctx context.Context, query string, texts []string, opts ...Options) ([]float32, error) {
	o, err := m.scoring("Rerank", opts)
	if err != nil {
		return nil, err
	}
	if err := o.valid(query, "the query"); err != nil {
		return nil, err
	}
	queries := slices.Repeat([]string{query}, len(texts))
	list, err := m.items(ctx, queries, texts, &o)
	if err != nil {
		return nil, err
	}
	scores := make([]float32, len(list))
	err = m.run(ctx, list, &o, func(i int, logits []float32, _ int) error {
		if len(logits) != 1 {
			return errorf("%w: Rerank wants a model with one class; %s gives %d", tensor.ErrValue, m.file, len(logits))
		}
		if !o.Raw && !m.config.identity() {
			logits = sigmoid(logits)
		}
		scores[i] = logits[0]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// scoring checks the options of a call about texts.
func (m *Model) scoring(call string, opts []Options) (Options, error) {
	o, err := optionsOf(opts)
	switch {
	case err != nil:
	case m.kind != logitsOfTexts:
		err = m.wrong(call, logitsOfTexts)
	case o.Dimensions != 0:
		err = errorf("%w: Options.Dimensions is for Embed", tensor.ErrValue)
	}
	return o, err
}

// label is the name of a class.
func (m *Model) label(c int) string {
	if c < len(m.labels) {
		return m.labels[c]
	}
	return "LABEL_" + strconv.Itoa(c)
}

// softmax makes probabilities of rows of logits.
func softmax(logits []float32, width int) []float32 {
	return op.Softmax(tensor.FromSlice(logits, len(logits)/width, width), 1).Elems()
}

func sigmoid(logits []float32) []float32 {
	return op.Sigmoid(tensor.FromSlice(logits, len(logits))).Elems()
}
