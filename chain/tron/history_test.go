package tron

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// keeping returns a node at the tip that has no blocks below one, as a lite full node has none below its snapshot.
func keeping(t *testing.T, from int) *fake {
	t.Helper()
	f := newFake(t)
	for range 60 {
		f.add(fakeTx{to: fakeOutsider, sun: 1})
	}
	f.solid = 60
	f.script["walletsolidity/getblockbynum"] = func(ask object) any {
		at, err := ask["num"].(json.Number).Int64()
		if err != nil || at > 0 && int(at) < from {
			return object{}
		}
		return f.blocks[at].block
	}
	f.script["walletsolidity/getblock"] = func(ask object) any {
		at := f.solid
		if text, named := ask["id_or_num"].(string); named {
			at, _ = strconv.Atoi(text)
		}
		if at < from {
			return object{}
		}
		return object{"blockID": f.blocks[at].block["blockID"], "block_header": f.blocks[at].block["block_header"]}
	}
	return f
}

// A proof that a pruned node cannot give, another one may give. History is gone only if every endpoint answers and
// keeps too little; an unreachable endpoint may keep it.
func TestExpiryAsksTheNodeThatKeepsTheHistory(t *testing.T) {
	t.Parallel()
	p := soundPayloads()[0]
	p.Expiration = uint64(fakeTime(10))
	p.RefBytes, p.RefHash = [2]byte{0, 1}, [8]byte(unhex(t, fakeID(1))[8:16])
	id := hash(sha256.Sum256(p.encode())).String()
	unsigned := chain.UnsignedTx{Bytes: envelopeOf(t, p), Expires: p.Expiration}
	for name, test := range map[string]struct {
		first, second int // 0: unreachable
		in            int
		gone          bool
		pruned        bool
		fails         bool
	}{
		"another keeps it":              {first: 30, second: 1, gone: true},
		"another keeps only part of it": {first: 30, second: 5, pruned: true, fails: true},
		"all are pruned":                {first: 30, second: 40, pruned: true, fails: true},
		"another is unreachable":        {first: 30, fails: true},
		"it is included":                {first: 30, second: 1, in: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := keeping(t, test.first)
			server := httptest.NewServer(http.NotFoundHandler())
			server.Close()
			url := server.URL
			if test.second > 0 {
				other := keeping(t, test.second)
				url = other.url
				if test.in > 0 {
					setID(other.blocks[test.in], id)
				}
			}
			c, err := New(Config{}, rpc.Config{URLs: []string{first.url, url}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			gone, err := c.Expired(t.Context(), unsigned, id)
			if gone != test.gone || (err != nil) != test.fails || errors.Is(err, chain.ErrPruned) != test.pruned {
				t.Fatalf("expired is %v (%v), want %v and %v and %v", gone, err, test.gone, test.fails, test.pruned)
			}
			outcome, err := c.Outcome(t.Context(), unsigned, id)
			want := chain.Outcome{Included: test.in > 0, Expired: test.gone}
			if test.in > 0 {
				want.Block = chain.BlockRef{Height: uint64(test.in), Hash: fakeID(test.in)}
			}
			if (err != nil) != test.fails || outcome != want {
				t.Fatalf("the outcome is %+v (%v), want %+v", outcome, err, want)
			}
		})
	}
}
