package text

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
)

// A vocabulary has the tokens of a model and their ids, in one piece of memory.
type vocabulary struct {
	text  []byte   // of all tokens
	ends  []uint32 // of each token in text
	ids   []uint32 // of each token
	table []uint32 // open addressing: the number of a token + 1
	seed  maphash.Seed
	byID  []int32          // the number of the token with an id, -1 if there is none
	far   map[uint32]int32 // the same, for ids far beyond the number of tokens
}

func newVocabulary() *vocabulary {
	return &vocabulary{seed: maphash.MakeSeed(), table: make([]uint32, 1<<4)}
}

func (v *vocabulary) len() int { return len(v.ends) }

// token returns the token with a number. It must not be changed.
func (v *vocabulary) token(n int) []byte {
	start := uint32(0)
	if n > 0 {
		start = v.ends[n-1]
	}
	return v.text[start:v.ends[n]:v.ends[n]]
}

// place returns the place of a token in the table, or the free one for it.
func (v *vocabulary) place(token []byte) int {
	mask := len(v.table) - 1
	i := int(maphash.Bytes(v.seed, token)) & mask
	for v.table[i] != 0 && !bytes.Equal(v.token(int(v.table[i]-1)), token) {
		i = (i + 1) & mask
	}
	return i
}

// number returns the number of a token, or -1.
func (v *vocabulary) number(token []byte) int {
	return int(v.table[v.place(token)]) - 1
}

// id returns the id of a token.
func (v *vocabulary) id(token []byte) (id uint32, ok bool) {
	n := v.number(token)
	if n < 0 {
		return 0, false
	}
	return v.ids[n], true
}

// add takes a token, in place of an equal one before.
func (v *vocabulary) add(token []byte, id uint32) {
	i := v.place(token)
	if n := v.table[i]; n != 0 {
		v.ids[n-1] = id
		return
	}
	v.text = append(v.text, token...)
	v.ends = append(v.ends, uint32(len(v.text)))
	v.ids = append(v.ids, id)
	v.table[i] = uint32(len(v.ends))
	if len(v.ends) > len(v.table)/2 {
		v.table = make([]uint32, 4*len(v.table))
		for n := range v.ends {
			v.table[v.place(v.token(n))] = uint32(n + 1)
		}
	}
}

// finish makes token numbers known by their ids. It returns two tokens that have one id, if there are any.
func (v *vocabulary) finish() (first, second []byte) {
	limit := uint32(2*len(v.ends) + 1<<10)
	most := uint32(0)
	for _, id := range v.ids {
		if id < limit {
			most = max(most, id+1)
		}
	}
	v.byID = make([]int32, most)
	for i := range v.byID {
		v.byID[i] = -1
	}
	v.far = make(map[uint32]int32)
	for n, id := range v.ids {
		if m := v.numberOf(id); m >= 0 {
			return v.token(m), v.token(n)
		}
		if id < most {
			v.byID[id] = int32(n)
		} else {
			v.far[id] = int32(n)
		}
	}
	v.text, v.ends, v.ids = slices.Clip(v.text), slices.Clip(v.ends), slices.Clip(v.ids)
	return nil, nil
}

// numberOf returns the number of the token with an id, or -1.
func (v *vocabulary) numberOf(id uint32) int {
	if uint64(id) < uint64(len(v.byID)) {
		return int(v.byID[id])
	}
	if n, ok := v.far[id]; ok {
		return int(n)
	}
	return -1
}

// readVocabulary reads an object of tokens and ids.
func readVocabulary(v value) (*vocabulary, error) {
	voc := newVocabulary()
	err := v.members(func(token []byte, member value) error {
		id, err := member.id()
		if err == nil && int64(len(voc.text))+int64(len(token)) > math.MaxUint32 {
			err = member.errorf("is beyond 4 GiB of tokens")
		}
		if err == nil {
			voc.add(token, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if a, b := voc.finish(); b != nil {
		return nil, v.errorf("gives the tokens %q and %q one id", a, b)
	}
	return voc, nil
}

// A trie finds the keys with which a text begins.
type trie struct {
	nodes []trieNode // the children of a node lie side by side, by their labels
	root  [256]int32 // the children of the root, 0 for none
}

type trieNode struct {
	first int32 // the first child
	value int32 // of the key that ends here, -1 if none does
	count uint16
	label byte
}

// newTrie returns a trie of n keys, whose values are their numbers. Of equal keys the last stays.
func newTrie(n int, key func(i int) []byte) *trie {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := bytes.Compare(key(int(a)), key(int(b))); c != 0 {
			return c
		}
		return int(a - b)
	})
	t := &trie{nodes: []trieNode{{value: -1}}}
	type part struct{ node, from, to, depth int32 } // the keys of a node
	queue := []part{{0, 0, int32(n), 0}}
	for len(queue) > 0 {
		var next []part
		for _, p := range queue {
			i := p.from
			for ; i < p.to && int32(len(key(int(order[i])))) == p.depth; i++ {
				t.nodes[p.node].value = order[i]
			}
			t.nodes[p.node].first = int32(len(t.nodes))
			for i < p.to {
				c, from := key(int(order[i]))[p.depth], i
				for i < p.to && key(int(order[i]))[p.depth] == c {
					i++
				}
				next = append(next, part{int32(len(t.nodes)), from, i, p.depth + 1})
				if p.node == 0 {
					t.root[c] = int32(len(t.nodes))
				}
				t.nodes = append(t.nodes, trieNode{value: -1, label: c})
				t.nodes[p.node].count++
			}
		}
		queue = next
	}
	t.nodes = slices.Clip(t.nodes)
	return t
}

// child returns the child of a node by its label, 0 if it has none.
func (t *trie) child(node int32, c byte) int32 {
	if node == 0 {
		return t.root[c]
	}
	n := &t.nodes[node]
	lo, hi := n.first, n.first+int32(n.count)
	for hi-lo > 8 {
		if m := (lo + hi) / 2; t.nodes[m].label <= c {
			lo = m
		} else {
			hi = m
		}
	}
	for ; lo < hi; lo++ {
		if t.nodes[lo].label == c {
			return lo
		}
	}
	return 0
}

// walk returns the node behind a key, 0 if there is none.
func (t *trie) walk(node int32, key []byte) int32 {
	for _, c := range key {
		if node = t.child(node, c); node == 0 {
			return 0
		}
	}
	return node
}
