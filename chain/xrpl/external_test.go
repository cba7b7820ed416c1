package xrpl

import (
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func paid(to string, tag *uint32, drops uint64) chain.Payment {
	p := chain.Payment{Address: bursar.Address{Base: to}, Amount: bursar.Units(drops)}
	if tag != nil {
		p.Address.Memo, p.Address.HasMemo = *tag, true
	}
	return p
}

// renumbered returns an AccountRoot of ours whose next sequence rose.
func renumbered(before, after uint64, from, to int) object {
	node := root(ours, before, after)
	entry := node["ModifiedNode"].(object)
	entry["FinalFields"].(object)["Sequence"] = to
	entry["PreviousFields"].(object)["Sequence"] = from
	return node
}

type externalCase struct {
	tx   object
	want []chain.ExternalSpend
}

// externalCases follow rippled: an AccountRoot's Sequence rises in every transaction of the account except one with a
// ticket (Transactor::consumeSeqProxy), also in one that fails with a tec code.
func externalCases() map[string]externalCase {
	us := func(more object) object {
		fields := object{"Account": ours, "Destination": third, "Sequence": 8}
		for key, value := range more {
			fields[key] = value
		}
		return fields
	}
	spend := func(resources []string, fee uint64, payments ...chain.Payment) []chain.ExternalSpend {
		return []chain.ExternalSpend{{TxID: fakeHash("tx", 1, 0), Base: ours, Reservations: resources, Payments: payments,
			Fee: bursar.Units(fee)}}
	}
	failed := spend([]string{ours + "/8"}, 12)
	failed[0].Failed = true
	tag, eighth := uint32(4), []string{ours + "/8"}
	expiring := spend(eighth, 12, paid(third, nil, 5_000_000))
	expiring[0].LastHeight = 105_000_123
	received := root(third, 1_000_000, 6_000_000)
	return map[string]externalCase{
		"a payment": {pay(us(nil), "5000000", renumbered(20_000_000, 14_999_988, 8, 9), received),
			spend(eighth, 12, paid(third, nil, 5_000_000))},
		"a payment with tag": {pay(us(object{"DestinationTag": 4}), "5000000", renumbered(20_000_000, 14_999_988, 8, 9),
			received), spend(eighth, 12, paid(third, &tag, 5_000_000))},
		"a first payment": {pay(us(nil), "5000000", renumbered(20_000_000, 14_999_988, 8, 9), root(third, 0, 5_000_000)),
			spend(eighth, 12, paid(third, nil, 5_000_000))},
		"a payment with a last ledger": {pay(us(object{"LastLedgerSequence": 105_000_123}), "5000000",
			renumbered(20_000_000, 14_999_988, 8, 9), received), expiring},
		"a last ledger that is over": {pay(us(object{"LastLedgerSequence": 1}), "5000000",
			renumbered(20_000_000, 14_999_988, 8, 9), received), spend(eighth, 12, paid(third, nil, 5_000_000))},
		"a last ledger that is no number": {pay(us(object{"LastLedgerSequence": "105000123"}), "5000000",
			renumbered(20_000_000, 14_999_988, 8, 9), received), spend(eighth, 12, paid(third, nil, 5_000_000))},
		"an issued currency": {pay(us(nil), usd(), renumbered(20_000_000, 19_999_988, 8, 9)), spend(eighth, 12)},
		"a failed payment": {with(pay(us(nil), nil, renumbered(20_000_000, 19_999_988, 8, 9)),
			object{"TransactionResult": "tecPATH_DRY"}), failed},
		"a payment by ticket": {pay(us(object{"Sequence": 0, "TicketSequence": 3}), "5000000",
			root(ours, 20_000_000, 14_999_988), received), spend([]string{ours + "/3"}, 12, paid(third, nil, 5_000_000))},
		"three tickets": {of("TicketCreate", us(object{"TicketCount": 3}), renumbered(20_000_000, 19_999_988, 8, 12)),
			spend([]string{ours + "/8", ours + "/9", ours + "/10", ours + "/11"}, 12)},
		"a new regular key": {of("SetRegularKey", us(nil), renumbered(20_000_000, 19_999_988, 8, 9)), spend(eighth, 12)},
		"other settings":    {of("AccountSet", us(nil), renumbered(20_000_000, 19_999_988, 8, 9)), spend(eighth, 12)},
		"an escrow": {of("EscrowCreate", us(object{"Amount": "5000000"}), renumbered(20_000_000, 14_999_988, 8, 9),
			object{"CreatedNode": object{
				"LedgerEntryType": "Escrow", "NewFields": object{"Account": ours, "Destination": third,
					"Amount": "5000000"}}}), spend(eighth, 12)},
		"our account is deleted": {of("AccountDelete", us(object{"Fee": "200000"}), object{"DeletedNode": object{
			"LedgerEntryType": "AccountRoot", "FinalFields": object{"Account": ours, "Balance": "0", "Sequence": 9},
			"PreviousFields": object{"Balance": "5200000",
				"Sequence": 8}}}, received), spend(eighth, 200_000, paid(third, nil, 5_000_000))},
		"a check of ours is cashed": {of("CheckCash", object{"Account": third}, root(ours, 20_000_000, 15_000_000),
			root(third, 1_000_000, 5_999_988)), spend(nil, 0, paid(third, nil, 5_000_000))},
		"an offer of ours is taken": {of("OfferCreate", object{"Account": outsider}, root(ours, 20_000_000, 18_000_000),
			root(outsider, 1_000_000, 2_999_988)), spend(nil, 0, paid(outsider, nil, 2_000_000))},
		"we pay the fee of another": {pay(object{"Account": outsider, "Destination": third, "Delegate": ours},
			"7000000",
			root(ours, 20_000_000, 19_999_988), root(third, 1_000_000, 8_000_000)), spend(nil, 12)},
		"another pays the fee of ours": {pay(us(object{"Delegate": outsider}), "5000000",
			renumbered(20_000_000, 15_000_000, 8, 9), received), spend(eighth, 0, paid(third, nil, 5_000_000))},
	}
}

// An external spend is reported with everything that it moved and used up, so that a database that lost its own
// transactions recognizes them, whatever the transaction's type.
func TestExternalSpendsShowTheirContents(t *testing.T) {
	t.Parallel()
	for name, test := range externalCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.tx)
			blocks, err := f.after(t)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(blocks[0].ExternalSpends, test.want) {
				t.Fatalf("got  %+v\nwant %+v", blocks[0].ExternalSpends, test.want)
			}
		})
	}
}
