package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

type outgoingCommands struct {
	Show    outgoingShowCommand    `cmd:"" help:"Show one outgoing transaction."`
	Resolve outgoingResolveCommand `cmd:"" help:"Resolve a sent outgoing transaction whose history the nodes have pruned."`
	Abandon outgoingAbandonCommand `cmd:"" help:"Abandon a sent transaction and make its payments again."`
}

type outgoingShowCommand struct {
	ID bursar.ID `arg:"" placeholder:"ID" help:"ID of the outgoing transaction, as alarms and logs name it."`
	acting
}

// Help returns an example.
func (outgoingShowCommand) Help() string {
	return "Example:\n\n    bursar outgoing show 0193a6a0-0000-7000-8000-000000000000"
}

// shownOutgoing is an outgoing transaction as the command prints it.
type shownOutgoing struct {
	ID           bursar.ID             `json:"id"`
	Chain        bursar.ChainID        `json:"chain"`
	Kind         string                `json:"kind"`
	Status       bursar.OutgoingStatus `json:"status"`
	Currency     bursar.CurrencyCode   `json:"currency"`
	From         string                `json:"from"`
	Payments     []chain.Payment       `json:"payments"`
	Transactions []string              `json:"transactions"`
	Height       uint64                `json:"height,omitempty"`
	Lost         []string              `json:"lostUTXOs,omitempty"`
	Withdrawals  []bursar.ID           `json:"withdrawals,omitempty"`
	Error        string                `json:"error,omitempty"`
}

// Run prints an outgoing transaction.
func (cmd *outgoingShowCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var shown shownOutgoing
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		shown, err = showOutgoing(ctx, tx, cmd.ID)
		return err
	})
	if err != nil {
		return named(err, "there is no outgoing transaction %s", cmd.ID)
	}
	return c.PrintJSON(shown)
}

func showOutgoing(ctx context.Context, tx *store.Tx, id bursar.ID) (shown shownOutgoing, err error) {
	p, err := tx.Outgoing().Get(ctx, id)
	if err != nil {
		return shown, err
	}
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return shown, fmt.Errorf("read the transaction request: %w", err)
	}
	shown = shownOutgoing{
		ID:           p.ID,
		Chain:        p.Chain,
		Kind:         p.Kind,
		Status:       p.Status,
		Currency:     p.Currency,
		From:         p.Base,
		Payments:     request.Payments,
		Transactions: []string{},
		Height:       p.Height,
		Error:        p.Error,
	}
	versions, err := tx.Outgoing().Versions(ctx, id)
	if err != nil {
		return shown, err
	}
	for _, v := range versions {
		shown.Transactions = append(shown.Transactions, v.TxID)
	}
	state, err := tx.Chains().State(ctx, p.Chain)
	if err != nil {
		return shown, err
	}
	if shown.Lost, err = tx.Reservations().Lost(ctx, id, state.Final); err != nil {
		return shown, err
	}
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, id)
	for _, w := range withdrawals {
		shown.Withdrawals = append(shown.Withdrawals, w.ID)
	}
	return shown, err
}

type outgoingResolveCommand struct {
	ID        bursar.ID `arg:"" placeholder:"ID" help:"ID of the outgoing transaction."`
	RPC       string    `placeholder:"URL" help:"Ask this node, which keeps the whole history, instead of the configured ones."`
	Paid      string    `xor:"word" placeholder:"HASH" help:"If no node has the history: declare that this transaction of it was included."`
	NeverPaid bool      `xor:"word" help:"If no node has the history: declare that none of its transactions was included or can still be."`
	Reason    string    `placeholder:"TEXT" help:"How you know, for the record."`
	actor
	final
}

// Help returns an example.
func (outgoingResolveCommand) Help() string {
	return "Asks the nodes first and uses what one of them proves. Only if none keeps the history is your statement " +
		"used. --dry-run says which outcome it would " +
		"have. If you declare that it was never paid, its withdrawals are paid again: look up each of its transactions in " +
		"two explorers first.\n\nExample:\n\n    bursar outgoing resolve 0193a6a0-0000-7000-8000-000000000000 --rpc " +
		"https://archive.example\n    bursar outgoing resolve 0193a6a0-0000-7000-8000-000000000000 --never-paid --reason " +
		"'absent in two explorers; its last ledger is past'"
}

// Run resolves an outgoing transaction.
func (cmd *outgoingResolveCommand) Run(ctx context.Context, c *call) error {
	if (cmd.Paid != "" || cmd.NeverPaid) && cmd.Reason == "" {
		return wrong("--reason is empty: say how you know")
	}
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	s, err := c.serviceOf(ctx, cmd.through(cfg))
	if err != nil {
		return err
	}
	defer s.Close()
	what, err := s.ResolveOutgoing(ctx, cmd.ID, outgoing.Resolution{
		Paid:      cmd.Paid,
		NeverPaid: cmd.NeverPaid,
		Reason:    cmd.Reason,
		Actor:     cmd.Name(),
	})
	if c.rehearses && errors.Is(err, errRehearsed) {
		return foreseen{what}
	}
	if err != nil {
		return named(err, "there is no outgoing transaction %s", cmd.ID)
	}
	return c.Done(actFacts{"outgoingID": cmd.ID, "outcome": what}, "outgoing transaction %s: %s", cmd.ID, what)
}

// through returns the configuration with every chain asking only the given node. Only the transaction's own chain is
// asked.
func (cmd *outgoingResolveCommand) through(cfg config.Config) config.Config {
	if cmd.RPC == "" {
		return cfg
	}
	chains := map[bursar.ChainID]config.ChainConfig{}
	for id, one := range cfg.Chains {
		one.RPC, one.Solid = []config.Secret{config.NewSecret(cmd.RPC)}, nil
		chains[id] = one
	}
	cfg.Chains = chains
	return cfg
}
