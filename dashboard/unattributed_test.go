package dashboard_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/dashboard"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The page shows what waits for a decision, with the command to type once it can be typed.
func TestThePageSaysHowToResolve(t *testing.T) {
	ctx := context.Background()
	db := storetest.Open(t, storetest.Reused(t))
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	page := func() string {
		answer := httptest.NewRecorder()
		dashboard.Handler(dashboard.Config{DB: db, Registry: registry, Hot: func(bursar.ChainID) string {
			return ""
		}}).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
		if answer.Code != 200 || !strings.HasSuffix(strings.TrimSpace(answer.Body.String()), "</html>") {
			t.Fatalf("the page is %d\n%s", answer.Code, answer.Body)
		}
		return answer.Body.String()
	}
	if strings.Contains(page(), "Unattributed deposits") {
		t.Error("the page has an empty section")
	}
	d := bursar.Deposit{ID: bursar.ID{8}, Purpose: bursar.ForUnattributed, Currency: "XRP", Chain: bursar.XRPL,
		TxID: "AB01", Address: bursar.Address{Base: "r<b>"},
		Amount: bursar.Units(25_500_000), Height: 7, BlockHash: "b", SeenAt: db.Now()}
	change := func(f func(tx *store.Tx) error) {
		t.Helper()
		if err := db.Do(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	change(func(tx *store.Tx) error {
		_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d})
		return err
	})
	if got := page(); !strings.Contains(got, "25.50") || !strings.Contains(got, "AB01") ||
		!strings.Contains(got, "not final yet") || strings.Contains(got, "bursar unattributed") ||
		strings.Contains(got, "r<b>") {
		t.Errorf("before it is final the page is\n%s", got)
	}
	d.Status = bursar.DepositPending
	change(func(tx *store.Tx) error { return tx.Deposits().SetStatus(ctx, d, bursar.DepositConfirmed) })
	for _, command := range []string{"assign " + d.ID.String() + " --wallet", "refund " + d.ID.String() + " --to",
		"keep " + d.ID.String()} {
		if !strings.Contains(page(), "bursar unattributed "+command) {
			t.Errorf("the page does not say %s", command)
		}
	}
}
