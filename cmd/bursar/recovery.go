package main

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

type recoveryCommands struct {
	Status  recoveryStatusCommand  `cmd:"" help:"Show which chains are recovering, what they wait for, and what is unclear."`
	Adopt   recoveryAdoptCommand   `cmd:"" help:"Explain a payment that is missing from the database."`
	Deny    recoveryDenyCommand    `cmd:"" help:"Say that a payment missing from the database did not pay a withdrawal."`
	Release recoveryReleaseCommand `cmd:"" help:"Resume a chain's payments without waiting any longer."`
	GiveUp  recoveryGiveUpCommand  `cmd:"" help:"Stop waiting for a forgotten transaction that cannot be signed again."`
	UseUp   recoveryUseUpCommand   `cmd:"" help:"Use up many lost nonces of an address."`
	Begin   recoveryBeginCommand   `cmd:"" help:"Declare that the database was restored, or that its marks are lost."`
	Join    recoveryJoinCommand    `cmd:"" help:"Create marks for another replica of a database that is current."`
}

type recoveryStatusCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help returns an example.
func (recoveryStatusCommand) Help() string {
	return "A chain is recovering while the database is older than the chain: after a restore, or a failover that lost " +
		"commits. Nothing is paid on it until then. Recovery ends by itself unless something is unclear.\n\nExample:\n\n  " +
		"  bursar recovery status"
}

type listedRecovery struct {
	Chain    bursar.ChainID `json:"chain"`
	Since    time.Time      `json:"since"`
	Cause    string         `json:"cause"`
	WaitsFor string         `json:"waitsFor"`
}

type listedUnclear struct {
	Item       int64          `json:"item"`
	Chain      bursar.ChainID `json:"chain"`
	TxID       string         `json:"txID"`
	Height     uint64         `json:"height"`
	MadeAt     *time.Time     `json:"madeAt"`
	From       string         `json:"from"`
	Paid       []string       `json:"paid"`
	Why        string         `json:"why"`
	Candidates []bursar.ID    `json:"candidates"` // withdrawals that wait, to the same addresses
}

type listedRecoveries struct {
	Chains []listedRecovery `json:"chains"`
	Items  []listedUnclear  `json:"items"`
}

// Run prints the recoveries.
func (cmd *recoveryStatusCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	chains, items, err := s.Recoveries(ctx)
	if err != nil {
		return err
	}
	listed := listRecoveries(chains, items)
	if cmd.JSON {
		return c.PrintJSON(listed)
	}
	if len(listed.Chains) == 0 && len(listed.Items) == 0 {
		return c.Say("no chain is recovering, and nothing is unclear")
	}
	err = list(c, false, listed.Chains, "CHAIN SINCE WAITS-FOR CAUSE", func(l listedRecovery) []any {
		return []any{l.Chain, l.Since, l.WaitsFor, l.Cause}
	})
	if err != nil || len(listed.Items) == 0 {
		return err
	}
	return list(c, false, listed.Items, "ITEM CHAIN TRANSACTION BLOCK PAID CANDIDATES WHY", func(l listedUnclear) []any {
		var candidates []string
		for _, id := range l.Candidates {
			candidates = append(candidates, id.String())
		}
		return []any{l.Item, l.Chain, l.TxID, l.Height, strings.Join(l.Paid, ", "), strings.Join(candidates, ", "), l.Why}
	})
}

func listRecoveries(chains []service.RecoveringChain, items []service.UnclearExternalSpend) listedRecoveries {
	listed := listedRecoveries{Chains: []listedRecovery{}, Items: []listedUnclear{}}
	for _, r := range chains {
		listed.Chains = append(listed.Chains, listedRecovery{r.Chain, r.BeganAt, r.Cause, r.WaitsFor()})
	}
	for _, x := range items {
		l := listedUnclear{
			Item:       x.Number,
			Chain:      x.Chain,
			TxID:       x.TxID,
			Height:     x.Height,
			MadeAt:     optional(x.MadeAt),
			From:       x.Base,
			Paid:       append([]string{}, x.Paid...),
			Why:        x.Reason,
			Candidates: []bursar.ID{},
		}
		for _, w := range x.Candidates {
			l.Candidates = append(l.Candidates, w.ID)
		}
		listed.Items = append(listed.Items, l)
	}
	return listed
}

type recoveryAdoptCommand struct {
	Item       int64       `arg:"" placeholder:"ITEM" help:"Number of the payment, from bursar recovery status."`
	Withdrawal []bursar.ID `placeholder:"WITHDRAWAL" help:"Withdrawal that it paid; may be repeated for a batch."`
	As         string      `enum:",loss,operator" default:"" help:"Book the rest as a loss, or as a payment of your own from operator funds: loss or operator."`
	Note       string      `help:"Reason, for the record. Required if it was paid to another address than the withdrawal's."`
	Actor      string      `placeholder:"NAME" help:"Name of the operator, for the record."`
	final
}

