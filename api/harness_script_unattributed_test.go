package api_test

import (
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// stray makes a transfer that belongs to no wallet, and books it as final.
func (c *script) stray(code, hash, amount string, height uint64) {
	c.Helper()
	c.do(func(tx *store.Tx) error {
		currency, err := c.registry.Get(bursar.CurrencyCode(code))
		if err != nil {
			return err
		}
		value, err := bursar.ParseDecimal(amount, currency.Decimals)
		if err != nil {
			return err
		}
		d := bursar.Deposit{ID: c.ids.Next(), Purpose: bursar.ForUnattributed, Currency: currency.Code, Chain: currency.Chain,
			TxID:    hash,
			Address: bursar.Address{Base: "astray"}, Contract: currency.Contract, Amount: value, Height: height, BlockHash: "b",
			SeenAt: tx.Now()}
		c.names[hash] = d.ID.String()
		if _, _, err := tx.Deposits().Record(c.Context(), store.NewDeposit{Deposit: d}); err != nil {
			return err
		}
		d.Status = bursar.DepositPending
		if err := tx.Deposits().SetStatus(c.Context(), d, bursar.DepositConfirmed); err != nil {
			return err
		}
		return tx.Ledger().Post(c.Context(), ledger.TransferReceived(d, ledger.Owner(d), tx.Now()))
	})
}

// assign makes the operator credit that value to a wallet, or to an account.
func (c *script) assign(hash, kind, whose string) {
	c.Helper()
	chains := map[bursar.ChainID]unattributed.ChainContext{}
	log := slog.New(slog.DiscardHandler)
	for id, chain := range c.chains {
		chains[id] = unattributed.ChainContext{Chain: chain,
			Creditor: &deposit.Handler{DB: c.db, Capabilities: chain.Capabilities(),
				Announcer: deposit.Announcer{Registry: c.registry, IDs: c.ids, Log: log}}}
	}
	operator := unattributed.Service{DB: c.db, Chains: chains, Registry: c.registry, IDs: c.ids, Log: log}
	var err error
	if kind == "account" {
		_, err = operator.AssignToAccount(c.Context(), c.id(hash), c.id(whose), "")
	} else {
		var wallet bursar.ID
		if wallet, err = bursar.ParseID(whose); err == nil {
			_, err = operator.AssignToWallet(c.Context(), c.id(hash), wallet, "")
		}
	}
	if err != nil {
		c.fatalf("%v", err)
	}
}
