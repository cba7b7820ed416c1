package xrpl

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/rpc/push/pushtest"
)

// The answers of xrpld (xrpl.org, subscribe, "Ledger Stream").
const (
	xrpldAccepts = `{"id":1,"result":{"fee_base":10,"ledger_hash":"60EBABF55F6AB58864242CADA0B24FBEA027F2426917F39CA56576B335C0065A","ledger_index":8819951,` +
		`"ledger_time":463782770,"load_base":256,"load_factor":256,"reserve_base":10000000,"reserve_inc":2000000},"status":"success","type":"response"}`
	xrpldLedger = `{"type":"ledgerClosed","fee_base":10,"ledger_hash":"687F604EF6B2F67319E8DCC8C66EF49D84D18A1E18F948421FC24D2C7C3DB464","ledger_index":7125358,` +
		`"ledger_time":455751310,"reserve_base":20000000,"reserve_inc":5000000,"txn_count":7,"validated_ledgers":"32570-7125358"}`
	xrpldRefuses = `{"id":1,"status":"error","type":"response","error":"noPermission","error_code":6,"error_message":"You don't have permission for this command.",` +
		`"request":{"command":"subscribe","id":1,"streams":["ledger"]}}`
)

func TestListenReceivesLedgers(t *testing.T) {
	t.Parallel()
	url := pushtest.WebSocket(t, func(asked string) []string {
		if want := `{"id":1,"command":"subscribe","streams":["ledger"]}`; asked != want {
			t.Errorf("the request is %s, want %s", asked, want)
		}
		return []string{xrpldAccepts, xrpldLedger, `{"type":"serverStatus"}`, xrpldLedger}
	})
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := newFake(t).open(t).Listen(ctx, url, func() {
		if n++; n == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%d announcements: %v, want %v", n, err, context.Canceled)
	}
}

func TestListenReportsRefusals(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{xrpldRefuses: "noPermission", "slow down": "read message"} {
		url := pushtest.WebSocket(t, func(string) []string { return []string{answer} })
		if err := newFake(t).open(t).Listen(t.Context(), url, func() {
			t.Error("announced")
		}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