// Help returns an example.
func (recoveryAdoptCommand) Help() string {
	return "Marks the withdrawals as paid by it; they are confirmed once its block is final. Asset and amount must " +
		"match to the unit. This cannot be undone. To a payment that is explained, withdrawals can be added, with " +
		"their addresses.\n\nExample:\n\n    bursar recovery adopt 3 --withdrawal " +
		"0193a6a0-0000-7000-8000-000000000000\n    bursar recovery adopt 4 --as operator --note \"moved to the cold wallet\""
}

// Run applies the operator's explanation.
func (cmd *recoveryAdoptCommand) Run(ctx context.Context, c *call) error {
	if len(cmd.Withdrawal) == 0 && cmd.As == "" {
		return wrong("no explanation is given: use --withdrawal WITHDRAWAL, or --as loss|operator")
	}
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.Explain(ctx, recovery.Answer{
		Item:        cmd.Item,
		Withdrawals: cmd.Withdrawal,
		Rest:        store.ExternalUse(cmd.As),
		Note:        cmd.Note,
		Actor:       cmd.Actor,
	})
	if err != nil {
		return named(err, "there is no item %d, or no such withdrawal: see `bursar recovery status`", cmd.Item)
	}
	return c.Say("item %d is explained; it is booked once its block is final", cmd.Item)
}

type recoveryGiveUpCommand struct {
	ID     bursar.ID `arg:"" placeholder:"ID" help:"Forgotten transaction, from the alarm about it."`
	Reason string    `required:"" placeholder:"TEXT" help:"Reason, for the record."`
	final
}

// Help says what must be known before a transaction is given up.
func (recoveryGiveUpCommand) Help() string {
	return "Only for a transaction that cannot be signed again because no node has the transaction that made one of its " +
		"UTXOs. Give it up only if that one can never exist again: an explorer shows another final transaction that " +
		"spends the same UTXO as it did. What the transaction should have paid is paid by another one; if it is included " +
		"after all, it is paid twice.\n\nExample:\n\n    bursar recovery give-up " +
		"0193a6a0-0000-7000-8000-000000000000 --reason \"its deposit was spent again by 4a5e1e4b…\""
}

// Run gives the transaction up.
func (cmd *recoveryGiveUpCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.GiveUpForgotten(ctx, cmd.ID, cmd.Reason); err != nil {
		return named(err, "transaction %s does not wait to be signed again", cmd.ID)
	}
	return c.Say("transaction %s is given up: what it should have paid is paid by another one", cmd.ID)
}

type recoveryReleaseCommand struct {
	Chain bursar.ChainID `arg:"" placeholder:"CHAIN" help:"Chain that is recovering."`
	final
}

// Help says what must be known before a release.
func (recoveryReleaseCommand) Help() string {
	return "A recovery waits until nothing that was signed before it can still be included. Release a chain only if " +
		"you know that no payment from its addresses waits in any mempool: otherwise a customer may be paid twice. What " +
		"is unclear must be explained first.\n\nExample:\n\n    bursar recovery release bitcoin"
}

// Run releases the chain.
func (cmd *recoveryReleaseCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Do(ctx, func(tx *store.Tx) error { return recovery.Release(ctx, tx, cmd.Chain) })
	if err != nil {
		return named(err, "chain %s is not recovering", cmd.Chain)
	}
	return c.Say("chain %s is released: its payments resume once its follower has caught up", cmd.Chain)
}

type recoveryBeginCommand struct {
	Cause string `placeholder:"TEXT" default:"an operator has put the database back" help:"What happened, for the record."`
	Ahead uint32 `placeholder:"N" default:"20000" help:"Number of key indexes to skip: more than the addresses issued since the backup."`
	confirmed
}

// Help says when the command is needed.
func (recoveryBeginCommand) Help() string {
	return "A restored database is recognised by the marks beside the seed file (or with the signer). If " +
		"those are lost too, run this command while nothing " +
		"else uses the database: every chain recovers, and no address that may have been issued is issued " +
		"again.\n\nExample:\n\n    bursar recovery begin --ahead 100000"
}

// Run begins a recovery of every chain.
func (cmd *recoveryBeginCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Guard.Begin(ctx, cmd.Cause, int64(cmd.Ahead)); err != nil {
		return err
	}
	return c.Say("every chain is recovering, and %d key indexes of each family are skipped; start the service, then see "+
		"`bursar recovery status`", cmd.Ahead)
}

type recoveryJoinCommand struct {
	acting
}

// Help says when the command is needed.
func (recoveryJoinCommand) Help() string {
	return "Each machine keeps its own marks. On a new machine, for a database that is current and that other replicas " +
		"use, create them with this command.\n\nExample:\n\n    bursar recovery join"
}

// Run creates marks.
func (cmd *recoveryJoinCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Guard.Join(ctx); err != nil {
		return err
	}
	return c.Say("marks are kept here from now on")
}
