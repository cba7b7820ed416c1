package signer

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type refusalTest struct {
	name   string
	reason Reason
	from   func() request
	spoil  func(*request)
}

func (b *harness) wantRefusals(tests []refusalTest) {
	b.t.Helper()
	for _, test := range tests {
		r := test.from()
		test.spoil(&r)
		tx, err := b.sign(r)
		var refusal *RefusalError
		if !errors.As(err, &refusal) || refusal.Reason != test.reason {
			b.t.Errorf("%s: %v, want %s", test.name, err, test.reason)
		}
		if tx.TxID != "" || tx.Raw != nil {
			b.t.Errorf("%s: a transaction beside the refusal, want %q and nil", test.name, "")
		}
	}
}

func TestRefusesRequests(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	utxoRequest, nonce := b.withUTXOs, b.withNonce
	deposit := b.source(chain.FamilyEVM, chain.DepositBranch, 4)
	b.wantRefusals([]refusalTest{
		{"unknown chain", ReasonUnknownChain, utxoRequest, func(r *request) { r.chain = "dogecoin" }},
		{"no kind", ReasonRequest, utxoRequest, func(r *request) { r.request.Kind = "" }},
		{"unknown kind", ReasonRequest, nonce, func(r *request) { r.request.Kind = "gift" }},
		{"no payment", ReasonRequest, utxoRequest, func(r *request) { r.request.Payments = nil }},
		{"too many payments", ReasonRequest, nonce, func(r *request) {
			r.request.Payments = append(r.request.Payments, r.request.Payments...)
		}},
		{"nothing to pay", ReasonRequest, utxoRequest, func(r *request) { r.request.Payments[0].Amount = bursar.Amount{} }},
		{"nobody to pay", ReasonRequest, utxoRequest, func(r *request) { r.request.Payments[0].Address = bursar.Address{} }},
		{"to the hot wallet", ReasonOwnAddress, utxoRequest, func(r *request) {
			r.request.Payments[0] = pay(r.request.Change.Base, 50)
			r.contents.Payments[1] = pay(r.request.Change.Base, 50)
		}},
		{"to the hot wallet, as change would be", ReasonOwnAddress, utxoRequest, func(r *request) {
			r.request.Payments = []chain.Payment{pay(r.request.Change.Base, 50)}
			r.contents.Payments = r.request.Payments
		}},
		{"to the hot wallet with a memo", ReasonOwnAddress, nonce, func(r *request) {
			r.request.Payments[0].Address = bursar.Address{Base: r.request.From.Base, Memo: 1, HasMemo: true}
			r.contents.Payments = r.request.Payments
		}},
		{"to the payer", ReasonOwnAddress, nonce, func(r *request) {
			r.request.From = deposit
			r.request.Payments[0].Address.Base = deposit.Base
			r.contents.Payments, r.contents.Inputs[0].Source = r.request.Payments, deposit
		}},
		{"to an input", ReasonOwnAddress, utxoRequest, func(r *request) {
			r.request.Payments[0].Address.Base = r.contents.Inputs[0].Source.Base
			r.contents.Payments[1] = r.request.Payments[0]
		}},
		{"change to a deposit address", ReasonChange, utxoRequest, func(r *request) {
			r.request.Change = r.contents.Inputs[0].Source
		}},
		{"change to an external address", ReasonChange, utxoRequest, func(r *request) { r.request.Change.Base = "mallory" }},
		{"change nowhere", ReasonChange, utxoRequest, func(r *request) { r.request.Change = chain.Source{} }},
		{"change by another key", ReasonChange, utxoRequest, func(r *request) { r.request.Change.Key.Index = 1 }},
		{"payer unknown", ReasonSource, nonce, func(r *request) { r.request.From = chain.Source{} }},
		{"payer of another key", ReasonSource, nonce, func(r *request) { r.request.From.Key.Index = 1 }},
		{"payer of another family", ReasonSource, nonce, func(r *request) { r.request.From.Key.Family = chain.FamilyTron }},
		{"payer of an unknown branch", ReasonSource, nonce, func(r *request) { r.request.From.Key.Branch = 7 }},
	})
}

