package xrpl

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func tagged(n uint32) *uint32 { return &n }

// pay returns a payment to us whose Amount is much higher than anything delivered.
func pay(more object, delivered any, nodes ...any) object {
	meta := object{"AffectedNodes": nodes}
	if delivered != nil {
		meta["delivered_amount"] = delivered
	}
	tx := object{"TransactionType": "Payment", "Destination": ours, "Amount": "5000000000", "DeliverMax": "5000000000",
		"metaData": meta}
	for key, value := range more {
		tx[key] = value
	}
	return tx
}

// with adds members to a transaction's metadata.
func with(tx object, meta object) object {
	for key, value := range meta {
		tx["metaData"].(object)[key] = value
	}
	return tx
}

func usd() object {
	return object{"currency": "USD", "issuer": outsider, "value": "1000000"}
}

// promised returns a check, escrow or channel to us.
func promised(kind, event string, fields object) object {
	final := object{"Account": outsider, "Destination": ours}
	for key, value := range fields {
		final[key] = value
	}
	return object{event: object{"LedgerEntryType": kind, "FinalFields": final}}
}

func of(kind string, fields object, nodes ...any) object {
	tx := object{"TransactionType": kind, "metaData": object{"AffectedNodes": nodes}}
	for key, value := range fields {
		tx[key] = value
	}
	return tx
}

// Each line is a rule of the ledger: the transfer is the delivered amount, and nothing else.
func TestTransfersAreDeliveredAmounts(t *testing.T) {
	t.Parallel()
	up, same := root(ours, 20_000_000, 27_000_000), root(ours, 20_000_000, 20_000_000)
	tests := map[string]struct {
		tx   object
		want []chain.Transfer
	}{
		"a payment without a tag": {pay(nil, "7000000", up), []chain.Transfer{transfer(1, nil, 7_000_000)}},
		"tag 0 is a tag": {pay(object{"DestinationTag": 0}, "7000000", up),
			[]chain.Transfer{transfer(1, tagged(0), 7_000_000)}},
		"the highest tag": {pay(object{"DestinationTag": 4294967295}, "7000000", up),
			[]chain.Transfer{transfer(1, tagged(1<<32-1), 7_000_000)}},
		"the first payment to an account": {pay(nil, "27000000", root(ours, 0, 27_000_000)),
			[]chain.Transfer{transfer(1, nil, 27_000_000)}},
		"a partial payment": {pay(object{"Flags": 131072, "DestinationTag": 5}, "7000000", up),
			[]chain.Transfer{transfer(1, tagged(5), 7_000_000)}},
		"an issued currency":       {pay(nil, usd(), same), nil},
		"an issued currency alone": {pay(nil, usd()), nil},
		"a multi-purpose token": {pay(nil, object{"mpt_issuance_id": "00AA", "value": "9000000"}, root(outsider, 9, 8)),
			nil},
		"a tec result":        {with(pay(nil, "7000000", up), object{"TransactionResult": "tecPATH_PARTIAL"}), nil},
		"a payment to others": {pay(object{"Destination": third}, "7000000", root(third, 1_000_000, 8_000_000)), nil},
		"a deleted account": {of("AccountDelete", object{"Destination": ours, "DestinationTag": 3}, up,
			object{"DeletedNode": object{
				"LedgerEntryType": "AccountRoot", "FinalFields": object{"Account": outsider, "Balance": "0"},
				"PreviousFields": object{"Balance": "7200000"}}}),
			[]chain.Transfer{transfer(1, tagged(3), 7_000_000)}},
		"a finished escrow": {of("EscrowFinish", object{"Account": third, "Owner": outsider},
			promised("Escrow", "DeletedNode", object{"DestinationTag": 8, "Amount": "7000000"}), up),
			[]chain.Transfer{transfer(1, tagged(8), 7_000_000)}},
		"an escrow without a tag": {of("EscrowFinish", nil, promised("Escrow", "DeletedNode", nil), up),
			[]chain.Transfer{transfer(1, nil, 7_000_000)}},
		"an escrow that is only made": {of("EscrowCreate", object{"Destination": ours, "Amount": "7000000"},
			object{"CreatedNode": object{
				"LedgerEntryType": "Escrow", "NewFields": object{"Destination": ours, "Amount": "7000000"}}}), nil},
		"a channel's claim": {of("PaymentChannelClaim", nil,
			promised("PayChannel", "ModifiedNode", object{"DestinationTag": 0}), up),
			[]chain.Transfer{transfer(1, tagged(0), 7_000_000)}},
		"a closed channel": {of("PaymentChannelClaim", nil, promised("PayChannel", "DeletedNode", nil), up),
			[]chain.Transfer{transfer(1, nil, 7_000_000)}},
		"a failed escrow": {with(of("EscrowFinish", nil, up), object{"TransactionResult": "tecNO_PERMISSION"}),
			nil},
		"an unknown future type": {of("LoanPay", object{"Destination": object{"x": 1}, "Delegate": 7}, up),
			[]chain.Transfer{transfer(1, nil, 7_000_000)}},
		"a pseudo transaction": {of("SetFee", object{"Account": "rrrrrrrrrrrrrrrrrrrrrhoLvTp", "Fee": "0"},
			object{"ModifiedNode": object{"LedgerEntryType": "FeeSettings"}}), nil},
		"a trust line of ours": {of("TrustSet", nil,
			object{"CreatedNode": object{"LedgerEntryType": "RippleState",
				"NewFields": object{"Balance": usd(), "Account": ours}}}), nil},
		"an account threaded only": {pay(nil, usd(), object{"ModifiedNode": object{"LedgerEntryType": "AccountRoot"}}),
			nil},
		"a false Amount": {pay(object{"Amount": usd(), "SendMax": "9"}, "7000000", up),
			[]chain.Transfer{transfer(1, nil, 7_000_000)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.tx)
			blocks, err := f.after(t)
			if err != nil {
				t.Fatal(err)
			}
			if len(blocks) != 1 || !reflect.DeepEqual(blocks[0].Transfers, test.want) {
				t.Fatalf("transfers %+v\nwant %+v", blocks, test.want)
			}
			if len(blocks[0].Included)+len(blocks[0].ExternalSpends) != 0 {
				t.Errorf("an outsider's transaction counts as ours: %+v %+v, want none", blocks[0].Included,
					blocks[0].ExternalSpends)
			}
		})
	}
}

