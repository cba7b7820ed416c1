package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
)

type proposalCommands struct {
	List    proposalListCommand    `cmd:"" help:"List proposals, newest first."`
	Show    proposalShowCommand    `cmd:"" help:"Show a proposal, or the text of it that approvers sign."`
	Approve proposalApproveCommand `cmd:"" help:"Approve a proposal with a signature of a person's SSH key."`
	Reject  proposalRejectCommand  `cmd:"" help:"End a proposal before it is carried out."`
}

type proposalListCommand struct {
	Account bursar.ID `type:"account" placeholder:"ACCOUNT" help:"Only those of this account: its ID or name."`
	Status  string    `enum:",pending,approved,executed,rejected,expired,void" default:"" placeholder:"STATUS" help:"Only those that are pending, approved, executed, rejected, expired or void."`
	Limit   int       `default:"100" help:"Maximum number of proposals, 1 to 10000."`
	JSON    bool      `name:"json" help:"Print a JSON array."`
}

// listedProposal is a proposal with who approved it. Amounts are exact.
type listedProposal struct {
	ID          bursar.ID            `json:"id"`
	Verb        string               `json:"verb"`
	Object      string               `json:"object"`
	AccountID   *bursar.ID           `json:"accountID"`
	Currency    *bursar.CurrencyCode `json:"currency"`
	Amount      *string              `json:"amount"`
	Destination string               `json:"destination"`
	Detail      string               `json:"detail"`
	Reason      string               `json:"reason"`
	Person      string               `json:"person"` // who proposed it
	Need        int                  `json:"need"`   // how many others must approve
	Approved    []string             `json:"approved"`
	Status      store.ProposalStatus `json:"status"`
	Outcome     string               `json:"outcome"`
	CreatedAt   time.Time            `json:"createdAt"`
	ExpiresAt   time.Time            `json:"expiresAt"`
	EndedAt     *time.Time           `json:"endedAt"`
	Hash        string               `json:"hash"` // SHA-256 of Text without its last line
	Text        string               `json:"text"` // that approvers sign
}

// Help returns an example.
func (proposalListCommand) Help() string {
	return "What one person proposed in the console, and others have to approve.\n\nExample:\n\n" +
		"    bursar proposal list --status pending"
}

// Run lists proposals.
func (cmd *proposalListCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 1 || cmd.Limit > maxListed {
		return wrong("--limit must be between 1 and %d", maxListed)
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	listed := []listedProposal{}
	err = db.View(ctx, func(tx *store.Tx) error {
		listed = listed[:0]
		var accounts []bursar.ID
		if !cmd.Account.IsZero() {
			accounts = []bursar.ID{cmd.Account}
		}
		found, err := tx.Proposals().List(ctx, store.ProposalStatus(cmd.Status), accounts, cmd.Limit)
		for i := 0; err == nil && i < len(found); i++ {
			var l listedProposal
			l, err = listProposal(ctx, tx, cfg, found[i])
			listed = append(listed, l)
		}
		return err
	})
	if err != nil {
		return err
	}
	return list(c, cmd.JSON, listed, "PROPOSAL CREATED WHAT OBJECT AMOUNT TO BY APPROVED STATUS REASON",
		func(l listedProposal) []any {
			return []any{l.ID, l.CreatedAt, l.Verb, l.Object, l.amount(), l.Destination, l.Person,
				fmt.Sprintf("%d/%d", len(l.Approved), l.Need), l.Status, l.Reason}
		})
}

func (l listedProposal) amount() string {
	if l.Amount == nil {
		return ""
	}
	return *l.Amount + " " + string(*l.Currency)
}

func listProposal(ctx context.Context, tx *store.Tx, cfg config.Config, p store.Proposal) (listedProposal, error) {
	l := listedProposal{ID: p.ID, Verb: p.Verb, Object: p.Object, AccountID: optional(p.AccountID),
		Currency: optional(p.Currency), Destination: p.Destination, Detail: p.Detail, Reason: p.Reason, Person: p.Person,
		Need: p.Need, Approved: []string{}, Status: p.Status, Outcome: p.Outcome, CreatedAt: p.CreatedAt,
		ExpiresAt: p.ExpiresAt, EndedAt: optional(p.EndedAt), Hash: fmt.Sprintf("%x", p.Hash),
		Text: proposal.SignedText(p, consoleURL(cfg))}
	if currency, err := cfg.Registry.Get(p.Currency); err == nil {
		l.Amount = optional(currency.Exact(p.Amount))
	}
	decisions, err := tx.Proposals().Decisions(ctx, p.ID)
	for _, v := range decisions {
		l.Approved = append(l.Approved, v.Person)
	}
	return l, err
}

type proposalShowCommand struct {
	ID   bursar.ID `arg:"" placeholder:"PROPOSAL" help:"ID of the proposal."`
	Text bool      `xor:"form" help:"Print the text that approvers sign, byte for byte, and nothing else."`
	JSON bool      `name:"json" xor:"form" help:"Print one JSON object."`
}

// Help returns an example.
func (proposalShowCommand) Help() string {
	return "Example:\n\n    bursar proposal show --text 0193a6a0-0000-7000-8000-000000000000 > proposal.txt"
}

// Run shows a proposal.
func (cmd *proposalShowCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var l listedProposal
	err = db.View(ctx, func(tx *store.Tx) error {
		p, err := tx.Proposals().Get(ctx, cmd.ID)
		if err != nil {
			return store.AsRefusal(err)
		}
		l, err = listProposal(ctx, tx, cfg, p)
		return err
	})
	if err != nil {
		return unknownProposal(err, cmd.ID)
	}
	switch {
	case cmd.JSON:
		return c.PrintJSON(l)
	case cmd.Text:
		_, err := io.WriteString(c.Stdout, l.Text)
		return err
	}
	return list(c, false, l.rows(), "WHAT IS", func(row [2]string) []any { return []any{row[0], row[1]} })
}

func (l listedProposal) rows() (rows [][2]string) {
	account := ""
	if l.AccountID != nil {
		account = l.AccountID.String()
	}
	for _, row := range [][2]string{{"proposal", l.ID.String()}, {"what", l.Verb}, {"object", l.Object},
		{"account", account}, {"amount", l.amount()}, {"to", l.Destination}, {"detail", l.Detail},
		{"reason", l.Reason}, {"proposed by", l.Person}, {"created", moment(l.CreatedAt)}, {"until", moment(l.ExpiresAt)},
		{"needs", fmt.Sprint(l.Need)}, {"approved by", fmt.Sprint(l.Approved)}, {"status", string(l.Status)},
		{"outcome", l.Outcome}, {"SHA-256", l.Hash}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// unknownProposal says which ID is of no proposal.
func unknownProposal(err error, id bursar.ID) error {
	if errors.Is(err, bursar.ErrNotFound) {
		return fmt.Errorf("there is no proposal %s", id)
	}
	return err
}
