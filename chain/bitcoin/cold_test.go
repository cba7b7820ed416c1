package bitcoin

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

// vault returns a witness script and the address of its P2WSH output. Its content does not matter: what spends the
// output shows it (BIP 141).
func vault(t *testing.T, c *Chain) (script []byte, base string) {
	t.Helper()
	script = slices.Concat([]byte{0x52}, make([]byte, 102), []byte{0x53, 0xae})
	hash := sha256.Sum256(script)
	base, err := c.network.segwit(0, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	return script, base
}

// A cold wallet of several keys is a witness script: blocks show what arrives there and what leaves.
func TestAWitnessScriptsColdWalletIsFollowed(t *testing.T) {
	t.Parallel()
	for _, watched := range []bool{true, false} {
		f := newFake()
		c := open(t, f)
		hot := source(t, c, 0)
		witness, cold := vault(t, c)
		made := pays(1, wire.NewTxOut(9000, script(t, c, cold)))
		spend := pays(2, wire.NewTxOut(6000, script(t, c, hot.Base)), wire.NewTxOut(2500, script(t, c, cold)))
		spend.TxIn = []*wire.TxIn{{PreviousOutPoint: wire.OutPoint{Hash: made.TxHash()},
			Witness: wire.TxWitness{{}, {1}, {2}, witness}}}
		f.add(made)
		f.add(spend)
		watch := chaintest.NewWatch(hot.Base)
		if watched {
			watch.AddCold(cold)
		}
		b := afterBlock(t, f, c, 0, watch)
		if got := len(b.Transfers) == 1 && b.Transfers[0].UTXO == made.TxID()+":0" &&
			b.Transfers[0].Address.Base == cold; got != watched {
			t.Errorf("watched %v: the transfers are %+v", watched, b.Transfers)
		}
		b = afterBlock(t, f, c, 1, watch)
		if !watched {
			if len(b.Transfers) != 1 || len(b.ExternalSpends) != 0 {
				t.Errorf("not watched: it is %+v", b)
			}
			continue
		}
		want := []chain.Payment{
			{Address: bursar.Address{Base: hot.Base}, Amount: bursar.Units(6000)},
			{Address: bursar.Address{Base: cold}, Amount: bursar.Units(2500)},
		}
		if len(b.ExternalSpends) != 1 || len(b.Transfers) != 2 {
			t.Fatalf("got %+v and %+v, want a spend and two transfers", b.ExternalSpends, b.Transfers)
		}
		if x := b.ExternalSpends[0]; x.Base != cold || x.Fee != bursar.Units(500) || x.Inferred ||
			!slices.Equal(x.Payments, want) || !slices.Equal(x.Reservations, []string{made.TxID() + ":0"}) {
			t.Errorf("the spend is %+v, want one of %s with a fee of 500 and %+v", x, cold, want)
		}
	}
}

// Anybody can show a cold wallet's script in a witness of an output that has no rules yet.
func TestAWitnessThatMentionsAColdScriptIsNoSpend(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	witness, cold := vault(t, c)
	made := pays(1, wire.NewTxOut(1000, append([]byte{0x52, 32}, make([]byte, 32)...)))
	spend := pays(2, wire.NewTxOut(600, []byte{opOne}))
	spend.TxIn = []*wire.TxIn{{PreviousOutPoint: wire.OutPoint{Hash: made.TxHash()},
		Witness: wire.TxWitness{{1}, witness}}}
	f.add(made)
	f.add(spend)
	watch := chaintest.NewWatch()
	watch.AddCold(cold)
	if b := afterBlock(t, f, c, 1, watch); len(b.ExternalSpends) != 0 {
		t.Errorf("it counts as a spend: %+v, want none", b.ExternalSpends)
	}
}

func TestAColdWalletHasAFormThatBlocksShow(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	_, cold := vault(t, c)
	taproot, err := c.network.segwit(1, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for base, follows := range map[string]bool{source(t, c, 0).Base: true, cold: true, taproot: false} {
		if err := c.Followable(base); (err == nil) != follows || !follows && !strings.Contains(err.Error(), "P2WSH") {
			t.Errorf("%s: got %v, want it followed: %v", base, err, follows)
		}
	}
}
