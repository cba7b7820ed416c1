package deposit_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// books checks the balance of COIN of one of the operator's accounts.
func books(f *followtest.Harness, account ledger.Account, units uint64) {
	f.T.Helper()
	if got := f.Balance(account); got != bursar.Units(units) {
		f.T.Errorf("the balance of %s is %s, want %d", account, got, units)
	}
}

// stranded pays the wallet's address in a way that belongs to no wallet, and returns the deposit once it is final.
func stranded(f *followtest.Harness, units uint64) bursar.Deposit {
	f.T.Helper()
	f.Sim.Send(sim.Outside{Payments: []chain.Payment{{Address: f.Wallet.Address, Amount: bursar.Units(units)}},
		Inferred: true})
	height := f.Sim.Mine(1).Height
	f.Sim.Mine(2)
	f.CatchUp()
	list := inBlock(f, height)
	if len(list) != 1 || list[0].Purpose != bursar.ForUnattributed || list[0].Status != bursar.DepositConfirmed {
		f.T.Fatalf("the block brought %+v", list)
	}
	return list[0]
}

// resolver returns the service that resolves unattributed deposits.
func resolver(f *followtest.Harness) *unattributed.Service {
	return &unattributed.Service{DB: f.DB, Registry: f.Registry, IDs: f.Deposits.IDs, Log: f.Log,
		Chains: map[bursar.ChainID]unattributed.ChainContext{bursar.Ethereum: {Chain: f.Sim, Creditor: f.Deposits,
			Hot: f.Hot}}}
}

// leaves reorgs a transaction out, and returns comes, which brings it back until it is final.
func leaves(f *followtest.Harness, txID string) (comes func()) {
	f.T.Helper()
	ref, err := f.Sim.Find(ctx, txID)
	f.Must(err)
	_, latest := f.Sim.Heights()
	f.Sim.Reorg(int(latest-ref.Height)+1, txID)
	f.CatchUp()
	return func() {
		f.T.Helper()
		f.Sim.Restore(txID)
		f.Sim.Mine(3)
		f.CatchUp()
	}
}

// Dust is a row and a posting. A reorg reverses the posting, and the deposit may come back.
func TestDustThatIsReorgedOutAndComesBack(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		id := f.Pay(999)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[below_minimum:1], 0 events")
		for range 2 {
			books(f, ledger.BelowMinimum, 999)
			comes := leaves(f, id)
			if d := f.DepositOf(id); d.Status != bursar.DepositOrphaned {
				t.Errorf("it is %s, want %v", d.Status, bursar.DepositOrphaned)
			}
			books(f, ledger.BelowMinimum, 0)
			comes()
			if d := f.DepositOf(id); d.Status != bursar.DepositBelowMinimum {
				t.Errorf("it is %s, want %v", d.Status, bursar.DepositBelowMinimum)
			}
		}
		books(f, ledger.BelowMinimum, 999)
		f.WantNoAlarm()
	})
}

// Operator funds are booked whatever their amount, without a minimum and without a fee, and cause no event.
func TestTheOperatorsOwnMoneyPaysNoFee(t *testing.T) {
	s := followtest.Setting{Native: bursar.Currency{DepositFee: bursar.Fee{Millionths: 10_000}}}
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		f.SetHot(f.Sim.Named("hot"))
		id := f.Sim.Pay(chain.Payment{Address: bursar.Address{Base: f.Hot}, Amount: bursar.Units(999)})
		f.Sim.Mine(3)
		f.CatchUp()
		for range 2 {
			books(f, ledger.Capital, 999)
			books(f, ledger.BelowMinimum, 0)
			books(f, ledger.DepositFees, 0)
			comes := leaves(f, id)
			books(f, ledger.Capital, 0)
			comes()
		}
		books(f, ledger.Capital, 999)
		f.WantNoAlarm()
		f.Want("block 11, 0 credited, map[], 0 events")
	})
}

// The alarm about an unattributed deposit is open for as long as the deposit is on the chain.
func TestAReorgedOutDepositNeedsNoResolution(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		pending := f.Sim.Send(sim.Outside{Payments: []chain.Payment{{Address: f.Wallet.Address,
			Amount: bursar.Units(10)}}, Inferred: true})
		f.Sim.Mine(1)
		f.CatchUp()
		f.WantAlarm("unattributed", "0.00000010 COIN")
		f.Sim.Reorg(1, pending)
		f.CatchUp()
		f.WantNoAlarm()

		d := stranded(f, 80_000)
		for range 2 {
			books(f, ledger.Unattributed, 80_000)
			f.WantAlarm("unattributed", d.ID.String())
			comes := leaves(f, d.TxID)
			f.WantNoAlarm()
			books(f, ledger.Unattributed, 0)
			if d := f.Deposit(d.ID); d.Status != bursar.DepositReversed {
				t.Errorf("it is %s, want %v", d.Status, bursar.DepositReversed)
			}
			comes()
		}
	})
}

