package console

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
)

// proposalView is one proposal as its page and its JSON show it.
type proposalView struct {
	ID, Verb, Object, Account      string
	Amount, Currency, Destination  string
	Detail, Reason, Person, Status string
	Outcome, Text, Hash            string
	Challenge                      string // that a passkey signs to approve it, in base64url
	SignedText                     string // that an SSH key signs to approve it
	Created, Expires               string
	Need                           int
	Own                            bool // the reader proposed it, and cannot approve it
	Open                           bool
	Votes                          []decisionView
	Problem                        string

	Keys bool `json:"-"` // people may approve with SSH keys too
}

type decisionView struct{ Person, At string }

func (c *Console) proposalOf(v *visit, p store.Proposal, decisions []store.ProposalDecision) proposalView {
	d := proposalView{
		ID:          p.ID.String(),
		Verb:        p.Verb,
		Object:      p.Object,
		Currency:    string(p.Currency),
		Destination: p.Destination,
		Detail:      p.Detail,
		Reason:      p.Reason,
		Person:      p.Person,
		Status:      string(p.Status),
		Outcome:     p.Outcome,
		Text:        proposal.Text(p),
		Hash:        hex.EncodeToString(p.Hash),
		Challenge:   challengeOf(p),
		SignedText:  proposal.SignedText(p, c.People.URL),
		Created:     moment(p.CreatedAt),
		Expires:     moment(p.ExpiresAt),
		Need:        p.Need,
		Own:         p.PersonID == v.person.ID,
		Open:        p.Status == store.ProposalPending && c.DB.Now().Before(p.ExpiresAt),
		Problem:     v.problem,
		Keys:        len(c.SSHKeys) > 0,
	}
	if !p.AccountID.IsZero() {
		d.Account = p.AccountID.String()
	}
	if currency, err := c.Registry.Get(p.Currency); err == nil {
		d.Amount = currency.Exact(p.Amount)
	}
	for _, one := range decisions {
		d.Votes = append(d.Votes, decisionView{one.Person, moment(one.At)})
	}
	return d
}

func challengeOf(p store.Proposal) string {
	challenge := proposal.Challenge(p)
	return base64.RawURLEncoding.EncodeToString(challenge[:])
}

func (c *Console) proposalPages() []page {
	return []page{
		{path: "/proposals", verb: operator.VerbRead, title: "Proposals", nav: "Proposals", serve: c.listProposals},
		c.proposalPage(),
	}
}

func (c *Console) proposalPage() page {
	return page{path: "/proposals/{id}", verb: operator.VerbRead, title: "Proposal", nav: "Proposals",
		serve: c.oneProposal}
}

func (c *Console) oneProposal(v *visit) (d any, err error) {
	p, err := c.seenProposal(v)
	if err != nil {
		return nil, err
	}
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		decisions, err := tx.Proposals().Decisions(v.ctx, p.ID)
		d = c.proposalOf(v, p, decisions)
		return err
	})
	return d, err
}

// seenProposal returns the proposal of the path; one of an account that the person may not see is not there.
func (c *Console) seenProposal(v *visit) (store.Proposal, error) {
	id, err := v.id("id")
	if err != nil {
		return store.Proposal{}, err
	}
	p, err := c.Acts.Proposals.Get(v.ctx, id)
	if err == nil && !v.person.Sees(p.AccountID) {
		err = bursar.ErrNotFound
	}
	return p, err
}

func (c *Console) proposalActions() []action {
	form := c.proposalPage()
	return []action{
		{path: "/proposals/{id}/approve", form: &form, do: func(v *visit) (string, error) {
			p, err := c.seenProposal(v)
			if err != nil {
				return "", err
			}
			hash, err := hex.DecodeString(v.form.Get("hash"))
			if err != nil {
				return "", bursar.RefuseField(bursar.CodeInvalidRequest, "hash", "the hash of the text is missing")
			}
			_, err = c.Acts.Proposals.Approve(of(v), proposer(v),
				proposal.Approval{Proposal: p.ID, Hash: hash, Evidence: v.form.Get("evidence")})
			return "/proposals/" + p.ID.String(), refusalOf(err)
		}},
		{path: "/proposals/{id}/reject", form: &form, do: func(v *visit) (string, error) {
			p, err := c.seenProposal(v)
			if err != nil {
				return "", err
			}
			_, err = c.Acts.Proposals.Reject(of(v), proposer(v), p.ID, v.form.Get("reason"))
			return "/proposals/" + p.ID.String(), refusalOf(err)
		}},
	}
}
