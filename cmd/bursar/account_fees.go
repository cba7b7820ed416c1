package main

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/store"
)

type accountFeesCommand struct {
	ID         bursar.ID           `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	Currency   bursar.CurrencyCode `placeholder:"CODE" help:"Set or clear the fees of this currency. Default: of every currency without fees of its own."`
	Deposit    *string             `placeholder:"FEE" help:"Fee on deposits: an amount, a percentage, or both: \"0.5% + 0.10\"; 0 for none."`
	Withdrawal *string             `placeholder:"FEE" help:"Fee on withdrawals: as for deposits, and \"network\" for the chain's fee: \"network + 0.1%\"."`
	Clear      bool                `help:"Clear the fees that were set for the currency, or all if none is named, so that the configuration applies again."`
	JSON       bool                `name:"json" help:"Print a JSON array."`
}

// Help returns examples.
func (accountFeesCommand) Help() string {
	return "Changes an account's fees if flags are given, then shows them. A fee of the account replaces the " +
		"configuration's, for later credits and withdrawals. A percentage is rounded up to the smallest unit, and a " +
		"deposit's fee never exceeds the deposit. An amount needs --currency, because its value differs by " +
		"currency.\n\nExample:\n\n" +
		"    bursar account fees 0193a6a0-0000-7000-8000-000000000000\n" +
		"    bursar account fees 0193a6a0-0000-7000-8000-000000000000 --currency USDT --deposit \"0.5% + 0.10\" " +
		"--withdrawal 1\n" +
		"    bursar account fees 0193a6a0-0000-7000-8000-000000000000 --clear"
}

// Origins of a fee.
const (
	fromConfiguration = "configuration"
	fromCurrency      = "account-currency" // set for the account and this currency
	fromAccount       = "account"          // set for the account and every currency
)

type listedFees struct {
	Currency        bursar.CurrencyCode `json:"currency"`
	DepositFee      string              `json:"depositFee"`
	DepositFrom     string              `json:"depositFrom"`
	DepositSince    *time.Time          `json:"depositSince"` // null if the configuration's applies
	WithdrawalFee   string              `json:"withdrawalFee"`
	WithdrawalFrom  string              `json:"withdrawalFrom"`
	WithdrawalSince *time.Time          `json:"withdrawalSince"`
}

// Run changes fees if flags are given, and lists them.
func (cmd *accountFeesCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	set, err := cmd.rules(cfg)
	if err != nil {
		return err
	}
	var rules bursar.FeeRules
	err = db.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Accounts().Lock(ctx, cmd.ID); err != nil {
			return err
		}
		if err := cmd.change(ctx, tx, set); err != nil {
			return err
		}
		rules, err = tx.FeeRules().Of(ctx, cmd.ID)
		return err
	})
	if err != nil {
		return unknownAccount(err, cmd.ID)
	}
	var listed []listedFees
	for _, currency := range cfg.Registry.All() {
		if cmd.Currency == "" || cmd.Currency == currency.Code {
			listed = append(listed, cmd.listed(currency, rules))
		}
	}
	return list(c, cmd.JSON, listed, "CURRENCY DEPOSIT FROM WITHDRAWAL FROM", func(f listedFees) []any {
		return []any{f.Currency, f.DepositFee, f.DepositFrom, f.WithdrawalFee, f.WithdrawalFrom}
	})
}

// rules parses the fees of the command line.
func (cmd *accountFeesCommand) rules(cfg config.Config) (set bursar.FeeRules, err error) {
	if cmd.Clear && (cmd.Deposit != nil || cmd.Withdrawal != nil) {
		return nil, wrong("--clear cannot be combined with --deposit and --withdrawal: run one after the other")
	}
	var currency bursar.Currency
	if cmd.Currency != "" {
		if currency, err = cfg.Registry.Get(cmd.Currency); err != nil {
			return nil, mistaken(err)
		}
	}
	for _, flag := range []struct {
		name string
		text *string
		kind bursar.FeeKind
	}{{"--deposit", cmd.Deposit, bursar.FeeOfDeposit}, {"--withdrawal", cmd.Withdrawal, bursar.FeeOfWithdrawal}} {
		if flag.text == nil {
			continue
		}
		fee, err := readFee(*flag.text, flag.kind, currency)
		if err != nil {
			return nil, wrong("%s: %w", flag.name, err)
		}
		set = append(set, bursar.FeeRule{AccountID: cmd.ID, Currency: cmd.Currency, Kind: flag.kind, Fee: fee})
	}
	return set, nil
}

// readFee parses a fee of a currency, or of every currency for the zero Currency.
func readFee(text string, kind bursar.FeeKind, currency bursar.Currency) (bursar.Fee, error) {
	decimals := currency.Decimals
	if currency.Code == "" {
		decimals = 30 // so that any amount is parsed, and refused with the right error
	}
	fee, err := bursar.ParseFee(text, decimals)
	switch {
	case err != nil:
		return fee, err
	case fee.Network && kind == bursar.FeeOfDeposit:
		return fee, errors.New("a deposit has no network fee")
	case fee.Network && currency.IsToken():
		return fee, errors.New("the network fee of a token is paid in the chain's native asset by the operator")
	case currency.Code == "" && !fee.Fixed.IsZero():
		return fee, errors.New("an amount needs --currency")
	}
	return fee, nil
}

func (cmd *accountFeesCommand) change(ctx context.Context, tx *store.Tx, set bursar.FeeRules) error {
	if cmd.Clear {
		_, err := tx.FeeRules().Clear(ctx, cmd.ID, cmd.Currency)
		return err
	}
	for _, rule := range set {
		if err := tx.FeeRules().Set(ctx, rule); err != nil {
			return err
		}
	}
	return nil
}

func (cmd *accountFeesCommand) listed(c bursar.Currency, rules bursar.FeeRules) listedFees {
	priced := rules.For(cmd.ID, c)
	l := listedFees{Currency: c.Code, DepositFee: priced.DepositFee.Text(c), WithdrawalFee: priced.WithdrawalFee.Text(c)}
	l.DepositFrom, l.DepositSince = cmd.origin(rules, c.Code, bursar.FeeOfDeposit)
	l.WithdrawalFrom, l.WithdrawalSince = cmd.origin(rules, c.Code, bursar.FeeOfWithdrawal)
	return l
}

func (cmd *accountFeesCommand) origin(
	rules bursar.FeeRules, code bursar.CurrencyCode, kind bursar.FeeKind,
) (from string, since *time.Time) {
	rule, found := rules.Find(cmd.ID, code, kind)
	switch {
	case !found:
		return fromConfiguration, nil
	case rule.Currency == "":
		return fromAccount, &rule.SetAt
	}
	return fromCurrency, &rule.SetAt
}