// The receiver cashes a check, so our key signs the transaction: it is reported, and the fee does not reduce the
// transfer.
func TestCashedCheck(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(of("CheckCash", object{"Account": ours}, promised("Check", "DeletedNode", object{"DestinationTag": 4}),
		root(ours, 20_000_000, 26_999_988)))
	blocks, err := f.after(t)
	if err != nil {
		t.Fatal(err)
	}
	want := []chain.Transfer{transfer(1, tagged(4), 7_000_000)}
	external := []chain.ExternalSpend{{TxID: fakeHash("tx", 1, 0), Base: ours, Reservations: []string{ours + "/1"},
		Fee: bursar.Units(12)}}
	if !reflect.DeepEqual(blocks[0].Transfers, want) || !reflect.DeepEqual(blocks[0].ExternalSpends, external) {
		t.Fatalf("%+v, want %+v and %+v", blocks[0], want, external)
	}
}

func TestOwnAndExternalTransactions(t *testing.T) {
	t.Parallel()
	out := func() object {
		return pay(object{"Account": ours, "Destination": third}, "5000000", root(ours, 20_000_000, 14_999_988),
			root(third, 0, 5_000_000))
	}
	f := newFake(t)
	f.add(out(), with(out(), object{"TransactionResult": "tecNO_PERMISSION"}), out())
	mine := []string{fakeHash("tx", 1, 0), fakeHash("tx", 1, 1)}
	blocks, err := f.after(t, mine...)
	if err != nil {
		t.Fatal(err)
	}
	fee := bursar.Units(12)
	included := []chain.Inclusion{{TxID: mine[0], Fee: fee}, {TxID: mine[1], Failed: true, Fee: fee}}
	external := []chain.ExternalSpend{{
		TxID: fakeHash("tx", 1, 2), Base: ours, Reservations: []string{ours + "/1"},
		Payments: []chain.Payment{paid(third, nil, 5_000_000)}, Fee: fee,
	}}
	b := blocks[0]
	if !reflect.DeepEqual(b.Included, included) || !reflect.DeepEqual(b.ExternalSpends, external) || b.Transfers != nil {
		t.Fatalf("%+v, want %+v and %+v", b, included, external)
	}
	if b.Ref != f.ref(1) || b.Parent != f.ref(0).Hash || b.Time.Unix() != 800_000_004+rippleEpoch {
		t.Errorf("the block is %+v", b)
	}
}

