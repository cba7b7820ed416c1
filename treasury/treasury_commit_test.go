package treasury_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/treasury"
)

// A withdrawal whose commit was not answered is recorded: that it has used the funds refuses it no more.
func TestAWithdrawalWhoseCommitIsNotAnsweredIsTakenOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var armed, ordered atomic.Bool
		p := newFixture(t, db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
			if at == store.Running && strings.HasPrefix(what, "INSERT INTO withdrawals") && armed.Swap(false) {
				ordered.Store(true)
			}
			if at == store.Committed && ordered.Swap(false) {
				return errors.New("the connection broke")
			}
			return nil
		}}))
		armed.Store(true)
		w, err := p.take("1.5", "cold")
		if err != nil || armed.Load() || ordered.Load() {
			t.Fatalf("the request gives %v, want the withdrawal that is recorded", err)
		}
		list, err := p.orders.List(ctx, treasury.Account, store.Page{Limit: 10})
		if p.Must(err); len(list) != 1 || list[0].ID != w.ID || list[0].Amount != bursar.Units(150_000_000) {
			t.Errorf("recorded are %+v, want the one of 1.5", list)
		}
	})
}
