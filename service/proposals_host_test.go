package service_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/console"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/sshsig"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// hand is a person's SSH key.
type hand struct {
	signer ssh.Signer
	key    sshsig.Key
}

func (c *approvers) hand(seed byte) hand {
	c.Helper()
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
	c.Must(err)
	key, err := sshsig.NewKey(signer.PublicKey())
	c.Must(err)
	return hand{signer, key}
}

func (c *approvers) signed(by hand, namespace, text string) string {
	c.Helper()
	signature, err := sshsig.Sign(by.signer, namespace, []byte(text))
	c.Must(err)
	return signature
}

// person adds a person of the console.
func (c *approvers) person(p proposal.Person, role operator.Role) {
	c.Helper()
	c.Do(func(tx *store.Tx) error {
		return tx.People().Insert(ctx, store.Person{ID: p.ID, Name: p.Name, Roles: []string{string(role)}})
	})
}

// On the host another person approves by a signature of their own SSH key over the text, and nothing else counts. The
// service carries it out, and looks again whose key it is.
func TestAPersonApprovesOnTheHost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		c.person(c.ann, operator.Approver)
		c.person(c.bob, operator.Approver)
		people, err := operator.NewService(operator.Config{DB: db, IDs: c.IDs, URL: "http://localhost:8081"})
		c.Must(err)
		anns, bobs, other := c.hand(1), c.hand(2), c.hand(3)
		known := []config.SSHKey{{Person: "Ann", Key: anns.key}, {Person: "Bob", Key: bobs.key}}
		keys := []proposal.PersonKey{{Person: "Ann", Key: anns.key}, {Person: "Bob", Key: bobs.key}}
		host := service.HostProposals(db, c.IDs, people, config.Console{SSHKeys: known})
		console.Evaluate(c.service.Proposals, people, keys)
		w := c.withdraw()
		p := c.propose(store.Proposal{Verb: "withdrawal.approve", Object: w.ID.String()})
		text := proposal.SignedText(p, people.URL)
		for name, try := range map[string]struct {
			by       proposal.Person
			evidence string
			want     error
		}{
			"the proposer":              {c.ann, c.signed(anns, proposal.Namespace, text), proposal.ErrOwn},
			"the key of another person": {c.bob, c.signed(anns, proposal.Namespace, text), proposal.ErrEvidence},
			"a key of nobody":           {c.bob, c.signed(other, proposal.Namespace, text), proposal.ErrEvidence},
			"the console of a copy": {c.bob, c.signed(bobs, proposal.Namespace, proposal.SignedText(p, "https://copy.example")),
				proposal.ErrEvidence},
			"no console":                   {c.bob, c.signed(bobs, proposal.Namespace, proposal.Text(p)), proposal.ErrEvidence},
			"another text":                 {c.bob, c.signed(bobs, proposal.Namespace, text+"\n"), proposal.ErrEvidence},
			"a signature for another kind": {c.bob, c.signed(bobs, "order@bursar", text), proposal.ErrEvidence},
			"no signature":                 {c.bob, "", proposal.ErrEvidence},
			"half of one":                  {c.bob, c.signed(bobs, proposal.Namespace, text)[:60], proposal.ErrEvidence},
		} {
			for where, s := range map[string]*proposal.Service{"host": host, "console": c.service.Proposals} {
				_, err := s.Approve(ctx, try.by, proposal.Approval{Proposal: p.ID, Hash: p.Hash, Evidence: try.evidence})
				if !errors.Is(err, try.want) {
					t.Errorf("%s, %s: approving says %v, want %v", name, where, err, try.want)
				}
			}
		}
		good := proposal.Approval{Proposal: p.ID, Hash: p.Hash, Evidence: c.signed(bobs, proposal.Namespace, text)}
		got, err := host.Approve(ctx, c.bob, good)
		if err != nil || got.Status != store.ProposalApproved || c.statusOf(w.ID) != bursar.WithdrawalPendingApproval {
			t.Fatalf("approved it is %s, the withdrawal %s, %v; want it approved, and left to the service", got.Status,
				c.statusOf(w.ID), err)
		}
		c.Must(c.service.Proposals.CarryOut(ctx))
		if got, err := host.Get(ctx, p.ID); err != nil || got.Status != store.ProposalExecuted {
			t.Errorf("carried out it is %s (%s), %v, want executed", got.Status, got.Outcome, err)
		}
		if status := c.statusOf(w.ID); status == bursar.WithdrawalPendingApproval {
			t.Errorf("the withdrawal is %s, want it approved", status)
		}
		c.isVoidWithoutTheKey(host, people, bobs)
	})
}

// isVoidWithoutTheKey checks that an approval counts no more once the configuration names its key no longer.
func (c *approvers) isVoidWithoutTheKey(host *proposal.Service, people *operator.Service, bobs hand) {
	c.Helper()
	w := c.withdraw()
	p := c.propose(store.Proposal{Verb: "withdrawal.approve", Object: w.ID.String()})
	_, err := host.Approve(ctx, c.bob, proposal.Approval{Proposal: p.ID, Hash: p.Hash,
		Evidence: c.signed(bobs, proposal.Namespace, proposal.SignedText(p, people.URL))})
	c.Must(err)
	console.Evaluate(c.service.Proposals, people, nil)
	c.Must(c.service.Proposals.CarryOut(ctx))
	got, err := host.Get(ctx, p.ID)
	if err != nil || got.Status != store.ProposalVoid || c.statusOf(w.ID) != bursar.WithdrawalPendingApproval {
		c.Errorf("without the key it is %s, the withdrawal %s, %v; want void, and the withdrawal waiting", got.Status,
			c.statusOf(w.ID), err)
	}
}

// Who has access to the host stops what was approved and is not carried out yet.
func TestAProposalIsStoppedOnTheHost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		people, err := operator.NewService(operator.Config{DB: db, IDs: c.IDs, URL: "http://localhost:8081"})
		c.Must(err)
		host := service.HostProposals(db, c.IDs, people, config.Console{})
		w := c.withdraw()
		p := c.propose(store.Proposal{Verb: "withdrawal.approve", Object: w.ID.String()})
		if _, err := host.Stop(ctx, "root@host", p.ID, " "); !errors.Is(err, proposal.ErrReason) {
			t.Errorf("without a reason it says %v, want %v", err, proposal.ErrReason)
		}
		got, err := host.Stop(ctx, "root@host", p.ID, "another address")
		if err != nil || got.Status != store.ProposalRejected || got.Outcome != "another address" {
			t.Errorf("stopped it is %s (%s), %v, want rejected with the reason", got.Status, got.Outcome, err)
		}
		if _, err := host.Stop(ctx, "root@host", p.ID, "again"); !errors.Is(err, proposal.ErrEnded) {
			t.Errorf("again it says %v, want %v", err, proposal.ErrEnded)
		}
		if _, err := host.Stop(ctx, "root@host", bursar.ID{9}, "r"); !errors.Is(err, bursar.ErrNotFound) {
			t.Errorf("an unknown one says %v, want %v", err, bursar.ErrNotFound)
		}
		c.View(func(tx *store.Tx) error {
			acts, err := tx.Acts().List(ctx, store.ActFilter{Object: "proposal " + p.ID.String()}, store.Page{Limit: 9})
			if len(acts) != 1 || acts[0].Actor != "root@host" || acts[0].Reason != "another address" {
				t.Errorf("the log of acts has %+v, want who stopped it and why", acts)
			}
			return err
		})
	})
}