// A node that contradicts itself or omits something gets a cool-down; nothing of its ledger is believed.
func TestUnsoundLedgersAreErrors(t *testing.T) {
	t.Parallel()
	good := func() object { return pay(nil, "7000000", root(ours, 20_000_000, 27_000_000)) }
	tests := map[string]struct {
		spoil func(f *fake, l object)
		want  string
	}{
		"more delivered than gained": {func(f *fake, l object) {
			tx(l)["metaData"].(object)["delivered_amount"] = "7000001"
		}, errDelivered.Error()},
		"an object that moved XRP": {func(f *fake, l object) {
			tx(l)["metaData"].(object)["delivered_amount"] = usd()
		}, errDelivered.Error()},
		"delivered, yet no change": {func(f *fake, l object) {
			tx(l)["metaData"].(object)["AffectedNodes"] = []any{}
		}, errDelivered.Error()},
		"unavailable": {func(f *fake, l object) {
			tx(l)["metaData"].(object)["delivered_amount"] = "unavailable"
		}, errNoDelivered.Error()},
		"no delivered_amount": {func(f *fake, l object) {
			delete(tx(l)["metaData"].(object), "delivered_amount")
		}, errNoDelivered.Error()},
		"a balance that is not a number": {func(f *fake, l object) {
			final(l)["Balance"] = "much"
		}, errDrops.Error()},
		"a balance of another type": {func(f *fake, l object) {
			final(l)["Balance"] = usd()
		}, errDrops.Error()},
		"no balance":      {func(f *fake, l object) { delete(final(l), "Balance") }, errPartial.Error()},
		"no metadata":     {func(f *fake, l object) { delete(tx(l), "metaData") }, errPartial.Error()},
		"no transactions": {func(f *fake, l object) { l["transactions"] = []any{} }, errPartial.Error()},
		"transactions that the header does not have": {func(f *fake, l object) {
			l["transaction_hash"] = hash{}.String()
			reseal(l)
		}, errPartial.Error()},
		"a gap in the list": {func(f *fake, l object) {
			tx(l)["metaData"].(object)["TransactionIndex"] = 1
		}, errPartial.Error()},
		"another height": {func(f *fake, l object) { l["ledger_index"] = "102"; reseal(l) },
			errOtherLedger.Error()},
		"a wrong hash":               {func(f *fake, l object) { l["close_time"] = 1 }, errHeader.Error()},
		"a fee that is not a number": {func(f *fake, l object) { tx(l)["Fee"] = "1e3" }, errDrops.Error()},
		"only hashes": {func(f *fake, l object) {
			l["transactions"] = []any{fakeHash("tx")}
		}, "unmarshal JSON string into Go xrpl.transaction"},
		"an overload": {func(f *fake, l object) {
			f.script["ledger"] = func(object) object { return object{"error": "slowDown"} }
		}, "slowDown"},
		"no network": {func(f *fake, l object) {
			f.script["server_info"] = func(object) object { return object{"error": "noNetwork"} }
		}, "noNetwork"},
		"no status": {func(f *fake, l object) {
			f.script["ledger"] = func(object) object { return object{"status": ""} }
		}, errAnswer.Error()},
		"a gap after the last ledger": {func(f *fake, l object) { f.add(); f.complete = "90-100,102-110" },
			errGap.Error()},
		"nothing at all": {func(f *fake, l object) { f.complete = "empty" }, errGap.Error()},
		"no ranges":      {func(f *fake, l object) { f.complete = "1-x" }, errRanges.Error()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			l := f.add(good())
			test.spoil(f, l)
			blocks, err := f.after(t)
			if !errors.Is(err, rpc.ErrUnavailable) || !containsText(err, test.want) {
				t.Fatalf("read %+v with error %v, want %q", blocks, err, test.want)
			}
		})
	}
}

// final returns the new state of the first entry of the first transaction.
func final(l object) object {
	node := tx(l)["metaData"].(object)["AffectedNodes"].([]any)[0].(object)
	return node["ModifiedNode"].(object)["FinalFields"].(object)
}

func tx(l object) object { return l["transactions"].([]any)[0].(object) }
