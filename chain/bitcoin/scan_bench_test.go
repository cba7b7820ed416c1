package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
)

// millionWatched is a million watched addresses.
type millionWatched struct{ bases map[string]struct{} }

func newMillionWatched(c *Chain) millionWatched {
	random := rand.New(rand.NewPCG(11, 13))
	bases := make(map[string]struct{}, 1_000_000)
	encoder := newBaseEncoder(c.network.HRP)
	var hash [sizeKeyHash]byte
	for range 1_000_000 {
		for i := range hash {
			hash[i] = byte(random.Uint32())
		}
		bases[encoder.encode(hash)] = struct{}{}
	}
	return millionWatched{bases}
}

func (millionWatched) Sync(context.Context) error { return nil }
func (millionWatched) Sent(string) bool           { return false }
func (w millionWatched) Pays(base string) bool {
	_, ok := w.bases[base]
	return ok
}

func (w millionWatched) PaysAny(texts []byte, size int, found func(i int)) {
	for i := range len(texts) / size {
		if _, ok := w.bases[string(texts[i*size:(i+1)*size])]; ok {
			found(i)
		}
	}
}

func (millionWatched) SentAny([]byte, int, func(int)) {}

// BenchmarkScan reads a full block of 4,000 transactions, from the node's hexadecimal to its transfers.
func BenchmarkScan(b *testing.B) {
	c := open(b, newFake())
	full := randomBlock(5, 4000)
	text, hash := []byte(hexOf(full)), full.BlockHash().String()
	watch := newMillionWatched(c)
	b.SetBytes(int64(len(text) / 2))
	b.ReportAllocs()
	raw, read := make([]byte, len(text)/2), &block{}
	for b.Loop() {
		if _, err := hex.Decode(raw, text); err != nil {
			b.Fatal(err)
		}
		if err := read.read(raw, false); err != nil {
			b.Fatal(err)
		}
		if err := read.verify(hash); err != nil {
			b.Fatal(err)
		}
		if _, err := c.scan(b.Context(), nil, chain.BlockRef{Height: 1, Hash: hash}, read, watch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadBlock measures the part that parses and hashes.
func BenchmarkReadBlock(b *testing.B) {
	raw := serialise(randomBlock(5, 4000))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	var read block
	for b.Loop() {
		if err := read.read(raw, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWireParse measures btcd's parser alone, without any hash.
func BenchmarkWireParse(b *testing.B) {
	raw := serialise(randomBlock(5, 4000))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var block wire.MsgBlock
		if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBaseEncoder(b *testing.B) {
	e := newBaseEncoder("bc")
	var hash [sizeKeyHash]byte
	for b.Loop() {
		hash[0]++
		_ = e.encode(hash)
	}
}

func BenchmarkFastHash160(b *testing.B) {
	key := make([]byte, sizeKey)
	for b.Loop() {
		key[0]++
		_ = fastHash160(key)
	}
}
