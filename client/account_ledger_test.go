package client_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar/client"
)

// The last page of the ledger has the sums of the lines that are archived.
func TestTheLedgerHasWhatIsArchived(t *testing.T) {
	t.Parallel()
	c, closeServer := pretend(200, `{"success":true,"response":{"ledger":[{"kind":"deposit","currency":"BTC"}],"archived":[
		{"currency":"BTC","available":"-0.10000000","held":"0.20000000","before":"2026-01-02T00:00:00Z"}]}}`)
	defer closeServer()
	page, err := c.LedgerPage(t.Context(), client.LedgerFilter{Currency: "BTC"}, client.Page{})
	if err != nil {
		t.Fatal(err)
	}
	want := client.ArchivedSums{Currency: "BTC", Available: "-0.10000000", Held: "0.20000000",
		Before: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	if len(page.Items) != 1 || len(page.Archived) != 1 || page.Archived[0] != want {
		t.Errorf("got %+v, want a line and %+v", page, want)
	}
}
