package signer

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// toCold moves units from the hot wallet to an address on the chain of the account model, with a nonce of its own.
func (b *harness) toCold(base string, nonce byte) request {
	r := b.withNonce()
	r.request.ID = bursar.ID{0: 9, 15: nonce}
	r.request.Kind = chain.KindToCold
	r.request.Payments = []chain.Payment{pay(base, 30)}
	r.contents.Payments = r.request.Payments
	r.contents.Reservations = []string{"hot/" + string('a'+rune(nonce))}
	r.contents.Inputs[0].Digest = append([]byte{nonce}, r.contents.Inputs[0].Digest[1:]...)
	return r
}

func withCold(p *Bounds) {
	if p.Capabilities.ID == nonceChain {
		p.Cold, p.ToCold = []string{"vault"}, Limits{Hour: bursar.Units(2)}
	}
}

func TestAMoveToColdPaysAListedAddressOnly(t *testing.T) {
	t.Parallel()
	b := newHarness(t, withCold)
	b.wantReason(b.toCold("vault", 0), "")
	b.wantReason(b.toCold("thief", 1), ReasonColdWallet, "thief", "configuration")
	tagged := b.toCold("vault", 1)
	tagged.request.Payments[0].Address = bursar.Address{Base: "vault", Memo: 7, HasMemo: true}
	tagged.contents.Payments = tagged.request.Payments
	b.wantReason(tagged, ReasonColdWallet, "vault:7")
	two := b.toCold("vault", 1)
	two.request.Payments = append(two.request.Payments, pay("vault", 1))
	two.contents.Payments = two.request.Payments
	b.wantReason(two, ReasonRequest)
	swept := b.toCold("vault", 1)
	swept.request.From = b.source(chain.FamilyEVM, chain.DepositBranch, 3)
	b.wantReason(swept, ReasonRequest, "not by the hot wallet")
}

// Moves are counted by themselves: they use up nothing that payments or sweeps need.
func TestMovesToColdHaveAQuotaOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) {
		withCold(p)
		p.Transfers, p.Payments = Limits{Hour: bursar.Units(1)}, map[string]Limits{"": {Hour: bursar.Units(30)}}
	})
	b.wantReason(b.toCold("vault", 0), "")
	b.wantReason(b.toCold("vault", 1), "")
	b.wantReason(b.toCold("vault", 2), ReasonQuota, "moves to cold wallets", "hourly_to_cold")
	b.wantReason(b.topUp(), "")
	b.clock.Advance(time.Hour + time.Second)
	b.wantReason(b.toCold("vault", 2), "")
}

func TestAColdWalletIsNotTheHotOne(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	hot := b.source(chain.FamilyEVM, chain.OwnBranch, 0).Base
	p := boundsOf(b.keys, nonceChain)
	p.Cold = []string{hot}
	_, err := NewWithMemory(t.Context(), b.keys, map[bursar.ChainID]Bounds{nonceChain: p}, memory.NewRAM())
	if !errors.Is(err, ErrBadBounds) {
		t.Errorf("with the hot wallet's address: got %v, want %v", err, ErrBadBounds)
	}
}
