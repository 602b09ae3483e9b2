package vectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// mostConfig is the most bytes of a file of settings.
const mostConfig = 16 << 20

// read decodes a file of JSON, and reports whether it is there.
func read(fsys fs.FS, name string, v any) (bool, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, bare(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, bare(err))
	}
	if info.Size() > mostConfig {
		return false, fmt.Errorf("%s: it has %d bytes; a file of settings has at most %d", name, info.Size(), mostConfig)
	}
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, bare(err))
	}
	if err := json.Unmarshal(b, v); err != nil {
		var place *json.UnmarshalTypeError
		if errors.As(err, &place) {
			err = fmt.Errorf("%s is a %s, at byte %d", place.Field, place.Value, place.Offset)
		}
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

// bare is an error without the path that the caller names.
func bare(err error) error {
	var place *fs.PathError
	if errors.As(err, &place) {
		return place.Err
	}
	return err
}

// A config is the file config.json.
type config struct {
	ModelType    string            `json:"model_type"`
	Positions    int               `json:"max_position_embeddings"`
	Padding      int64             `json:"pad_token_id"`
	Labels       map[string]string `json:"id2label"`
	Problem      string            `json:"problem_type"`
	Function     string            `json:"function_to_apply"`
	Matryoshka   bool              `json:"is_matryoshka"`
	Dimensions   []int             `json:"matryoshka_dimensions"`
	ScoreByOld   string            `json:"sbert_ce_default_activation_function"`
	Transformers struct {
		ScoreBy string `json:"activation_fn"`
	} `json:"sentence_transformers"`
}

// labels lists the names of the classes.
func (c *config) labels() ([]string, error) {
	list := make([]string, len(c.Labels))
	for key, label := range c.Labels {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(list) {
			return nil, fmt.Errorf("config.json: id2label: %.40q is none of the %d numbers from 0 on", key, len(list))
		}
		list[i] = label
	}
	return list, nil
}

// positions is the number of tokens that the model has positions for, 0 if it isn't known. RoBERTa and its like count from the
// number of the padding token on.
func (c *config) positions() int {
	if slices.Contains([]string{"roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "roberta-prelayernorm"}, c.ModelType) {
		return max(0, c.Positions-int(min(max(c.Padding, 0), 1<<20))-1)
	}
	return c.Positions
}

// identity reports whether scores are logits as they are.
func (c *config) identity() bool {
	name := c.Transformers.ScoreBy
	if name == "" {
		name = c.ScoreByOld
	}
	return strings.HasSuffix(name, ".Identity")
}

// tokenizerParts are the parts of tokenizer.json that package text doesn't give out.
type tokenizerParts struct {
	Truncation *struct {
		Direction string `json:"direction"`
		Strategy  string `json:"strategy"`
	} `json:"truncation"`
	Padding *struct {
		ID   int64  `json:"pad_id"`
		Type int64  `json:"pad_type_id"`
		Left string `json:"direction"`
	} `json:"padding"`
	Model struct {
		Prefix *string         `json:"continuing_subword_prefix"`
		Type   string          `json:"type"`
		Words  json.RawMessage `json:"unk_token"`
		Number *int64          `json:"unk_id"`
	} `json:"model"`
}

// poolings are the ways in which a Pooling module makes one vector of many, in the order of its old settings.
var poolings = []string{"cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"}

// A pooling is a Pooling module.
type pooling struct {
	modes      []string
	skipPrompt bool
}

// readPooling reads the settings of a Pooling module.
func readPooling(fsys fs.FS, file string) (*pooling, error) {
	var c struct {
		Mode    json.RawMessage `json:"pooling_mode"`
		CLS     bool            `json:"pooling_mode_cls_token"`
		Max     bool            `json:"pooling_mode_max_tokens"`
		Mean    bool            `json:"pooling_mode_mean_tokens"`
		Sqrt    bool            `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weights bool            `json:"pooling_mode_weightedmean_tokens"`
		Last    bool            `json:"pooling_mode_lasttoken"`
		Prompt  *bool           `json:"include_prompt"`
	}
	ok, err := read(fsys, file, &c)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: it isn't there, though modules.json names its module", file)
	}
	p := &pooling{skipPrompt: c.Prompt != nil && !*c.Prompt}
	if c.Mode != nil {
		var one string
		if json.Unmarshal(c.Mode, &one) == nil {
			p.modes = []string{one}
		} else if err := json.Unmarshal(c.Mode, &p.modes); err != nil {
			return nil, fmt.Errorf("%s: pooling_mode is neither a word nor a list of words", file)
		}
	} else {
		for i, on := range []bool{c.CLS, c.Max, c.Mean, c.Sqrt, c.Weights, c.Last} {
			if on {
				p.modes = append(p.modes, poolings[i])
			}
		}
		if p.modes == nil {
			p.modes = []string{"mean"}
		}
	}
	if err := known(p.modes); err != nil {
		return nil, fmt.Errorf("%s: pooling_mode: %w", file, err)
	}
	return p, nil
}

func known(modes []string) error {
	if len(modes) == 0 || len(modes) > len(poolings) {
		return fmt.Errorf("it has %d words, want one to %d of %s", len(modes), len(poolings), strings.Join(poolings, ", "))
	}
	for _, m := range modes {
		if !slices.Contains(poolings, m) {
			return fmt.Errorf("there is no pooling %.40q; these are %s", m, strings.Join(poolings, ", "))
		}
	}
	return nil
}
