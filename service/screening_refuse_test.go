package service

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// A withdrawal that is rejected after screening is given back, but not while a payment that an operator has booked may
// have paid it: then it stays as it is, and an alarm says so.
func TestARejectionGivesNothingBackThatMayHaveBeenPaid(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "BTC", Chain: bursar.Bitcoin, Decimals: 8, Places: 8}})
	if err != nil {
		t.Fatal(err)
	}
	r := bursartest.Over(t, storetest.Open(t, storetest.Reused(t)))
	s, err := New(Parts{DB: r.DB, Keys: keys, Registry: registry, Holder: "a", Listen: "127.0.0.1:0",
		Chains: []ChainPart{{Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"}), MaxFee: bursar.Units(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	r.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(t.Context(), bursar.Bitcoin) })
	account := bursar.ID{1}
	r.AddAccount(bursar.Account{ID: account})
	r.Credit(account, "BTC", 1000)
	payouts := withdrawal.Payouts{Chain: bursar.Bitcoin, Registry: registry, IDs: s.IDs,
		Log: slog.New(slog.DiscardHandler)}
	reject := func(to string) (w bursar.Withdrawal) {
		t.Helper()
		w = bursar.Withdrawal{ID: s.IDs.Next(), AccountID: account, Currency: "BTC", Amount: bursar.Units(100),
			Address: bursar.Address{Base: to}, Status: bursar.WithdrawalQueued, CreatedAt: r.DB.Now()}
		r.Do(func(tx *store.Tx) error {
			err := errors.Join(tx.Ledger().Post(t.Context(), ledger.WithdrawalHeld(w, tx.Now())),
				tx.Withdrawals().Insert(t.Context(), bursar.Bitcoin, w))
			if err == nil {
				err = s.refuseUnpaid(t.Context(), tx, payouts, w, "listed")
			}
			if errors.Is(err, screening.ErrTooLate) {
				err = nil
			}
			return err
		})
		w, err := s.Withdrawals.Get(t.Context(), account, w.ID)
		r.Must(err)
		return w
	}
	if w := reject("x"); w.Status != bursar.WithdrawalRejected {
		t.Errorf("a withdrawal that nothing has paid is %s, want %s", w.Status, bursar.WithdrawalRejected)
	}
	paid, err := json.Marshal([]chain.Payment{{Address: bursar.Address{Base: "y"}, Amount: bursar.Units(100)}})
	r.Must(err)
	r.Do(func(tx *store.Tx) error {
		return tx.ExternalSpends().Put(t.Context(), store.ExternalSpend{Chain: bursar.Bitcoin, TxID: "theirs", Height: 1,
			MadeAt: r.DB.Now(), Payments: paid, Reservations: []byte("[]"), Status: store.ExternalSettled})
	})
	if w := reject("x"); w.Status != bursar.WithdrawalRejected {
		t.Errorf("a withdrawal to another address is %s, want %s", w.Status, bursar.WithdrawalRejected)
	}
	w := reject("y")
	var alarms []store.Alarm
	r.Do(func(tx *store.Tx) (err error) {
		alarms, err = tx.Alarms().OfKind(t.Context(), recovery.AlarmUnclear)
		return err
	})
	if w.Status != bursar.WithdrawalQueued || len(alarms) != 1 || !strings.Contains(alarms[0].Message, w.ID.String()) {
		t.Errorf("a withdrawal that may have been paid is %s, and the alarms are %+v, want %s and one about it", w.Status,
			alarms, bursar.WithdrawalQueued)
	}
}
