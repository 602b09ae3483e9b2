package vectors

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// Embed returns a vector for each text. A vector has the same bits whatever texts are beside its own.
func (m *Model) Embed(ctx context.Context, texts []string, opts ...Options) ([][]float32, error) {
	o, err := m.embedding(opts)
	if err != nil {
		return nil, err
	}
	list, err := m.items(ctx, texts, nil, &o)
	if err != nil {
		return nil, err
	}
	return m.embed(ctx, list, &o)
}

// EmbedIDs is Embed for texts that are tokens already: the model gets these ids, and neither a prompt nor special tokens beside
// them. An id that the tokenizer doesn't have is an error.
func (m *Model) EmbedIDs(ctx context.Context, ids [][]int64, opts ...Options) ([][]float32, error) {
	o, err := m.embedding(opts)
	if err != nil {
		return nil, err
	}
	list := make([]item, len(ids))
	counts := make([]int, len(ids))
	for i, row := range ids {
		if ctx.Err() != nil {
			return nil, errorf("%w", context.Cause(ctx))
		}
		for _, id := range row {
			if _, ok := m.tokens.Token(id); !ok {
				return nil, errorf("%w: text %d: no token has the id %d", tensor.ErrValue, i, id)
			}
		}
		if m.length > 0 && len(row) > m.length {
			if !m.cut && !o.Cut {
				return nil, errorf("%w", &LengthError{i, len(row), m.length})
			}
			if row = row[:m.length]; m.left {
				row = ids[i][len(ids[i])-m.length:]
			}
		}
		list[i] = item{ids: row, types: make([]int64, len(row))}
		counts[i] = len(row)
	}
	if err := m.counted(counts, &o); err != nil {
		return nil, err
	}
	return m.embed(ctx, list, &o)
}

// embedding checks the options of Embed.
func (m *Model) embedding(opts []Options) (Options, error) {
	o, err := optionsOf(opts)
	if err != nil {
		return o, err
	}
	if m.kind != ofTokens && m.kind != ofTexts {
		return o, m.wrong("Embed", ofTokens)
	}
	d, c := o.Dimensions, &m.config
	switch {
	case d == 0:
	case d < 0:
		return o, errorf("%w: Dimensions is %d", tensor.ErrValue, d)
	case c.Dimensions != nil && !slices.Contains(c.Dimensions, d):
		return o, errorf("%w: Dimensions is %d; matryoshka_dimensions of config.json are %v", tensor.ErrValue, d, c.Dimensions)
	case c.Dimensions == nil && !c.Matryoshka:
		return o, errorf("%w: Dimensions is %d, and config.json has neither is_matryoshka nor matryoshka_dimensions: the first numbers of its vectors mean nothing alone", tensor.ErrValue, d)
	}
	return o, nil
}

func (m *Model) embed(ctx context.Context, list []item, o *Options) ([][]float32, error) {
	all := make([][]float32, len(list))
	err := m.run(ctx, list, o, func(i int, rows []float32, size int) (err error) {
		v := rows
		if m.kind == ofTokens {
			n, width := len(list[i].ids), len(rows)/size
			if m.padLeft {
				rows = rows[(size-n)*width:]
			}
			v = m.pooling.pool(rows[:n*width], width, list[i].skip)
		}
		for _, s := range m.steps {
			if v, err = s(v); err != nil {
				return errorf("%w", err)
			}
		}
		if o.Dimensions > 0 {
			if o.Dimensions > len(v) {
				return errorf("%w: Dimensions is %d, vectors have %d", tensor.ErrValue, o.Dimensions, len(v))
			}
			v = v[:o.Dimensions]
			if m.unit {
				if v, err = normalize(v); err != nil {
					return err
				}
			}
		}
		all[i] = slices.Clone(v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
