package chaintest

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testTokenPayment(t *testing.T, h Harness) {
	node := h.Node.(Tokens)
	d := newHarness(t, h)
	contract := d.contract(node)
	payment := chain.Payment{Address: d.deposit(0), Contract: contract, Amount: bursar.Units(123_456)}
	txID := h.Node.Pay(t, payment)[0]
	h.Node.Mine(t, 1)
	blocks := d.read()
	d.wantTransfer(blocks, txID, payment)
	if all := transfers(blocks, ""); len(all) != 1 {
		t.Fatalf("one token payment gives the transfers %+v, want 1", all)
	}
	d.wantAmount("tokens", node.TokenBalance(t, contract, payment.Address.Base), payment.Amount)
}

func testTokenWithdrawal(t *testing.T, h Harness) {
	node := h.Node.(Tokens)
	d := newHarness(t, h)
	contract, hot := d.contract(node), d.hot().Base
	h.Node.Pay(t, chain.Payment{Address: bursar.Address{Base: hot}, Contract: contract, Amount: bursar.Units(1_000)})
	d.fund(hot, d.unit)
	before := d.balance(hot)
	payment := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(400)}
	request := d.request(payment)
	unsigned := d.build(request)
	d.wantFits(request, unsigned)
	tx := d.sign(unsigned)
	d.broadcast(tx)
	inclusion, _ := d.wantIncluded(d.settle(), tx.TxID)
	if inclusion.Failed || inclusion.Fee.IsZero() || unsigned.Fee.Less(inclusion.Fee) {
		t.Fatalf("inclusion is %+v, want success and a fee of at most %s", inclusion, unsigned.Fee)
	}
	d.wantAmount("tokens paid", node.TokenBalance(t, contract, payment.Address.Base), payment.Amount)
	d.wantAmount("tokens left", node.TokenBalance(t, contract, hot), bursar.Units(600))
	d.wantAmount("cost to the hot wallet", d.minus(before, d.balance(hot)), inclusion.Fee)
	held, err := h.Chain.Holdings(t.Context(), []string{hot}, contract, d.head().Final)
	if err != nil || len(held) != 1 || held[0] != bursar.Units(600) {
		t.Fatalf("token holdings are %v (%v), want 600", held, err)
	}

	payment.Amount = bursar.Units(601)
	_, err = h.Chain.Build(t.Context(), d.request(payment))
	var needs *chain.NeedsFundsError
	if !errors.As(err, &needs) || needs.Contract != contract || needs.Missing != bursar.Units(1) {
		t.Fatalf("building a payment of 601 from 600 tokens gives %v, want a NeedsFundsError with 1 missing", err)
	}
}

// testTokenSweepNeedsGas sweeps tokens from an address that holds nothing else, as the core does: the first build
// names the missing gas, a gas top-up pays it, and the same request then builds.
func testTokenSweepNeedsGas(t *testing.T, h Harness) {
	node := h.Node.(Tokens)
	d := newHarness(t, h)
	contract, hot := d.contract(node), d.hot()
	deposit := d.source[d.deposit(0).Base]
	h.Node.Pay(t, chain.Payment{Address: bursar.Address{Base: deposit.Base}, Contract: contract,
		Amount: bursar.Units(777)})
	d.fund(hot.Base, d.times(d.unit, 2))
	payment := chain.Payment{Address: bursar.Address{Base: hot.Base}, Contract: contract, Amount: bursar.Units(777)}
	request := d.request(payment)
	request.Kind, request.From, request.Nonce = chain.KindSweep, deposit, nil

	_, err := h.Chain.Build(t.Context(), request)
	var needs *chain.NeedsGasError
	if !errors.As(err, &needs) || needs.Source != deposit || needs.Amount.IsZero() {
		t.Fatalf("building a sweep without gas gives %v, want a NeedsGasError for the deposit address", err)
	}
	topUp := d.request(chain.Payment{Address: bursar.Address{Base: deposit.Base}, Amount: needs.Amount})
	topUp.Kind = chain.KindGasTopUp
	_, tx := d.send(topUp)
	h.Node.Mine(t, 1)
	d.wantIncluded(d.read(), tx.TxID)

	unsigned, tx := d.send(request)
	h.Node.Mine(t, 1)
	inclusion, _ := d.wantIncluded(d.read(), tx.TxID)
	if inclusion.Failed || inclusion.Fee.IsZero() || needs.Amount.Less(inclusion.Fee) {
		t.Fatalf("inclusion is %+v, want success and a fee of at most the gas top-up of %s; the unsigned transaction's "+
			"fee is %s", inclusion, needs.Amount, unsigned.Fee)
	}
	d.wantAmount("tokens left", node.TokenBalance(t, contract, deposit.Base), bursar.Amount{})
	d.wantAmount("tokens swept", node.TokenBalance(t, contract, hot.Base), bursar.Units(777))
}

func (d *harness) contract(node Tokens) string {
	d.t.Helper()
	contract := node.Token(d.t)
	canonical, err := d.chain.ParseContract(contract)
	d.check(err, "parse the contract %q", contract)
	if canonical != contract {
		d.t.Fatalf("contract %q is not canonical, want %q", contract, canonical)
	}
	return contract
}
