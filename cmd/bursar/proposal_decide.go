package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

type proposalApproveCommand struct {
	ID        bursar.ID `arg:"" placeholder:"PROPOSAL" help:"ID of the proposal."`
	Signature string    `required:"" placeholder:"FILE" help:"Signature of the person over the proposal's text."`
	acting
}

// Help says how a signature is made.
func (proposalApproveCommand) Help() string {
	return "The rules are those of the console: who proposed it cannot approve it, each person counts once and needs " +
		"the right to approve, and both are checked again when the running service carries it out, within seconds. In " +
		"place of a passkey the person signs the text with an SSH key that console.ssh_keys names as theirs. Read the text " +
		"before you sign it.\n\nExample:\n\n" +
		"    bursar proposal show --text 0193a6a0-0000-7000-8000-000000000000 > proposal.txt\n" +
		"    ssh-keygen -Y sign -n proposal@bursar -f ~/.ssh/id_ed25519 proposal.txt\n" +
		"    bursar proposal approve 0193a6a0-0000-7000-8000-000000000000 --signature proposal.txt.sig"
}

// maxSignature bounds the file of a signature: that of a security key has less than 1 KiB.
const maxSignature = 8 << 10

// Run adds an approval.
func (cmd *proposalApproveCommand) Run(ctx context.Context, c *call) error {
	f, err := os.Open(cmd.Signature)
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	defer f.Close()
	evidence, err := io.ReadAll(io.LimitReader(f, maxSignature))
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	proposals, people, cfg, err := c.proposals(ctx)
	if err != nil {
		return err
	}
	defer proposals.DB.Close()
	p, err := proposals.Get(ctx, cmd.ID)
	if err != nil {
		return unknownProposal(err, cmd.ID)
	}
	by, err := signerOf(ctx, people, cfg, p, string(evidence))
	if err != nil {
		return err
	}
	p, err = proposals.Approve(ctx, by, proposal.Approval{Proposal: p.ID, Hash: p.Hash, Evidence: string(evidence)})
	if err != nil {
		return err
	}
	facts := actFacts{"proposalID": p.ID, "person": by.Name, "status": p.Status}
	if p.Status == store.ProposalApproved {
		return c.Done(facts, "%s approved proposal %s: a running service carries it out within seconds", by.Name, p.ID)
	}
	return c.Done(facts, "%s approved proposal %s: it is %s, and needs %d approvals", by.Name, p.ID, p.Status, p.Need)
}

// signerOf returns the person of the console whose key signed a proposal.
func signerOf(
	ctx context.Context, people *operator.Service, cfg config.Config, p store.Proposal, evidence string,
) (by proposal.Person, err error) {
	key, err := proposal.SignedBy(p, people.URL, evidence)
	if err != nil {
		return by, fmt.Errorf("the signature is not one over the text of proposal %s for the namespace %s: print the text "+
			"with `bursar proposal show --text`, and sign it as it is", p.ID, proposal.Namespace)
	}
	i := slices.IndexFunc(cfg.Console.SSHKeys, func(k config.SSHKey) bool { return k.Key == key })
	if i < 0 {
		return by, fmt.Errorf("console.ssh_keys names nobody with the key %s", key.Fingerprint())
	}
	all, err := people.List(ctx)
	if err != nil {
		return by, err
	}
	name := cfg.Console.SSHKeys[i].Person
	for _, person := range all {
		if person.Name == name && person.RevokedAt.IsZero() {
			return proposal.Person{ID: person.ID, Name: person.Name}, nil
		}
	}
	return by, unknownPerson(store.ErrNotFound, name)
}

type proposalRejectCommand struct {
	ID     bursar.ID `arg:"" placeholder:"PROPOSAL" help:"ID of the proposal."`
	Reason string    `required:"" placeholder:"TEXT" help:"Why, for the record."`
	acting
}

// Help says who may do so, with an example.
func (proposalRejectCommand) Help() string {
	return "Ends a proposal, also one that has its approvals and is not carried out yet. That takes access to the host " +
		"and nobody else: nothing moves by it.\n\nExample:\n\n" +
		"    bursar proposal reject 0193a6a0-0000-7000-8000-000000000000 --reason 'the payer named another address'"
}

// Run ends a proposal.
func (cmd *proposalRejectCommand) Run(ctx context.Context, c *call) error {
	proposals, _, _, err := c.proposals(ctx)
	if err != nil {
		return err
	}
	defer proposals.DB.Close()
	p, err := proposals.Stop(ctx, actorHere(), cmd.ID, cmd.Reason)
	if err != nil {
		return unknownProposal(err, cmd.ID)
	}
	return c.Done(actFacts{"proposalID": p.ID, "status": p.Status}, "proposal %s is %s", p.ID, p.Status)
}

// proposals opens proposals with the people who evaluate them. The caller closes the database.
func (c *call) proposals(ctx context.Context) (*proposal.Service, *operator.Service, config.Config, error) {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return nil, nil, cfg, err
	}
	people, err := peopleOf(db, cfg)
	if err != nil {
		db.Close()
		return nil, nil, cfg, err
	}
	return service.HostProposals(db, bursar.NewIDs(db.Now, nil), people, cfg.Console), people, cfg, nil
}
