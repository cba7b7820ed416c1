package ceremony_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain/bitcoin/psbt"
)

// A device that completes the inputs that it can returns some that are final and some that only have a signature.
func TestSignaturesOfFinalInputsAreKept(t *testing.T) {
	t.Parallel()
	b := newHarness(t, "wpkh(%s/<0;1>/*)")
	p := b.packet()
	second := wire.OutPoint{Hash: b.previous.TxHash(), Index: 1}
	p.Tx.AddTxIn(&wire.TxIn{PreviousOutPoint: second, Sequence: p.Tx.TxIn[0].Sequence})
	p.Tx.TxOut[1].Value += 1e8
	both := psbt.New(p.Tx)
	both.Inputs[0] = p.Inputs[0]
	both.Inputs[1].Set([]byte{psbt.InPrevious}, b.raw(b.previous))
	for _, k := range b.at(1).Keys {
		both.Inputs[1].Set(append([]byte{psbt.InDerivation}, k.Public...), psbt.Derivation(k.Fingerprint, k.Path))
	}
	given := b.bundle(both)
	signed, err := b.own.Sign(given, b.keys[0], now)
	if err != nil {
		t.Fatal(err)
	}
	partly, err := psbt.Parse(signed.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := partly.Finalize()
	if err != nil {
		t.Fatal(err)
	}
	partly.Inputs[0] = whole.Inputs[0]
	returned, err := partly.Encode()
	if err != nil {
		t.Fatal(err)
	}
	combined, err := b.rules.CombineCold(given.Wallet, given.Bytes, returned)
	if err != nil {
		t.Fatal(err)
	}
	got := given
	got.Bytes = combined
	if _, err := b.own.Evaluate(got, now); err != nil {
		t.Errorf("the combined bundle is refused: %v, want it accepted", err)
	}
	if _, err := b.rules.FinishCold(given.Wallet, combined); err != nil {
		t.Errorf("finishing it gives %v, want a complete transaction", err)
	}
}