// TestRefusesOwnMovements covers sweeps and top-ups, whose money must stay ours.
func TestRefusesOwnMovements(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	utxoRequest, sweep, topUp := b.withUTXOs, b.sweep, b.topUp
	deposit := b.source(chain.FamilyEVM, chain.DepositBranch, 4)
	b.wantRefusals([]refusalTest{
		{"a sweep elsewhere", ReasonRequest, sweep, func(r *request) {
			r.request.Payments[0].Address.Base = "mallory"
			r.contents.Payments = r.request.Payments
		}},
		{"a sweep to a deposit address", ReasonRequest, sweep, func(r *request) {
			r.request.Payments[0].Address.Base = deposit.Base
			r.contents.Payments = r.request.Payments
		}},
		{"a sweep with a memo", ReasonRequest, sweep, func(r *request) { r.request.Payments[0].Address.HasMemo = true }},
		{"gas for an external address", ReasonRequest, topUp, func(r *request) {
			r.request.Payments[0].Address.Base = "mallory"
			r.contents.Payments = r.request.Payments
		}},
		{"gas for an external address called ours", ReasonSource, topUp, func(r *request) {
			r.request.Change.Base = "mallory"
			r.request.Payments[0].Address.Base = "mallory"
			r.contents.Payments = r.request.Payments
		}},
		{"gas for the hot wallet", ReasonRequest, topUp, func(r *request) {
			r.request.Change = r.request.From
			r.request.Payments[0].Address.Base = r.request.From.Base
			r.contents.Payments = r.request.Payments
		}},
		{"gas in tokens", ReasonRequest, topUp, func(r *request) {
			r.request.Payments[0].Contract = "token"
			r.contents.Payments = r.request.Payments
		}},
		{"gas with a memo", ReasonRequest, topUp, func(r *request) { r.request.Payments[0].Address.HasMemo = true }},
		{"gas without a key", ReasonSource, topUp, func(r *request) { r.request.Change = chain.Source{} }},
		{"gas on the UTXO model", ReasonRequest, utxoRequest, func(r *request) {
			r.request.Kind, r.request.Payments = chain.KindGasTopUp, r.request.Payments[:1]
		}},
		{"gas from a deposit address to itself", ReasonRequest, topUp, func(r *request) {
			r.request.From = r.request.Change
		}},
	})
}

