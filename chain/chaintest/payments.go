package chaintest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testPaymentAppearsOnce(t *testing.T, h Harness) {
	d := newHarness(t, h)
	start := d.cursor
	payment := chain.Payment{Address: d.deposit(0), Amount: d.plus(d.unit, bursar.Units(7))}
	txID := h.Node.Pay(t, payment)[0]
	if waiting := transfers(d.read(), ""); len(waiting) != 0 {
		t.Fatalf("a payment that is in no block gives the transfers %+v", waiting)
	}
	h.Node.Mine(t, 1)
	blocks := d.read()
	transfer := d.wantTransfer(blocks, txID, payment)
	if all := transfers(blocks, ""); len(all) != 1 {
		t.Fatalf("one payment gives the transfers %+v, want 1", all)
	}
	if final := d.head().Final; final.Height >= transfer.in.Height && d.capabilities.Confirmations > 1 {
		t.Fatalf("a payment in %v is final at once, with the final block %v", transfer.in, final)
	}
	h.Node.Finalize(t)
	if final := d.head().Final; final.Height < transfer.in.Height {
		t.Fatalf("a payment in %v is not final, with the final block %v", transfer.in, final)
	}
	if again := d.wantTransfer(d.follow(start, 3, d.watch), txID, payment); again != transfer {
		t.Fatalf("read again, the transfer is %+v, want %+v", again, transfer)
	}
}

func testSeveralPaymentsInOneTransaction(t *testing.T, h Harness) {
	d := newHarness(t, h)
	ours, other := d.deposit(0), d.deposit(1)
	payments := []chain.Payment{
		{Address: ours, Amount: d.unit},
		{Address: d.outsider(), Amount: d.times(d.unit, 2)},
		{Address: other, Amount: d.times(d.unit, 3)},
		{Address: ours, Amount: d.times(d.unit, 4)},
	}
	txIDs := h.Node.Pay(t, payments...)
	h.Node.Mine(t, 1)
	found := transfers(d.read(), "")
	if len(found) != 3 {
		t.Fatalf("three payments to us give the transfers %+v, want 3", found)
	}
	type identity struct {
		txID   string
		output uint32
	}
	seen := map[identity]bool{}
	for i, payment := range payments {
		if payment.Address != ours && payment.Address != other {
			continue
		}
		for _, transfer := range found {
			if transfer.TxID == txIDs[i] && transfer.Amount == payment.Amount {
				d.wantPayment(transfer, payment)
				seen[identity{transfer.TxID, transfer.Output}] = true
			}
		}
	}
	if len(seen) != 3 {
		t.Fatalf("%d of three payments have an identity of their own, want 3: %+v", len(seen), found)
	}
}

func testAddressMadeInSyncIsSeen(t *testing.T, h Harness) {
	d := newHarness(t, h)
	address := d.unwatched(0)
	payment := chain.Payment{Address: address, Amount: d.unit}
	txID := h.Node.Pay(t, payment)[0]
	h.Node.Mine(t, 1)
	watch := NewWatch()
	watch.OnSync(func(int) { watch.Add(address.Base) })
	d.wantTransfer(d.follow(d.cursor, 10, watch), txID, payment)
	if watch.Syncs() == 0 || watch.Blind() != 0 {
		t.Fatalf("Sync was called %d times, want at least once; %d questions came before it, want 0",
			watch.Syncs(), watch.Blind())
	}
}

// testSyncFollowsTheBlock creates an address and mines its payment while the adapter is inside Sync. The address
// becomes visible with the next Sync only, so an adapter that fetches a block after the Sync that it relies on misses
// the payment.
func testSyncFollowsTheBlock(t *testing.T, h Harness) {
	d := newHarness(t, h)
	address := d.unwatched(5)
	payment := chain.Payment{Address: address, Amount: d.unit}
	h.Node.Pay(t, chain.Payment{Address: d.outsider(), Amount: d.unit}) // an empty block gives no reason to ask
	h.Node.Mine(t, 2)
	var txID string
	watch := NewWatch()
	watch.OnSync(func(nth int) {
		if nth == 1 {
			txID = h.Node.Pay(t, payment)[0]
			h.Node.Mine(t, 1)
			return
		}
		watch.Add(address.Base)
	})
	blocks := d.follow(d.cursor, 10, watch)
	if txID == "" {
		t.Fatal("Sync was never called, want at least once")
	}
	d.wantTransfer(blocks, txID, payment)
}

func testFailedPaymentDeliversNothing(t *testing.T, h Harness) {
	node := h.Node.(Failing)
	d := newHarness(t, h)
	payment := chain.Payment{Address: d.deposit(0), Amount: d.unit}
	txID := node.PayFailed(t, payment)
	h.Node.Mine(t, 1)
	if found := transfers(d.read(), ""); len(found) != 0 {
		t.Fatalf("a failed payment gives the transfers %+v, want none", found)
	}
	_, err := h.Chain.Find(t.Context(), txID)
	d.check(err, "find the failed transaction")
	d.wantAmount("balance", d.balance(payment.Address.Base), bursar.Amount{})
}
