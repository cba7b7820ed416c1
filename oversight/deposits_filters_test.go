package oversight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Each filter of the list of unattributed deposits leaves out what it does not select.
func TestUnattributedDepositsAreFiltered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := reader(t, db)
		id := bursar.ID{4, 3}.String()
		today := db.Now().Add(-time.Hour).UTC()
		day := today.Format(time.DateOnly)
		for query, want := range map[string]bool{"": true, "show=all": true, "currency=BTC": true, "currency=ETH": false,
			"status=pending": true, "status=confirmed": false, "from=" + day: true, "to=" + day: true,
			"from=" + today.AddDate(0, 0, 1).Format(time.DateOnly): false,
			"to=" + today.AddDate(0, 0, -1).Format(time.DateOnly):  false, "limit=1": true} {
			if got := strings.Contains(h.text("/unattributed", nil, query), id); got != want {
				t.Errorf("unattributed?%s has the deposit: %t, want %t", query, got, want)
			}
		}
	})
}
