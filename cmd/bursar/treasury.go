package main

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

type treasuryCommands struct {
	Show     treasuryShowCommand     `cmd:"" help:"Show the operator's own funds in every currency and how much may be withdrawn."`
	Withdraw treasuryWithdrawCommand `cmd:"" help:"Withdraw operator funds to a listed destination."`
	List     treasuryListCommand     `cmd:"" help:"List the treasury's withdrawals with who requested them and why."`
}

type treasuryShowCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (treasuryShowCommand) Help() string {
	return "FREE may be withdrawn now: operator funds less the fees of pending transactions, limited so that " +
		"customers stay covered.\n\nExample:\n\n    bursar treasury show"
}

type treasuryLine struct {
	Currency       bursar.CurrencyCode `json:"currency"`
	DepositFees    string              `json:"depositFees"`
	WithdrawalFees string              `json:"withdrawalFees"`
	OperatorFunds  string              `json:"operatorFunds"`
	NetworkFees    string              `json:"networkFees"`
	Losses         string              `json:"losses"`
	Drawn          string              `json:"drawn"`
	SetAside       string              `json:"setAside"`
	Free           string              `json:"free"`
	Short          string              `json:"short"`
}

// Run shows the treasury.
func (cmd *treasuryShowCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := (&treasury.Service{DB: db, Registry: cfg.Registry}).Show(ctx)
	if err != nil {
		return err
	}
	lines := make([]treasuryLine, len(found))
	for i, p := range found {
		exact := p.Currency.Exact
		lines[i] = treasuryLine{p.Currency.Code, exact(p.DepositFees), exact(p.WithdrawalFees), exact(p.OperatorFunds),
			exact(p.NetworkFees), exact(p.Losses), exact(p.Drawings),
			exact(p.SetAside), exact(p.Free), exact(p.Short)}
	}
	return list(c, cmd.JSON, lines,
		"CURRENCY DEPOSIT-FEES WITHDRAWAL-FEES OPERATOR-FUNDS NETWORK-FEES LOSSES DRAWN SET-ASIDE FREE SHORT",
		func(l treasuryLine) []any {
			return []any{l.Currency, l.DepositFees, l.WithdrawalFees, l.OperatorFunds, l.NetworkFees, l.Losses, l.Drawn,
				l.SetAside, l.Free, l.Short}
		})
}

type treasuryWithdrawCommand struct {
	Currency bursar.CurrencyCode `arg:"" placeholder:"CODE" help:"Code of the currency."`
	Amount   string              `arg:"" help:"Amount in whole units of the currency."`
	To       string              `required:"" placeholder:"ADDRESS|LABEL" help:"Address or label of a destination on the treasury's list."`
	Reason   string              `required:"" placeholder:"TEXT" help:"Why, for the record."`
	actor
	final
}

// Help returns an example.
func (treasuryWithdrawCommand) Help() string {
	return "The withdrawal passes the same checks as a customer's: the list of destinations with its hold, approval " +
		"above the currency's limit, halts, the signer. List a destination with `bursar destination add --account " +
		treasury.Account.String() +
		"`. See docs/operations/treasury.md.\n\nExample:\n\n    bursar treasury withdraw BTC 0.5 --to cold --reason " +
		"\"fees of October\""
}

// Run requests the withdrawal.
func (cmd *treasuryWithdrawCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := s.Treasury.Withdraw(ctx, treasury.Request{
		Currency: cmd.Currency,
		Amount:   cmd.Amount,
		To:       cmd.To,
		Reason:   cmd.Reason,
		Actor:    cmd.Name(),
	})
	if err != nil {
		return err
	}
	return c.Done(actFacts{"withdrawalID": w.ID, "status": w.Status}, "withdrawal %s is %s", w.ID, w.Status)
}

type treasuryListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (treasuryListCommand) Help() string { return "Example:\n\n    bursar treasury list" }

type treasuryOrder struct {
	At         time.Time           `json:"at"`
	Withdrawal bursar.ID           `json:"withdrawalID"`
	Currency   bursar.CurrencyCode `json:"currency"`
	Amount     string              `json:"amount"`
	Address    string              `json:"address"`
	Status     string              `json:"status"`
	Actor      string              `json:"actor"`
	Reason     string              `json:"reason"`
}

// Run lists the treasury's withdrawals, newest first.
func (cmd *treasuryListCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var found []store.TreasuryOrder
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		found, err = tx.TreasuryOrders().List(ctx, maxListed)
		return err
	})
	if err != nil {
		return err
	}
	orders := make([]treasuryOrder, len(found))
	for i, o := range found {
		amount := o.Amount.String() + " units"
		if currency, err := cfg.Registry.Get(o.Currency); err == nil {
			amount = currency.Exact(o.Amount)
		}
		orders[i] = treasuryOrder{o.At, o.ID, o.Currency, amount, o.Address.String(), string(o.Status), o.Actor, o.Reason}
	}
	return list(c, cmd.JSON, orders, "AT WITHDRAWAL CURRENCY AMOUNT TO STATUS BY REASON", func(o treasuryOrder) []any {
		return []any{o.At, o.Withdrawal, o.Currency, o.Amount, o.Address, o.Status, o.Actor, o.Reason}
	})
}