func TestRefusesContents(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	utxoRequest, nonce, sweep, topUp, ed := b.withUTXOs, b.withNonce, b.sweep, b.topUp, b.sweepOnEd25519
	hot := b.source(chain.FamilyBitcoin, chain.OwnBranch, 0)
	b.wantRefusals([]refusalTest{
		{"no bytes", ReasonTooLarge, utxoRequest, func(r *request) { r.unsigned.Bytes = []byte{} }},
		{"too many bytes", ReasonTooLarge, utxoRequest, func(r *request) { r.unsigned.Bytes = make([]byte, maxUnsigned+1) }},
		{"no transaction", ReasonUnreadable, utxoRequest, func(r *request) { r.unsigned.Bytes = []byte("{") }},
		{"no input", ReasonTooLarge, nonce, func(r *request) { r.contents.Inputs = nil }},
		{"too many inputs", ReasonTooLarge, utxoRequest, func(r *request) {
			r.contents.Inputs = append(r.contents.Inputs, chain.Input{Source: hot, Digest: digest(3)},
				chain.Input{Source: hot, Digest: digest(4)})
			r.unsigned.Reservations = append(r.unsigned.Reservations, "c:0", "d:0")
		}},
		{"no output", ReasonTooLarge, utxoRequest, func(r *request) { r.contents.Payments = nil }},
		{"too many outputs", ReasonTooLarge, utxoRequest, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, pay("x", 1), pay("y", 1), pay("z", 1))
		}},
		{"a payment missing", ReasonUnpaid, utxoRequest, func(r *request) { r.contents.Payments = r.contents.Payments[1:] }},
		{"one unit less", ReasonUnpaid, utxoRequest, func(r *request) { r.contents.Payments[0].Amount = bursar.Units(199) }},
		{"one unit more", ReasonUnpaid, nonce, func(r *request) { r.contents.Payments[0].Amount = bursar.Units(8) }},
		{"to somebody else", ReasonUnpaid, nonce, func(r *request) { r.contents.Payments[0].Address.Base = "mallory" }},
		{"another token", ReasonUnpaid, nonce, func(r *request) { r.contents.Payments[0].Contract = "forgery" }},
		{"native asset for token", ReasonUnpaid, nonce, func(r *request) { r.contents.Payments[0].Contract = "" }},
		{"a memo added", ReasonUnpaid, nonce, func(r *request) { r.contents.Payments[0].Address.HasMemo = true }},
		{"amounts exchanged", ReasonUnpaid, utxoRequest, func(r *request) {
			r.contents.Payments[0].Amount, r.contents.Payments[1].Amount = r.contents.Payments[1].Amount,
				r.contents.Payments[0].Amount
		}},
		{"paid once of twice", ReasonUnpaid, utxoRequest, func(r *request) {
			r.request.Payments = append(r.request.Payments, r.request.Payments[0])
		}},
		{"paid twice of once", ReasonExternal, utxoRequest, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, pay("alice", 100))
		}},
		{"paid twice by nonce", ReasonExternal, nonce, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, r.contents.Payments[0])
		}},
		{"something beside", ReasonExternal, utxoRequest, func(r *request) { r.contents.Payments[2] = pay("mallory", 50) }},
		{"change to a deposit address", ReasonExternal, utxoRequest, func(r *request) {
			r.contents.Payments[2].Address.Base = r.contents.Inputs[0].Source.Base
		}},
		{"change with a memo", ReasonExternal, utxoRequest, func(r *request) {
			r.contents.Payments[2].Address.HasMemo = true
		}},
		{"change in tokens", ReasonExternal, utxoRequest, func(r *request) { r.contents.Payments[2].Contract = "token" }},
		{"change twice", ReasonChange, utxoRequest, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, pay(hot.Base, 1))
		}},
		{"change of the same amount twice", ReasonChange, utxoRequest, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, r.contents.Payments[2])
		}},
		{"change by nonce", ReasonExternal, nonce, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, pay(r.request.From.Base, 1))
		}},
		{"a sweep elsewhere", ReasonExternal, sweep, func(r *request) { r.contents.Payments[0].Address.Base = "mallory" }},
		{"a sweep of another asset", ReasonExternal, sweep, func(r *request) { r.contents.Payments[0].Contract = "token" }},
		{"a sweep of more", ReasonUnpaid, sweep, func(r *request) { r.contents.Payments[0].Amount = bursar.Units(501) }},
		{"a sweep of nothing", ReasonUnpaid, sweep, func(r *request) { r.contents.Payments[0].Amount = bursar.Amount{} }},
		{"a sweep in two parts", ReasonExternal, sweep, func(r *request) {
			r.contents.Payments = []chain.Payment{r.contents.Payments[0], r.contents.Payments[0]}
		}},
		{"a sweep of fewer tokens", ReasonUnpaid, ed, func(r *request) { r.contents.Payments[0].Amount = bursar.Units(69) }},
		{"a sweep with a tip", ReasonExternal, ed, func(r *request) {
			r.contents.Payments = append(r.contents.Payments, pay("mallory", 1))
		}},
		{"gas elsewhere", ReasonUnpaid, topUp, func(r *request) {
			r.contents.Payments = []chain.Payment{pay("mallory", 30)}
		}},
		{"more gas", ReasonUnpaid, topUp, func(r *request) {
			r.contents.Payments = []chain.Payment{pay(r.request.Change.Base, 31)}
		}},
	})
}

