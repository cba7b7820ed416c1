package bitcoin

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func TestTheMeaningOfAnswersToABroadcast(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	tx := pays(1, wire.NewTxOut(1000, []byte{opOne}))
	sent := chain.SignedTx{TxID: tx.TxID(), Raw: serialise(tx)}
	unknown := errors.New("unknown")
	for _, test := range []struct {
		code    int
		message string
		want    error
	}{
		{-27, "Transaction outputs already in utxo set", nil},
		{-27, "transaction already in block chain", nil},
		{-26, "txn-already-in-mempool", nil},
		{-26, "txn-already-known", nil},
		{-26, "txn-same-nonwitness-data-in-mempool", nil},
		{-26, "min relay fee not met, 100 < 141", chain.ErrUnderpriced},
		{-26, "mempool min fee not met, 141 < 700", chain.ErrUnderpriced},
		{-26, "insufficient fee, rejecting replacement 4f..., less fees than conflicting txs", chain.ErrUnderpriced},
		// Bitcoin Core 31 (cluster mempool, #33629): validation.cpp and policy/rbf.cpp, feature_rbf.py, mempool_cluster.py.
		{-26, "replacement-failed, insufficient feerate: does not improve feerate diagram", chain.ErrUnderpriced},
		{-26,
			"insufficient fee (including sibling eviction), rejecting replacement 4f..., not enough additional fees to relay",
			chain.ErrUnderpriced},
		{-26, "too-large-cluster", unknown},
		{-26, "too many potential replacements, rejecting replacement 4f...; too many conflicting clusters (101 > 100)",
			unknown},
		{-26, "mempool full", chain.ErrUnderpriced},
		{-26, "bad-txns-in-belowout, value in (0.1) < value out (0.2)", chain.ErrRejected},
		{-26, "bad-txns-inputs-duplicate", chain.ErrRejected},
		{-26, "mandatory-script-verify-flag-failed (Signature must be zero for failed CHECK(MULTI)SIG operation)",
			chain.ErrRejected},
		{-26, "non-mandatory-script-verify-flag (Witness program hash mismatch)", chain.ErrRejected},
		{-26,
			"mempool-script-verify-flag-failed (Script evaluated without error but finished with a false/empty top stack " +
				"element)", chain.ErrRejected},
		{-25, "bad-txns-inputs-missingorspent", unknown},
		{-26, "bad-txns-inputs-missingorspent", unknown},
		{-25, "Missing inputs", unknown},
		{-26, "txn-mempool-conflict", unknown},
		{-26, "bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 20", unknown},
		{-26, "bad-txns-spends-conflicting-tx, 4f... spends conflicting transaction", unknown},
		{-26, "bad-txns-nonstandard-inputs", unknown},
		{-26, "too-long-mempool-chain, too many unconfirmed ancestors [limit: 25]", unknown},
		{-26, "replacement-adds-unconfirmed", unknown},
		{-26, "non-final", unknown},
		{-26, "dust", unknown},
		{-22, "TX decode failed. Make sure the tx has at least one input.", unknown},
		{-1, "bad-txns-in-belowout", unknown},
		{-28, "Loading block index…", unknown},
	} {
		f.say("sendrawtransaction", &rpc.Error{Code: test.code, Message: test.message})
		err := c.Broadcast(t.Context(), sent)
		switch {
		case test.want == unknown:
			if err == nil || errors.Is(err, chain.ErrRejected) || errors.Is(err, chain.ErrUnderpriced) {
				t.Errorf("%d %s means %v, want an unknown outcome", test.code, test.message, err)
			}
		case !errors.Is(err, test.want) || test.want == nil && err != nil:
			t.Errorf("%d %s means %v, want %v", test.code, test.message, err, test.want)
		}
	}
}

func TestBroadcastIsRepeatable(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	tx := pays(1, wire.NewTxOut(1000, []byte{opOne}))
	sent := chain.SignedTx{TxID: tx.TxID(), Raw: serialise(tx)}
	var limits []any
	f.sayBy("sendrawtransaction", func(params []any) any {
		limits = append(limits, params[1])
		return tx.TxID()
	})
	for range 2 {
		if err := c.Broadcast(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
	}
	if len(limits) != 2 || limits[0] != float64(0) {
		t.Fatalf("the node's fee limits are %v, want them off", limits)
	}
	// The transaction was mined long ago and all its outputs are spent: the node only reports missing inputs.
	f.say("sendrawtransaction", &rpc.Error{Code: codeTransaction, Message: "bad-txns-inputs-missingorspent"})
	if err := c.Broadcast(t.Context(), sent); err == nil {
		t.Fatal("Broadcast succeeded although the inputs are missing and the transaction is in no block")
	}
	f.add(tx)
	if err := c.Broadcast(t.Context(), sent); err != nil {
		t.Fatalf("the transaction is in a block, but Broadcast failed: %v", err)
	}
	f.say("sendrawtransaction", "00")
	if err := c.Broadcast(t.Context(), sent); err == nil {
		t.Fatal("Broadcast succeeded although the node reported another transaction")
	}
	for why, bad := range map[string]chain.SignedTx{
		"another id": {TxID: f.ref(0).Hash, Raw: sent.Raw}, "cut off": {TxID: sent.TxID, Raw: sent.Raw[:20]}, "nothing": {},
	} {
		if err := c.Broadcast(t.Context(), bad); err == nil || errors.Is(err, chain.ErrRejected) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// TestRefusalAfterAnUnknownOutcome has a second node refuse a transaction that the first one may have accepted.
func TestRefusalAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	refusal := &rpc.Error{Code: codeRejected, Message: "bad-txns-in-belowout", Unsure: true}
	if got := verdictOf(refusal); got != verdictUnknown {
		t.Fatalf("verdict is %d, want %v", got, verdictUnknown)
	}
	refusal.Unsure = false
	if got := verdictOf(refusal); got != verdictNever {
		t.Fatalf("verdict is %d, want %v", got, verdictNever)
	}
}

func TestNothingExpires(t *testing.T) {
	t.Parallel()
	if expired, err := open(t, newFake()).Expired(t.Context(), chain.UnsignedTx{}, ""); expired || err != nil {
		t.Fatalf("expired %v (%v)", expired, err)
	}
}
