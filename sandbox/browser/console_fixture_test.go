package browser

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// consoleFixture is a running service over a simulated chain, whose console nobody has opened yet.
type consoleFixture struct {
	*testing.T
	bursartest.Database
	service *service.Service
	people  *operator.Service
	url     string
	payout  bursar.Withdrawal // waits for approval
}

func newConsoleFixture(t *testing.T) *consoleFixture {
	t.Helper()
	db := storetest.OpenAt(t, storetest.SQLite(t), clocktest.Running(started).Now)
	o := &consoleFixture{T: t, Database: bursartest.Over(t, db)}
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	o.Must(err)
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8,
		Minimum: bursar.Units(1), WithdrawalMinimum: bursar.Units(500), ApprovalAbove: bursar.Units(1000)}})
	o.Must(err)
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2})
	o.service, err = service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Holder: "a",
		AdminListen: "127.0.0.1:0", Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
	o.Must(err)
	o.Must(o.service.Listen())
	o.url = strings.Replace(o.service.Address("admin"), "127.0.0.1", "localhost", 1)
	o.people, err = o.service.People()
	o.Must(err)
	shop := bursar.ID{0: 9}
	o.AddAccount(bursar.Account{ID: shop, Name: "Shop"})
	o.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(t.Context(), bursar.Bitcoin) })
	o.Credit(shop, "COIN", 1_000_000_000)
	o.payout, err = o.service.Withdrawals.Request(t.Context(), withdrawal.Request{Account: shop, Currency: "COIN",
		Amount: "1", Address: node.Named("buyer")})
	o.Must(err)
	o.runs()
	return o
}

// runs runs the service until the test ends.
func (o *consoleFixture) runs() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- o.service.Run(ctx) }()
	o.T.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			o.T.Errorf("the service ended with %v, want no error", err)
		}
	})
}

// invite makes a person, and returns the link.
func (o *consoleFixture) invite(name string, roles ...operator.Role) string {
	o.T.Helper()
	by := operator.Act{Person: operator.Person{Name: "root@host"}}
	invited, err := o.people.Invite(o.T.Context(), by, name, roles, nil)
	o.Must(err)
	return invited.Link
}

// status returns that of the withdrawal.
func (o *consoleFixture) status() (status bursar.WithdrawalStatus) {
	o.T.Helper()
	o.View(func(tx *store.Tx) error {
		w, err := tx.Withdrawals().Get(context.Background(), o.payout.AccountID, o.payout.ID)
		status = w.Status
		return err
	})
	return status
}