func TestRefusesInputsAndFees(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	utxoRequest, nonce, sweep, ed := b.withUTXOs, b.withNonce, b.sweep, b.sweepOnEd25519
	other := b.source(chain.FamilySolana, chain.DepositBranch, 2)
	b.wantRefusals([]refusalTest{
		{"an input of an outsider", ReasonSource, utxoRequest, func(r *request) {
			r.contents.Inputs[0].Source.Base = "mallory"
		}},
		{"an input of another key", ReasonSource, utxoRequest, func(r *request) {
			r.contents.Inputs[0].Source.Key.Index = 2
		}},
		{"an input of another family", ReasonSource, utxoRequest, func(r *request) {
			r.contents.Inputs[0].Source.Key.Family = chain.FamilyLitecoin
		}},
		{"an input of an unknown branch", ReasonSource, utxoRequest, func(r *request) {
			r.contents.Inputs[0].Source.Key.Branch = 2
		}},
		{"an input above the tree", ReasonEpoch, utxoRequest, func(r *request) {
			r.contents.Inputs[0].Source.Key.Index = hardened
		}},
		{"another payer", ReasonSource, nonce, func(r *request) {
			r.contents.Inputs[0].Source = b.source(chain.FamilyEVM, chain.DepositBranch, 4)
		}},
		{"hot in the payer's place", ReasonSource, sweep, func(r *request) {
			r.contents.Inputs[0].Source = b.source(chain.FamilyEVM, chain.OwnBranch, 0)
		}},
		{"a third signer", ReasonSource, ed, func(r *request) {
			r.contents.Inputs = append(r.contents.Inputs, chain.Input{Source: other, Digest: r.contents.Inputs[0].Digest})
		}},
		{"a short digest", ReasonDigest, utxoRequest, func(r *request) { r.contents.Inputs[1].Digest = digest(1)[1:] }},
		{"a long digest", ReasonDigest, nonce, func(r *request) { r.contents.Inputs[0].Digest = append(digest(1), 1) }},
		{"no digest", ReasonDigest, utxoRequest, func(r *request) { r.contents.Inputs[0].Digest = nil }},
		{"no message", ReasonDigest, ed, func(r *request) { r.contents.Inputs[0].Digest = nil }},
		{"a long message", ReasonDigest, ed, func(r *request) { r.contents.Inputs[0].Digest = make([]byte, maxMessage+1) }},
		{"an input twice", ReasonDigest, utxoRequest, func(r *request) { r.contents.Inputs[0] = r.contents.Inputs[1] }},
		{"a UTXO without a reservation", ReasonReservations, utxoRequest, func(r *request) {
			r.unsigned.Reservations = r.unsigned.Reservations[:1]
		}},
		{"a UTXO reserved twice", ReasonReservations, utxoRequest, func(r *request) {
			r.unsigned.Reservations[1] = r.unsigned.Reservations[0]
		}},
		{"a reservation too many", ReasonReservations, utxoRequest, func(r *request) {
			r.unsigned.Reservations = append(r.unsigned.Reservations, "c:0")
		}},
		{"another UTXO reserved", ReasonReservations, utxoRequest, func(r *request) { r.unsigned.Reservations[1] = "c:0" }},
		{"a UTXO spent twice", ReasonReservations, utxoRequest, func(r *request) {
			r.contents.Inputs[1].Outpoint = r.contents.Inputs[0].Outpoint
		}},
		{"a UTXO that holds nothing", ReasonReservations, utxoRequest, func(r *request) {
			r.contents.Inputs[0].Amount = bursar.Amount{}
		}},
		{"fee understated", ReasonFee, utxoRequest, func(r *request) { r.unsigned.Fee = bursar.Units(799) }},
		{"fee above the request's", ReasonFee, utxoRequest, func(r *request) { r.request.MaxFee = bursar.Units(799) }},
		{"fee above the policy's", ReasonFee, utxoRequest, func(r *request) {
			r.request.MaxFee, r.unsigned.Fee, r.contents.Fee, r.contents.Weight = bursar.Units(5000), bursar.Units(5000),
				bursar.Units(1001), 5000
		}},
		{"rate above the policy's", ReasonRate, utxoRequest, func(r *request) { r.contents.Weight = 159 }},
		{"rate above by a fraction", ReasonRate, utxoRequest, func(r *request) {
			r.contents.Fee, r.contents.Weight, r.unsigned.Fee = bursar.Units(801), 160, bursar.Units(801)
		}},
		{"no weight", ReasonRate, utxoRequest, func(r *request) { r.contents.Weight = 0 }},
		{"no fee limit", ReasonFee, nonce, func(r *request) { r.request.MaxFee = bursar.Amount{} }},
	})
}
