package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
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
				"none: anyone who controls the service can pay as much as the signer's limits allow")
		}
		return
	}
	p, err := roster.Read(text) // whatever is demanded of new ones today
	if err != nil {
		e.advise(check, resultFailed, "see docs/operations/approvals.md", "%v", err)
		return
	}
	for _, quorum := range p.Unreachable(time.Now()) {
		e.advise(check, resultFailed, "sign a policy under which it can meet, while its authors still can", "%s", quorum)
	}
	for _, rule := range slices.Concat(p.Unlimited(), p.UnlimitedMoves()) {
		e.advise(check, resultWarning, "give the rule `each` and windows, unless that is meant", "%s", rule)
	}
	for _, fees := range p.Uncounted() {
		e.advise(check, resultWarning, "add the chain's native asset to the policy, with a price", "%s", fees)
	}
	e.siteOfPasskeys(check, p)
	for _, one := range p.People {
		if time.Until(one.Until) < soon {
			e.advise(check, resultWarning, "sign a policy with another end date, or without the person",
				"%s counts until %s", one.Name, approval.Moment(one.Until))
		}
	}
	e.note(check, resultOK, "version %d, people: %d, rules: %d", p.Version, len(p.People), len(p.Rules))
}

// siteOfPasskeys compares where the policy's passkeys sign with where this service has them asked.
func (e *healthCheck) siteOfPasskeys(check string, p roster.Policy) {
	at := service.ConsoleURL(e.cfg.Console.URL, e.cfg.AdminListen, e.cfg.Admin.TLS != config.TLS{})
	if p.Site.String() == "" || p.Site.String() == at || e.cfg.AdminListen == "" && e.cfg.Console.URL == "" {
		return
	}
	e.advise(check, resultWarning, "set console.url, or sign a policy with another passkey_origin",
		"its passkeys sign at %s, and the console is at %s: nobody approves with one there", p.Site, at)
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
	noted, err := host.NotedPolicy(e.cfg)
	if err != nil {
		return "", err
	}
	file, err := memory.Join(ctx, host.StateFile(e.cfg))
	if errors.Is(err, memory.ErrMissing) {
		return "", lostPolicy(noted, memory.KnownPolicy{})
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
		if err != nil {
			return err
		}
		lost, err := people.Lost(ctx, tx)
		if err == nil && lost.Version > 0 {
			return lostPolicy(lost, memory.KnownPolicy{})
		}
		if err == nil && len(list) > 0 {
			return lostPolicy(noted, memory.KnownPolicy{Version: list[0].Version})
		}
		return errors.Join(err, lostPolicy(noted, memory.KnownPolicy{}))
	})
	return text, errors.Join(err, file.Close())
}

// lostPolicy returns an error if a version was in force that is later than the one that the state has.
func lostPolicy(known, has memory.KnownPolicy) error {
	if known.Version <= has.Version {
		return nil
	}
	return fmt.Errorf("version %d, %s, was in force, and the signer's state does not have it: nothing is signed until "+
		"it is applied again", known.Version, known.Hash)
}
