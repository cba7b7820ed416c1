package deposit_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store/storetest"
)

// A deposit that was changed in the database does not match its block: it is not credited, and the others are.
func TestAnAlteredDepositIsNotCredited(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		read := logging(f)
		id := f.Pay(5000)
		f.Pay(7000)
		f.Sim.Mine(2)
		f.CatchUp()
		driver, source := "pgx", storetest.AsOwner(storetest.URL(f.DB))
		if file, is := strings.CutPrefix(source, "sqlite:"); is {
			driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
		}
		raw, err := sql.Open(driver, source)
		f.Must(err)
		defer raw.Close()
		_, err = raw.ExecContext(ctx, `UPDATE deposits SET amount = '500000000' WHERE tx_id = '`+id+`'`)
		f.Must(err)
		f.Sim.Mine(1)
		f.CatchUp()
		f.Want("block 3, 7000 credited, map[confirmed:1 pending:1], 1 events")
		if d := f.DepositOf(id); d.Status != bursar.DepositPending {
			t.Errorf("it is %s, want %v", d.Status, bursar.DepositPending)
		}
		if got := messages(read(), "ERROR"); len(got) == 0 ||
			got[0] != "deposits not credited: their rows were altered" {
			t.Errorf("errors are %q, want some and %q", got, "deposits not credited: their rows were altered")
		}
	})
}
