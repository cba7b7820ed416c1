package signer

import (
	"bytes"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// rotate restarts the signer with the seed of one more epoch, which begins; what it remembers stays.
func (b *harness) rotate() {
	b.t.Helper()
	epoch := b.keys.Epoch() + 1
	keys := keysOf(b.t, legal, "", Testnet)
	for e := range epoch {
		b.must(keys.Add(seedOf(b.t, byte(e+1))))
	}
	b.must(keys.Begin(epoch))
	b.keys = keys
	for id, p := range b.bounds {
		p.Signable = fakeChain{curve: p.Capabilities.Curve, keys: keys}
		b.bounds[id] = p
	}
	b.restart(b.signer.evaluator.keeper)
}

func seedOf(t *testing.T, n byte) *Keys {
	t.Helper()
	keys, err := KeysFromSeed(bytes.Repeat([]byte{n}, 32), Testnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// hotIn is the hot wallet of an epoch.
func (b *harness) hotIn(family bursar.Family, e chain.Epoch) chain.Source {
	return b.source(family, chain.OwnBranch, e.First())
}

// home changes a request so that what it pays to us goes to the hot wallet of an epoch.
func (b *harness) home(r request, e chain.Epoch) request {
	family := r.contents.Inputs[0].Source.Key.Family
	old, hot := b.hotIn(family, 0), b.hotIn(family, e)
	for _, list := range [][]chain.Payment{r.request.Payments, r.contents.Payments} {
		for i, p := range list {
			if p.Address.Base == old.Base {
				list[i].Address.Base = hot.Base
			}
		}
	}
	if r.request.Change.Is(old) {
		r.request.Change = hot
	}
	return r
}
