package chaintest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// testExternalSpendIsSeen reads one block twice: as the sender, and as a database that knows no transaction of ours,
// such as one that is older than the chain.
func testExternalSpendIsSeen(t *testing.T, h Harness) {
	d := newHarness(t, h)
	hot := d.hot().Base
	d.fund(hot, d.times(d.unit, 3))
	start := d.cursor
	unsigned, tx := d.send(d.request(chain.Payment{Address: d.outsider(), Amount: d.plus(d.unit, bursar.Units(9))}))
	h.Node.Mine(t, 1)
	inclusion, _ := d.wantIncluded(d.follow(start, 10, d.watch), tx.TxID)
	d.wantExternal(start, hot, unsigned, tx, inclusion)
}

// wantExternal reads the chain from a block on as a database that knows our addresses and none of our transactions,
// and checks that it sees one external spend with the contents of an unsigned transaction.
func (d *harness) wantExternal(
	start chain.BlockRef, base string, unsigned chain.UnsignedTx, tx chain.SignedTx, in chain.Inclusion,
) {
	d.t.Helper()
	var bases []string
	for base := range d.source {
		bases = append(bases, base)
	}
	var found []chain.ExternalSpend
	for _, block := range d.follow(start, 10, NewWatch(bases...)) {
		if len(block.Included) != 0 {
			d.t.Fatalf("unknown transactions are included as ours: %+v", block.Included)
		}
		for _, external := range block.ExternalSpends {
			if external.TxID == tx.TxID {
				found = append(found, external)
			}
		}
	}
	if len(found) != 1 || found[0].Base != base || found[0].Inferred {
		d.t.Fatalf("external spends are %+v, want one: %s from %s, not inferred", found, tx.TxID, base)
	}
	want := d.inspect(unsigned.Bytes).Payments
	if in.Failed {
		want = nil
	}
	if got := found[0]; got.Failed != in.Failed || got.Fee != in.Fee || !sameMembers(got.Payments, want, comparePayments) {
		d.t.Fatalf("the external spend is %+v\nwant payments %+v, fee %s, failed %v", got, want, in.Fee, in.Failed)
	}
	if last := found[0].LastHeight; last != 0 && last != unsigned.Expires {
		d.t.Fatalf("the external spend names the last height %d, want %d, or 0 where that is not shown", last,
			unsigned.Expires)
	}
	if resources := named(unsigned.Reservations); !sameMembers(found[0].Reservations, resources, strings.Compare) {
		d.t.Fatalf("the external spend uses up %q, want %q", found[0].Reservations, resources)
	}
}

func comparePayments(a, b chain.Payment) int {
	key := func(p chain.Payment) string {
		return p.Address.Base + "/" + strconv.Itoa(int(p.Address.Memo)) + "/" + p.Contract + "/" + p.Amount.String()
	}
	return strings.Compare(key(a), key(b))
}

func sameMembers[T comparable](a, b []T, compare func(a, b T) int) bool {
	return slices.Equal(slices.SortedFunc(slices.Values(a), compare), slices.SortedFunc(slices.Values(b), compare))
}

// named leaves out reservations that name a transaction and not what it uses up.
func named(resources []string) (named []string) {
	for _, resource := range resources {
		if !strings.HasPrefix(resource, "tx/") {
			named = append(named, resource)
		}
	}
	return named
}

// testFailedExternalSpend checks an external spend that fails: it uses up a nonce, if the chain has nonces, and
// delivers nothing.
func testFailedExternalSpend(t *testing.T, h Harness) {
	node := h.Node.(Failing)
	d := newHarness(t, h)
	hot := d.hot().Base
	d.fund(hot, d.times(d.unit, 3))
	start := d.cursor
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	unsigned := d.build(d.request(payment))
	tx := d.sign(unsigned)
	node.Close(t, payment.Address.Base)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	inclusion, _ := d.wantIncluded(d.follow(start, 10, d.watch), tx.TxID)
	d.wantExternal(start, hot, unsigned, tx, inclusion)
}

// testForgottenTransactionsAreSeen makes every kind of outgoing transaction and reads them as a database that was
// restored from an earlier backup: a token payment, a gas top-up, and a sweep of either asset from a deposit address.
func testForgottenTransactionsAreSeen(t *testing.T, h Harness) {
	d := newHarness(t, h)
	hot, deposit := d.hot(), d.source[d.deposit(0).Base]
	node, tokens := h.Node.(Tokens)
	d.fund(hot.Base, d.times(d.unit, 4))
	start := d.cursor
	toHot := func(contract string, amount bursar.Amount) chain.Payment {
		return chain.Payment{Address: bursar.Address{Base: hot.Base}, Contract: contract, Amount: amount}
	}
	topUp := d.request(chain.Payment{Address: bursar.Address{Base: deposit.Base}, Amount: d.times(d.unit, 2)})
	topUp.Kind = chain.KindGasTopUp
	made := []forgotten{d.made(topUp)}
	if tokens {
		contract := d.contract(node)
		h.Node.Pay(t, toHot(contract, bursar.Units(700)))
		h.Node.Pay(t, chain.Payment{Address: bursar.Address{Base: deposit.Base}, Contract: contract,
			Amount: bursar.Units(300)})
		d.settle()
		made = append(made,
			d.made(d.request(chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(400)})))
		made = append(made, d.made(d.sweepOrder(deposit, toHot(contract, bursar.Units(300)))))
	}
	made = append(made, d.made(d.sweepOrder(deposit, toHot("", d.balance(deposit.Base)))))
	for _, one := range made {
		d.wantExternal(start, one.base, one.unsigned, one.tx, one.in)
	}
}

func (d *harness) sweepOrder(payer chain.Source, payment chain.Payment) chain.TxRequest {
	d.t.Helper()
	return d.from(payer, chain.TxRequest{
		Kind: chain.KindSweep, Payments: []chain.Payment{payment}, MaxFee: d.times(d.quote(payment), 20),
	})
}

// forgotten is an outgoing transaction that the reading database does not know.
type forgotten struct {
	base     string
	unsigned chain.UnsignedTx
	tx       chain.SignedTx
	in       chain.Inclusion
}

func (d *harness) made(request chain.TxRequest) forgotten {
	d.t.Helper()
	unsigned, tx := d.send(request)
	in, _ := d.wantIncluded(d.settle(), tx.TxID)
	return forgotten{request.From.Base, unsigned, tx, in}
}
