package signer

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// wantHalted signs and checks whether a halt prevents it.
func (b *harness) wantHalted(r request, reason string) {
	b.t.Helper()
	_, err := b.sign(r)
	var refused *RefusalError
	switch {
	case reason == "" && err != nil:
		b.t.Errorf("refused: %v", err)
	case reason != "" && (!errors.As(err, &refused) || refused.Reason != ReasonHalted || refused.Detail != reason):
		b.t.Errorf("got %v, want it halted: %s", err, reason)
	}
}

func TestAHaltedSignerRefuses(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	utxoRequest, other := b.paying(1, pay("alice", 60)), b.paying(2, token("alice", 6))
	id := nonceChain
	notify := func(h Halts) int64 {
		t.Helper()
		known, err := b.signer.SendHalts(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	b.wantHalted(utxoRequest, "")
	notify(Halts{Number: 1, All: "a drill"})
	b.wantHalted(utxoRequest, "a drill")
	notify(Halts{Number: 2, Chains: map[bursar.ChainID]string{id: "a fork", "another": "no"}})
	b.wantHalted(utxoRequest, "a fork")
	notify(Halts{Number: 3, Chains: map[bursar.ChainID]string{"another": "no"},
		Assets: []HaltedAsset{{id, "token", "depegged"}, {"another", "", "no"}}})
	b.wantHalted(utxoRequest, "")
	b.wantHalted(other, "depegged")
	if known := notify(Halts{Number: 2, Assets: []HaltedAsset{{id, "", "late word"}}}); known != 3 {
		t.Errorf("it goes by %d, want 3", known)
	}
	b.wantHalted(other, "depegged")        // older halts lift nothing
	b.wantHalted(utxoRequest, "late word") // and add
	notify(Halts{Number: 4})
	b.wantHalted(utxoRequest, "")
	b.wantHalted(other, "")
	b.signer.AwaitHalts()
	b.wantHalted(utxoRequest, "no service has sent the halts since the signer started")
	notify(Halts{Number: 4})
	b.wantHalted(utxoRequest, "")
}

// A halt that starts while a signature is made withholds it.
func TestAHaltWithholdsSignaturesInProgress(t *testing.T) {
	t.Parallel()
	var b *harness
	b = newHarness(t, func(p *Bounds) {
		f, _ := p.Signable.(fakeChain)
		f.alter = func(*chain.SignedTx) {
			if _, err := b.signer.SendHalts(t.Context(), Halts{Number: 1, All: "now"}); err != nil {
				t.Error(err)
			}
		}
		p.Signable = f
	})
	b.wantHalted(b.paying(1, pay("alice", 60)), "now")
}

// The attack: halts with lower and lower numbers, each with other assets, fill the memory. Beyond a number of them
// everything is halted.
func TestTheHaltsAreBounded(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	var list []HaltedAsset
	for n := range maxHalts {
		list = append(list, HaltedAsset{Chain: "elsewhere", Contract: fmt.Sprint("a", n), Reason: "x"})
	}
	send := func(number int64, assets ...HaltedAsset) {
		t.Helper()
		if known, err := b.signer.SendHalts(t.Context(), Halts{Number: number, Assets: assets}); err != nil || known != 9 {
			t.Fatalf("it knows %d, %v, want 9", known, err)
		}
	}
	send(9, list...)
	b.wantReason(b.sweep(), "")
	send(8, HaltedAsset{Chain: "elsewhere", Contract: "another", Reason: "x"})
	b.wantReason(b.sweep(), ReasonHalted, "more halts than a signer holds")
	if n := len(b.signer.halts.received.Assets); n > 0 {
		t.Errorf("%d are held, want 0", n)
	}
	send(9)
	b.wantReason(b.sweep(), "")
}
