package xrpl

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

// recordedTx is a recorded transaction of a public network, and what it brought to an account.
type recordedTx struct {
	Source string
	Want   struct {
		Base  string
		Drops *string // nil: no XRP
		Tag   *uint32
	}
	Transaction object
}

func recordedTxs(t *testing.T) []recordedTx {
	t.Helper()
	raw, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Recorded []recordedTx }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Recorded
}

// Recorded answers of public networks' nodes for every way in which XRP is delivered, or is not. Each transaction is
// alone in a ledger: only its position differs from the recording.
func TestRecordedTransactions(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, r := range recordedTxs(t) {
		kinds[r.Transaction["TransactionType"].(string)] = true
		t.Run(r.Source[strings.LastIndex(r.Source, "/")+1:], func(t *testing.T) {
			t.Parallel()
			r.Transaction["metaData"].(object)["TransactionIndex"] = 0
			f := newFake(t)
			f.add(r.Transaction)
			blocks, err := f.open(t).After(t.Context(), f.ref(0), 5, chaintest.NewWatch(r.Want.Base))
			if err != nil || len(blocks) != 1 {
				t.Fatalf("read %+v (%v), want 1 of them", blocks, err)
			}
			var want []chain.Transfer
			if r.Want.Drops != nil {
				amount, err := bursar.ParseUnits(*r.Want.Drops)
				if err != nil {
					t.Fatal(err)
				}
				address := bursar.Address{Base: r.Want.Base}
				if r.Want.Tag != nil {
					address.Memo, address.HasMemo = *r.Want.Tag, true
				}
				want = []chain.Transfer{{TxID: r.Transaction["hash"].(string), Address: address, Amount: amount}}
			}
			if got := blocks[0].Transfers; len(got) != len(want) || len(want) == 1 && got[0] != want[0] {
				t.Errorf("the transfers are %+v, want %+v", got, want)
			}
		})
	}
	for _, kind := range []string{"Payment", "CheckCash", "EscrowFinish", "AccountDelete", "PaymentChannelClaim",
		"Batch"} {
		if !kinds[kind] {
			t.Errorf("no %s is recorded", kind)
		}
	}
}

// The last ledger that may include a transaction is the one that the recorded transaction names, and there is none
// where it names none: rippled's Transactor::checkPriorTxAndLastLedger refuses it in every ledger after that, and only
// there.
func TestRecordedTransactionsNameTheirLastLedger(t *testing.T) {
	t.Parallel()
	named, unlimited := 0, 0
	for _, r := range recordedTxs(t) {
		r.Transaction["metaData"].(object)["TransactionIndex"] = 0
		f := newFake(t)
		f.add(r.Transaction)
		payer := r.Transaction["Account"].(string)
		blocks, err := f.open(t).After(t.Context(), f.ref(0), 5, chaintest.NewWatch(payer))
		if err != nil || len(blocks) != 1 {
			t.Fatalf("read %+v (%v), want 1 of them", blocks, err)
		}
		want, is := r.Transaction["LastLedgerSequence"].(float64)
		if named++; !is {
			named, unlimited = named-1, unlimited+1
		}
		for _, x := range blocks[0].ExternalSpends {
			if x.LastHeight != uint64(want) {
				t.Errorf("%s: the last ledger is %d, want %d", r.Source, x.LastHeight, uint64(want))
			}
		}
		if len(blocks[0].ExternalSpends) == 0 {
			t.Errorf("%s: no transaction from %s is found", r.Source, payer)
		}
	}
	if named == 0 || unlimited == 0 {
		t.Errorf("%d recorded transactions name a last ledger and %d name none, want some of each", named, unlimited)
	}
}

// A payment inside a Batch is in the ledger as a transaction of its own (XLS-56): its fee is 0, it is not signed, and
// its metadata names the Batch.
func TestInnerTransactionsOfABatchAreCredited(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(
		object{"TransactionType": "Batch", "Account": outsider, "Fee": "40",
			"RawTransactions": []any{object{"RawTransaction": object{"TransactionType": "Payment"}}}},
		with(pay(object{"Fee": "0", "SigningPubKey": "", "Flags": 0x4000_0000, "DestinationTag": 7}, "7000000",
			root(ours, 20_000_000, 27_000_000)),
			object{"ParentBatchID": fakeHash("tx", 1, 0)}),
	)
	blocks, err := f.after(t)
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 1 {
		t.Fatalf("read %+v (%v), want 1 of them", blocks, err)
	}
	if got := blocks[0].Transfers[0]; got.TxID != fakeHash("tx", 1, 1) || got.Amount != bursar.Units(7_000_000) ||
		got.Address.Memo != 7 {
		t.Errorf("the transfers are %+v", got)
	}
}
