package main

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
)

// soon is how long before a person's end doctor warns.
const soon = 30 * 24 * time.Hour

// policyOfPeople looks at the policy that people signed: in the state of the signer of this process, or as the service
// noted it of a remote one.
func (e *healthCheck) policyOfPeople(ctx context.Context, db *store.DB) {
	const check = "policy of people"
	text, err := e.policyText(ctx, db)
	if err != nil {
		e.advise(check, resultFailed, "see docs/operations/approvals.md", "%v", err)
		return
	}
	if text == "" {
		if e.cfg.Network == config.Mainnet {
			e.advise(check, resultWarning, "have persons approve large payments: see docs/operations/approvals.md",
				"none: whoever controls the service can pay as much as the signer's limits allow")
		}
		return
	}
	p, err := roster.Parse(text)
	if err != nil {
		e.advise(check, resultFailed, "see docs/operations/approvals.md", "%v", err)
		return
	}
	for _, one := range p.People {
		if time.Until(one.Until) < soon {
			e.advise(check, resultWarning, "sign a policy with another end date, or without the person",
				"%s counts until %s", one.Name, approval.Moment(one.Until))
		}
	}
	e.note(check, resultOK, "version %d, people: %d, rules: %d", p.Version, len(p.People), len(p.Rules))
}

// policyText returns the text of the policy, "" if there is none.
func (e *healthCheck) policyText(ctx context.Context, db *store.DB) (text string, err error) {
	if e.cfg.Signer.Remote() {
		err = db.View(ctx, func(tx *store.Tx) error {
			p, err := tx.Settings().Policy(ctx)
			text = p.Text
			return err
		})
		return text, err
	}
	file, err := memory.Join(ctx, host.StateFile(e.cfg))
	if errors.Is(err, memory.ErrMissing) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	err = file.Do(ctx, func(tx memory.Tx) error {
		list, err := tx.Policies(ctx)
		for _, one := range list {
			if text = one.Text; !time.Now().Before(one.NotBefore) {
				break
			}
		}
		return err
	})
	return text, errors.Join(err, file.Close())
}
