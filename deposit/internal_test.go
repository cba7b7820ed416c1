package deposit_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// A transfer by an outgoing transaction to an address of the service is change, a sweep or a gas top-up, and no
// deposit. A withdrawal's payment to a wallet is a deposit, and so is what an external spend brought back, once it is
// booked as gone.
func TestTransfersOfOutgoingTransactions(t *testing.T) {
	const nobodys = chain.Kind("")
	for name, c := range map[string]struct {
		by       chain.Kind
		external store.ExternalStatus
		toHot    bool
		want     bursar.DepositPurpose // "" for none
	}{
		"an external one, to a wallet":       {by: nobodys, want: bursar.ForWallet},
		"an external one, to the hot wallet": {by: nobodys, toHot: true, want: bursar.ForOperatorFunds},
		"a withdrawal to a wallet":           {by: chain.KindWithdrawal, want: bursar.ForWallet},
		"the change of a withdrawal":         {by: chain.KindWithdrawal, toHot: true},
		"a sweep":                            {by: chain.KindSweep, toHot: true},
		"a gas top-up":                       {by: chain.KindGasTopUp},
		"an external spend, unresolved":      {by: chain.KindSweep, external: store.ExternalUnclear, toHot: true},
		"an external spend, booked as gone": {by: chain.KindSweep, external: store.ExternalSettled, toHot: true,
			want: bursar.ForOperatorFunds},
		"one to a wallet, booked as gone": {by: chain.KindSweep, external: store.ExternalSettled,
			want: bursar.ForWallet},
		"one that was adopted, to a wallet": {by: chain.KindWithdrawal, external: store.ExternalAdopted,
			want: bursar.ForWallet},
		"one that was adopted, and a change": {by: chain.KindWithdrawal, external: store.ExternalAdopted, toHot: true},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
				id, to := bursar.ID{15: 9}, f.Wallet.Address
				if c.toHot {
					to = bursar.Address{Base: f.Hot}
				}
				block := &follow.Block{Ours: map[string]bursar.ID{},
					Wallets: map[bursar.Address]bursar.Wallet{f.Wallet.Address: f.Wallet},
					Block: chain.Block{Ref: chain.BlockRef{Height: 1, Hash: "one"},
						Transfers: []chain.Transfer{{TxID: "tx", Address: to, Amount: bursar.Units(5000)}}}}
				f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
					if c.by != nobodys {
						block.Ours["tx"] = id
						if _, err := tx.Outgoing().Insert(ctx, bursar.OutgoingTx{ID: id, Chain: bursar.Ethereum,
							Kind: string(c.by), Currency: "COIN", Base: f.Hot}); err != nil {
							return err
						}
					}
					if c.external != "" {
						x := store.ExternalSpend{Chain: bursar.Ethereum, TxID: "tx", Base: f.Hot, OutgoingID: id,
							Status: c.external, MadeAt: tx.Now()}
						if err := tx.ExternalSpends().Put(ctx, x); err != nil {
							return err
						}
					}
					return f.Deposits.Apply(ctx, tx, block)
				}))
				list := inBlock(f, 1)
				if c.want == "" && len(list) > 0 || c.want != "" && (len(list) != 1 || list[0].Purpose != c.want) {
					t.Errorf("recorded is %+v, want one for %q", list, c.want)
				}
			})
		})
	}
}

// payer is another account.
var payer = bursar.ID{15: 7}

// internalTransfer makes another account, which gets 10,000 units more and pays a fee of 30, pay the wallet by an
// internal transfer.
func internalTransfer(f *followtest.Harness, units uint64) bursar.Deposit {
	f.T.Helper()
	w := bursar.Withdrawal{ID: bursar.ID{15: 8}, AccountID: payer, Currency: "COIN", Amount: bursar.Units(units),
		Fee: bursar.Units(30)}
	w.TxID = bursar.TransferHash(w.ID)
	coin, err := f.Registry.Get("COIN")
	f.Must(err)
	db := bursartest.Over(f.T, f.DB)
	db.AddAccount(bursar.Account{ID: payer, Name: "payer"})
	db.Credit(payer, "COIN", units+10_000)
	f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Ledger().Post(ctx, ledger.WithdrawalHeld(w, tx.Now())); err != nil {
			return err
		}
		_, err := f.Deposits.CreditInternal(ctx, tx, deposit.InternalTransfer{Withdrawal: w, Currency: coin, To: f.Wallet})
		return err
	}))
	return f.DepositOf(w.TxID)
}

// An internal transfer is a confirmed deposit of its receiver, who pays the deposit fee of the account and gets an
// event.
func TestATransferWithinTheServiceIsADeposit(t *testing.T) {
	s := followtest.Setting{Native: bursar.Currency{DepositFee: bursar.Fee{Millionths: 10_000}}}
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		d := internalTransfer(f, 50_000)
		f.Want("block 0, 49500 credited, map[confirmed:1], 1 events")
		books(f, ledger.Available(payer), 10_000-30)
		books(f, ledger.Held(payer), 0)
		books(f, ledger.DepositFees, 500)
		books(f, ledger.WithdrawalFees, 30)
		if d.Purpose != bursar.ForWallet || d.WalletID != f.Wallet.ID || d.Amount != bursar.Units(50_000) ||
			d.Fee != bursar.Units(500) || d.Height != 0 {
			t.Errorf("the deposit is %+v", d)
		}
		if h := notified(f)[0]; h.Type != "wallet" || h.Event != "deposit" || h.URL != f.Wallet.Webhook ||
			h.Deposit.DepositID != d.ID.String() ||
			h.Deposit.Fee != "0.00000500" || h.Deposit.ConfirmedAt == nil {
			t.Errorf("the events are %+v", h)
		}
	})
}
