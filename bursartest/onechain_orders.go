package bursartest

import (
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// Wallet makes a wallet of COIN for an account.
func (r *OneChain) Wallet(account int) bursar.Wallet { return r.WalletOf(account, "COIN") }

// WalletOf makes a wallet of a currency for an account.
func (r *OneChain) WalletOf(account int, currency bursar.CurrencyCode) bursar.Wallet {
	r.T.Helper()
	w, err := r.Wallets.Create(ctx, wallet.New{Account: r.Accounts[account], Currency: currency,
		Webhook: "https://receiver.example/hook"})
	r.Must(err)
	return w
}

// Charge makes a charge for an account with an amount in units.
func (r *OneChain) Charge(account int, units uint64) bursar.Wallet {
	r.T.Helper()
	w, err := r.Wallets.Create(ctx, wallet.New{Account: r.Accounts[account], Currency: "COIN",
		Webhook:       "https://receiver.example/hook",
		ChargeMinimum: bursar.Units(units), ChargeLife: bursar.DefaultChargeLife})
	r.Must(err)
	return w
}

// Pay pays units of COIN from outside and returns the transaction's ID.
func (r *OneChain) Pay(to bursar.Address, units uint64) string {
	return r.Chain.Pay(chain.Payment{Address: to, Amount: bursar.Units(units)})
}

// Withdraw requests a withdrawal of units of COIN to an address.
func (r *OneChain) Withdraw(account int, units uint64, to string) (bursar.Withdrawal, error) {
	return r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[account], Currency: "COIN",
		Amount: r.Currency.Exact(bursar.Units(units)), Address: to})
}

// Prepare gives account 0 a balance and the hot wallet operator funds, and returns the account's balance.
func (r *OneChain) Prepare() bursar.Amount {
	r.T.Helper()
	r.Step()
	r.Pay(r.Wallet(0).Address, 1_000_000_000)
	r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
	r.Chain.Mine(3)
	r.Step()
	return r.Available(0)
}

// Order requests a withdrawal of account 0 that must be accepted.
func (r *OneChain) Order(units uint64, to string) bursar.Withdrawal {
	r.T.Helper()
	w, err := r.Withdraw(0, units, to)
	r.Must(err)
	return w
}

// Now returns a withdrawal as it is now.
func (r *OneChain) Now(w bursar.Withdrawal) bursar.Withdrawal {
	r.T.Helper()
	w, err := r.Withdrawals.Get(ctx, w.AccountID, w.ID)
	r.Must(err)
	return w
}

// Ends checks how a withdrawal ended: what its receiver holds, its status, what the customer has left, and the books.
func (r *OneChain) Ends(w bursar.Withdrawal, to string, status bursar.WithdrawalStatus, before bursar.Amount) {
	r.T.Helper()
	held, left := bursar.Amount{}, before
	if status == bursar.WithdrawalConfirmed {
		held = w.Amount
		left = before.SubOrZero(w.Amount).SubOrZero(w.Fee)
	}
	if now := r.Now(w); now.Status != status {
		r.T.Errorf("the withdrawal is %s, want %s", now.Status, status)
	}
	if got := r.Chain.Balance(to, ""); got != held {
		r.T.Errorf("the receiver holds %s, want %s", got, held)
	}
	if got := r.Available(0); got != left {
		r.T.Errorf("the customer has %s, want %s", got, left)
	}
	if err := r.Audit(); err != nil {
		r.T.Error(err)
	}
}

// Fund gives the first account and the operator enough money for many transactions at once.
func (r *OneChain) Fund() {
	r.T.Helper()
	r.Step()
	for range 3 {
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
	}
	r.Chain.Mine(3)
	r.Step()
}

// FutureAddress returns the address of a wallet that is not made yet.
func (r *OneChain) FutureAddress(index uint32) bursar.Address {
	r.T.Helper()
	pub, err := r.Keys.Public(chain.KeyRef{Family: r.Chain.Capabilities().Family, Branch: chain.DepositBranch,
		Index: index})
	r.Must(err)
	address, err := r.Chain.Address(pub, 0)
	r.Must(err)
	return address
}

// IsCode reports whether an error is a refusal with a code.
func IsCode(err error, code bursar.ErrorCode) bool {
	var e *bursar.Error
	return errors.As(err, &e) && e.Code == code
}

// Fit returns an amount in units, which must fit.
func Fit(a bursar.Amount) uint64 {
	n, _ := a.Uint64()
	return n
}