// A resolution outlives a reorganisation: value that was kept is operator funds when it comes back, and no operator is
// asked again.
func TestAResolutionOutlivesAReorganisation(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		d := stranded(f, 80_000)
		_, err := resolver(f).Keep(ctx, d.ID, "")
		f.Must(err)
		books(f, ledger.Capital, 80_000)
		comes := leaves(f, d.TxID)
		books(f, ledger.Capital, 0)
		comes()
		books(f, ledger.Capital, 80_000)
		f.WantNoAlarm()
	})
}

// Value that is refunded, or is about to be, is reorged out: that is a loss, with an alarm until it comes back.
func TestARefundedDepositThatIsReorgedOutIsALoss(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		d := stranded(f, 80_000)
		_, err := resolver(f).Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: f.Sim.Named("sender"),
			FromOperatorFunds: true})
		f.Must(err)
		f.WantNoAlarm()
		comes := leaves(f, d.TxID)
		f.WantAlarm("refund_uncovered", "0.00080000 COIN was reorged out after it was refunded")
		books(f, ledger.Losses, 80_000)
		books(f, ledger.Refunding, 80_000)
		comes()
		f.WantNoAlarm()
		books(f, ledger.Losses, 0)
		books(f, ledger.Refunding, 80_000)
	})
}

// Value that is kept is not refunded: when it is reorged out, nothing is lost that was paid.
func TestAKeptDepositThatIsReorgedOutIsNoLoss(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		d := stranded(f, 80_000)
		_, err := resolver(f).Keep(ctx, d.ID, "")
		f.Must(err)
		leaves(f, d.TxID)
		f.WantNoAlarm()
		books(f, ledger.Losses, 0)
	})
}

// An operator may credit less than the minimum. The customer keeps it through a reorganisation: it is credited again.
func TestADepositAssignedBelowTheMinimumIsCreditedAgain(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		d := stranded(f, 500)
		_, err := resolver(f).AssignToWallet(ctx, d.ID, f.Wallet.ID, "")
		f.Must(err)
		f.Want("block 3, 500 credited, map[confirmed:1], 1 events")
		comes := leaves(f, d.TxID)
		f.Want("block 4, 0 credited, map[reversed:1], 2 events")
		comes()
		f.Want("block 7, 500 credited, map[confirmed:1], 3 events")
	})
}

// notified returns the webhooks of an account, oldest first: the URL of each, and its deposit.
func notified(f *followtest.Harness) (list []counts) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
		deliveries, err := tx.Deliveries().List(ctx, f.Account, store.Page{Limit: 100})
		for _, d := range deliveries {
			var body struct{ Response struct{ Webhook counts } }
			if err := json.Unmarshal(d.Body, &body); err != nil {
				return err
			}
			body.Response.Webhook.URL = d.URL
			list = append([]counts{body.Response.Webhook}, list...)
		}
		return err
	}))
	return list
}

type counts struct {
	URL, Type, Event string
	Deposit          struct {
		DepositID, Status, Amount, Fee, Metadata string
		WalletID                                 *string
		ConfirmedAt                              *time.Time
	}
	Charge struct{ AmountUSDT string }
}

// The event about value that is assigned to an account without a wallet goes to the account's own webhook, with the
// deposit as confirmed at the assignment.
func TestADepositOfAnAccountIsSentToTheAccountsWebhook(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			_, err := tx.Accounts().SetNotifications(ctx, bursar.Account{ID: f.Account,
				Webhook: "https://own.example/"})
			return err
		}))
		d := stranded(f, 80_000)
		later := f.DB.Now().Add(time.Hour).UTC().Truncate(time.Second)
		s := resolver(f)
		s.DB = f.DB.As(clocktest.At(later).Now, store.Hooks{})
		_, err := s.AssignToAccount(ctx, d.ID, f.Account, "")
		f.Must(err)
		list := notified(f)
		if len(list) != 1 || list[0].URL != "https://own.example/" || list[0].Type != "account" ||
			list[0].Event != "deposit" ||
			list[0].Deposit.WalletID != nil || list[0].Deposit.ConfirmedAt == nil ||
			!list[0].Deposit.ConfirmedAt.Equal(later) {
			t.Errorf("the events are %+v", list)
		}
		if got := f.Deposit(d.ID); !got.ConfirmedAt.Equal(later) {
			t.Errorf("it is confirmed at %s and not at %s", got.ConfirmedAt, later)
		}
	})
}

// A transfer of zero is no deposit, whatever a chain reports about it.
func TestATransferOfNothingIsNoDeposit(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Chain = misreport{Chain: f.Sim, all: func(b *chain.Block) {
			for i := range b.Transfers {
				b.Transfers[i].Amount = bursar.Amount{}
			}
		}}
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[], 0 events")
	})
}
