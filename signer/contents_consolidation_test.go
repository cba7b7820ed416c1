package signer

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// consolidation merges two UTXOs of ours into one at the hot wallet.
func (b *harness) consolidation() request {
	r := b.withUTXOs()
	hot := b.source(chain.FamilyBitcoin, chain.OwnBranch, 0)
	r.request.Kind, r.request.Payments = chain.KindConsolidation, []chain.Payment{pay(hot.Base, 1500)}
	r.contents.Payments = []chain.Payment{pay(hot.Base, 700)}
	return r
}

// Every output of a consolidation stays with us, except a fee within all limits: a consolidation has no receiver who
// would complain.
func TestRefusesConsolidations(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	if _, err := b.sign(b.consolidation()); err != nil {
		t.Fatalf("a sound one: %v", err)
	}
	sound := b.consolidation
	deposit := b.source(chain.FamilyBitcoin, chain.DepositBranch, 1)
	b.wantRefusals([]refusalTest{
		{"to a thief", ReasonRequest, sound, func(r *request) {
			r.request.Payments = []chain.Payment{pay("mallory", 1500)}
			r.contents.Payments = []chain.Payment{pay("mallory", 700)}
		}},
		{"to a thief, whom the request does not contain", ReasonExternal, sound, func(r *request) {
			r.contents.Payments = []chain.Payment{pay("mallory", 700)}
		}},
		{"to a thief beside us", ReasonExternal, sound, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, pay("mallory", 1))
		}},
		{"to a deposit address", ReasonRequest, sound, func(r *request) {
			r.request.Payments = []chain.Payment{pay(deposit.Base, 1500)}
			r.contents.Payments = []chain.Payment{pay(deposit.Base, 700)}
		}},
		{"to a deposit address that the request does not contain", ReasonExternal, sound, func(r *request) {
			r.contents.Payments = []chain.Payment{pay(deposit.Base, 700)}
		}},
		{"to the hot wallet with a memo", ReasonExternal, sound, func(r *request) {
			r.contents.Payments[0].Address.HasMemo = true
		}},
		{"of a token", ReasonExternal, sound, func(r *request) { r.contents.Payments[0].Contract = "token" }},
		{"with two payments", ReasonRequest, sound, func(r *request) {
			r.request.Payments = slices.Repeat(r.request.Payments, 2)
		}},
		{"without a payment", ReasonRequest, sound, func(r *request) { r.request.Payments = nil }},
		{"of more than the request says", ReasonUnpaid, sound, func(r *request) {
			r.contents.Payments[0].Amount = bursar.Units(1501)
		}},
		{"of nothing", ReasonUnpaid, sound, func(r *request) { r.contents.Payments[0].Amount = bursar.Amount{} }},
		{"with another's change", ReasonChange, sound, func(r *request) { r.request.Change.Base = "mallory" }},
		{"of a UTXO that is not ours", ReasonSource, sound, func(r *request) {
			r.contents.Inputs[0].Source.Base = "mallory"
		}},
		{"of a UTXO that is not reserved", ReasonReservations, sound, func(r *request) {
			r.unsigned.Reservations = r.unsigned.Reservations[:1]
		}},
		{"at a fee that differs from the stated one", ReasonFee, sound, func(r *request) {
			r.contents.Fee = bursar.Units(801)
		}},
		{"at a fee above the request's", ReasonFee, sound, func(r *request) { r.request.MaxFee = bursar.Units(799) }},
		{"at a fee above the policy's", ReasonFee, sound, func(r *request) {
			r.request.MaxFee, r.unsigned.Fee = bursar.Units(5000), bursar.Units(5000)
			r.contents.Fee, r.contents.Weight = bursar.Units(1001), 5000
		}},
		{"at a rate above the policy's", ReasonRate, sound, func(r *request) { r.contents.Weight = 159 }},
		{"on the account model", ReasonRequest, b.sweep, func(r *request) { r.request.Kind = chain.KindConsolidation }},
	})
}
