package xrpl

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestTransactionsInBinary checks that a transaction is shown in its binary form before and after its ledger closed,
// under the name that each version of the API has for it.
func TestTransactionsInBinary(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	blob := newOwner(t, n, 100_000_000).payment(n, n.NewAddress(), nil)
	if result := submitted(t, n, blob); result != "tesSUCCESS" {
		t.Fatal(result)
	}
	id, wanted := half("TXN\x00", blob).String(), strings.ToUpper(hex.EncodeToString(blob))
	for _, validated := range []bool{false, true} {
		for version, name := range map[int]string{1: "tx", 2: "tx_blob"} {
			answer, refused := call(t, n, "tx", object{"transaction": id, "binary": true, "api_version": version})
			if refused != nil || answer[name] != wanted || answer["hash"] != id || answer["validated"] != validated ||
				answer["tx_json"] != nil {
				t.Errorf("version %d, validated %v: %v %v, want %s as %s", version, validated, answer, refused, wanted, name)
			}
		}
		if err := n.Mine(1); err != nil {
			t.Fatal(err)
		}
	}
	n.mu.Lock()
	closing := closed(n.ledgers[n.txs[half("TXN\x00", blob)].ledger-1])
	n.mu.Unlock()
	answer, _ := call(t, n, "tx", object{"transaction": id, "binary": true, "api_version": 2})
	if answer["close_time_iso"] != closing.Format("2006-01-02T15:04:05Z") || answer["ledger_hash"] == nil ||
		answer["meta_blob"] == nil {
		t.Errorf("validated, in version 2: %v", answer)
	}
}
