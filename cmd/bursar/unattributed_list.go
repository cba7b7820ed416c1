package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

type unattributedListCommand struct {
	All   bool `help:"List resolved and reorged-out deposits too."`
	Limit int  `default:"100" help:"Maximum number of rows, 1 to 10000."`
	JSON  bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (unattributedListCommand) Help() string {
	return "Only a confirmed deposit can be resolved.\n\nExample:\n\n    bursar unattributed list --all --json"
}

// listedUnattributed is a line of the list. Amounts are exact.
type listedUnattributed struct {
	DepositID       bursar.ID            `json:"depositID"`
	Chain           bursar.ChainID       `json:"chain"`
	Currency        bursar.CurrencyCode  `json:"currency"`
	Amount          string               `json:"amount"`
	Address         string               `json:"address"` // address that received it
	HashID          string               `json:"hashID"`
	OutputIndex     uint32               `json:"outputIndex"`
	Status          bursar.DepositStatus `json:"status"`
	Why             string               `json:"why"`
	WalletAtAddress *walletAtAddress     `json:"walletAtAddress"` // has the address, but another currency or memo
	SeenAt          time.Time            `json:"seenAt"`
	ConfirmedAt     *time.Time           `json:"confirmedAt"`
	Resolution      *listedResolution    `json:"resolution"`
}

type walletAtAddress struct {
	WalletID  bursar.ID           `json:"walletID"`
	AccountID bursar.ID           `json:"accountID"`
	Currency  bursar.CurrencyCode `json:"currency"`
}

type listedResolution struct {
	Kind        bursar.ResolutionKind   `json:"kind"`
	Status      bursar.ResolutionStatus `json:"status"`
	AccountID   *bursar.ID              `json:"accountID"`
	WalletID    *bursar.ID              `json:"walletID"`
	To          *string                 `json:"to"` // of a refund to the sender
	Amount      *string                 `json:"amount"`
	Fee         *string                 `json:"fee"`
	HashID      *string                 `json:"hashID"`
	Error       *string                 `json:"error"`
	Note        string                  `json:"note"`
	DecidedAt   time.Time               `json:"decidedAt"`
	CompletedAt *time.Time              `json:"completedAt"`
}

// Run lists unattributed deposits.
func (cmd *unattributedListCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 1 || cmd.Limit > maxListed {
		return wrong("--limit must be between 1 and %d", maxListed)
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	items, err := unattributed.List(ctx, db, families(cfg), cmd.All, store.Page{Limit: cmd.Limit})
	if err != nil {
		return err
	}
	listed := make([]listedUnattributed, len(items))
	for i, item := range items {
		if listed[i], err = listUnattributed(cfg, item); err != nil {
			return err
		}
	}
	return list(c, cmd.JSON, listed, "DEPOSIT SEEN CURRENCY AMOUNT ADDRESS STATUS WHY RESOLUTION NOTE",
		func(l listedUnattributed) []any {
			decision, note := l.Resolution.describe()
			return []any{l.DepositID, l.SeenAt, l.Currency, l.Amount, l.Address, l.Status, l.Why, decision, note}
		})
}

func families(cfg config.Config) map[bursar.ChainID]bursar.Family {
	families := map[bursar.ChainID]bursar.Family{}
	for id, chain := range cfg.Chains {
		families[id] = chain.Family
	}
	return families
}

func listUnattributed(cfg config.Config, item unattributed.Item) (listedUnattributed, error) {
	currency, err := cfg.Registry.Get(item.Currency)
	if err != nil {
		return listedUnattributed{},
			fmt.Errorf("deposit %s is in %s, which is not configured: add it to the configuration again",
				item.ID, item.Currency)
	}
	l := listedUnattributed{
		DepositID:   item.ID,
		Chain:       item.Chain,
		Currency:    item.Currency,
		Amount:      currency.Exact(item.Amount),
		Address:     item.Address.String(),
		HashID:      item.TxID,
		OutputIndex: item.Output,
		Status:      item.Status,
		Why:         item.Why,
		SeenAt:      item.SeenAt,
		ConfirmedAt: optional(item.ConfirmedAt),
	}
	if w := item.Wallet; w != nil {
		l.WalletAtAddress = &walletAtAddress{w.ID, w.AccountID, w.Currency}
	}
	if item.Resolution != nil {
		l.Resolution = listResolution(currency, *item.Resolution)
	}
	return l, nil
}

func listResolution(c bursar.Currency, n bursar.Resolution) *listedResolution {
	l := &listedResolution{
		Kind:        n.Kind,
		Status:      n.Status,
		AccountID:   optional(n.AccountID),
		WalletID:    optional(n.WalletID),
		HashID:      optional(n.TxID),
		Error:       optional(n.Error),
		Note:        n.Note,
		DecidedAt:   n.ResolvedAt,
		CompletedAt: optional(n.CompletedAt),
	}
	if n.Kind == bursar.ResolutionRefund {
		l.To, l.Amount, l.Fee = optional(n.Address.String()), optional(c.Exact(n.Amount)), optional(c.Exact(n.Fee))
	}
	return l
}

// describe returns a resolution as the text of one cell, and its note as that of another.
func (l *listedResolution) describe() (decision, note string) {
	switch {
	case l == nil:
		return "", ""
	case l.WalletID != nil:
		decision = fmt.Sprintf("assigned to wallet %s", l.WalletID)
	case l.AccountID != nil:
		decision = fmt.Sprintf("assigned to account %s", l.AccountID)
	case l.To != nil:
		decision = strings.TrimSpace(fmt.Sprintf("refund of %s to %s, fees %s: %s %s %s", *l.Amount, *l.To, *l.Fee, l.Status,
			word(l.HashID), word(l.Error)))
	default:
		decision = "kept"
	}
	return decision, l.Note
}
