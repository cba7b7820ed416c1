package evm

import (
	"encoding/json"
	"os"
	"testing"
)

// TestAnswersOfBor reads bor's own test data for the answers of its API: a state-sync transaction of the old form with
// its receipt, and a receipt with a log, whose bloom must equal the computed one.
func TestAnswersOfBor(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/bor.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		StateSyncTx      json.RawMessage `json:"stateSyncTx"`
		StateSyncReceipt json.RawMessage `json:"stateSyncReceipt"`
		ReceiptWithLogs  json.RawMessage `json:"receiptWithLogs"`
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	var tx transaction
	if err := decode(recorded.StateSyncTx, &tx); err != nil {
		t.Fatal(err)
	}
	c := &Chain{Rules: rulesOf(t, 137, fakeToken)}
	c.cfg.StateSync = true
	b := &block{Txs: []transaction{{}, tx}}
	if old, is := c.cutStateSync(b); !is || old.Hash != tx.Hash || len(b.Txs) != 1 {
		t.Errorf("the old form is not recognized: %+v", tx)
	}
	b = &block{Txs: []transaction{tx}}
	b.Txs[0].Kind = stateSyncType
	if _, is := c.cutStateSync(b); is {
		t.Error("a canonical one is cut off")
	}
	l := &receiptList{rules: c.Rules}
	if err := l.ReadResult(reading([]byte("[" + string(recorded.StateSyncReceipt) + "," +
		string(recorded.ReceiptWithLogs) + "]"))); err != nil {
		t.Fatal(err)
	}
	if err := l.list[0].check(tx.BlockHash, tx.Hash, 1); err != nil || !l.list[0].succeeded() || l.list[0].GasUsed != 0 {
		t.Errorf("the bridge's receipt %+v: %v", l.list[0], err)
	}
	if r := l.list[1]; r.check(r.BlockHash, r.logs.tx, 0) != nil || r.GasUsed != 0x5e28 || !r.spoke || len(r.named) != 1 {
		t.Errorf("the receipt with a log %+v", r)
	}
	var receipt struct {
		Bloom bloom `json:"logsBloom"`
	}
	if err := decode(recorded.ReceiptWithLogs, &receipt); err != nil || receipt.Bloom != l.bloom {
		t.Errorf("the bloom %x, bor has %x (%v)", l.bloom, receipt.Bloom, err)
	}
}
