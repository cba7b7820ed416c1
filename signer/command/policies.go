package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/sshsig"
)

type signerPolicyCommands struct {
	Limits signerPolicyCommand     `cmd:"" default:"1" help:"Print conservative limits for every configured currency."`
	Show   signerPolicyShowCommand `cmd:"" help:"Print the policy that people signed."`
	Diff   signerPolicyDiffCommand `cmd:"" help:"Say what a policy loosens and tightens."`
	Test   signerPolicyTestCommand `cmd:"" help:"Say what a policy would answer to an order."`
}

type signerPolicyShowCommand struct{}

// Help returns an example.
func (signerPolicyShowCommand) Help() string {
	return "Prints the text of the policy in force, and on standard error its hash, and which version begins " +
		"later.\n\nExample:\n\n    bursar signer policy show > policy-6.txt"
}

// Run prints the policy.
func (signerPolicyShowCommand) Run(ctx context.Context, c *Call) error {
	p, err := c.policyInForce(ctx)
	if err != nil {
		return err
	}
	c.Note("Version %d, %s.", p.Version, p.Hash())
	c.warnOf(p)
	_, err = fmt.Fprint(c.Stdout, p.Text())
	return err
}

// warnOf says which rules of a policy have no limit, which fees count in none, and which quorums cannot meet now.
func (c *Call) warnOf(p roster.Policy) {
	for _, rule := range p.Unbounded() {
		c.Note("limits:   %s", rule)
	}
	for _, quorum := range p.Unreachable(now()) {
		c.Note("missing:  %s", quorum)
	}
}

// policyInForce reads the policy in force from the signer's state, and notes those that wait.
func (c *Call) policyInForce(ctx context.Context) (p roster.Policy, err error) {
	err = c.signerState(ctx, func(file *memory.File) error {
		return file.Do(ctx, func(tx memory.Tx) error {
			list, err := tx.Policies(ctx)
			if err != nil {
				return err
			}
			for _, one := range list {
				if now().Before(one.NotBefore) {
					c.Note("Version %d begins at %s.", one.Version, Moment(one.NotBefore))
				}
			}
			var found bool
			if p, found, err = people.InForce(ctx, tx, now()); err == nil && !found {
				err = errors.New("no policy is installed: see docs/operations/approvals.md")
			}
			return err
		})
	})
	return p, err
}

// policyFile reads a policy from a file, whether it has signatures or not; of "" the one in force.
func (c *Call) policyFile(ctx context.Context, path string) (p roster.Policy, err error) {
	if path == "" {
		return c.policyInForce(ctx)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("read the policy: %w", err)
	}
	text, _, err := sshsig.Split(string(content))
	if err == nil {
		p, err = roster.Read(text)
	}
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// spell reads the addresses of policies as the chains of the configuration write them.
func (c *Call) spell(ctx context.Context, policies ...*roster.Policy) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	chains := host.Spellings(ctx, cfg)
	for _, p := range policies {
		err = errors.Join(err, p.Spell(chains))
	}
	return err
}

type signerPolicyDiffCommand struct {
	Next   string `arg:"" placeholder:"FILE" help:"The policy that is to follow."`
	Before string `placeholder:"FILE" help:"The policy before. Default: the one in force."`
}

// Help returns an example.
func (signerPolicyDiffCommand) Help() string {
	return "What loosens anything begins on mainnet a day after it is applied, at the earliest.\n\nExample:\n\n" +
		"    bursar signer policy diff policy-7.txt"
}

// Run prints the differences.
func (cmd *signerPolicyDiffCommand) Run(ctx context.Context, c *Call) error {
	next, err := c.policyFile(ctx, cmd.Next)
	if err != nil {
		return err
	}
	if _, err := roster.Parse(next.Text()); err != nil {
		return fmt.Errorf("%s: %w", cmd.Next, err)
	}
	before, err := c.policyFile(ctx, cmd.Before)
	if err != nil {
		return err
	}
	if err := c.spell(ctx, &next); err != nil {
		return err
	}
	if err := c.spell(ctx, &before); err != nil {
		c.Note("The policy before: %v.", err)
	}
	c.warnOf(next)
	changes := roster.Diff(before, next)
	for _, change := range changes {
		if err := c.Say("%s", change); err != nil {
			return err
		}
	}
	if next.Previous != before.Hash() {
		c.Note("It does not follow that policy, whose hash is %s.", before.Hash())
	}
	if roster.Loosens(changes) {
		c.Note("It loosens what is allowed. What it takes away from people, and what it denies, holds at once.")
		c.warnOf(before.Tightened([]roster.Policy{next}))
	}
	return nil
}

type signerPolicyTestCommand struct {
	Order    string    `arg:"" placeholder:"FILE" help:"The text of an order, or of an approval of one."`
	Policy   string    `placeholder:"FILE" help:"The policy. Default: the one in force."`
	Approved []string  `placeholder:"PERSON" help:"Who has approved it."`
	Passkey  []string  `placeholder:"PERSON" help:"Who has approved it with a passkey."`
	Held     bool      `help:"Its hold has passed."`
	Listed   bool      `help:"Its destination is signed and past its hold."`
	Screened bool      `help:"The screening service has just passed it."`
	Ordered  bool      `help:"A client of its account signed the order."`
	Fee      string    `placeholder:"AMOUNT" help:"The most that it can cost, in the native asset of its chain, as 0.0002."`
	At       time.Time `placeholder:"TIME" help:"When it is signed, such as 2026-11-24T12:00:00Z. Default: now."`
}

// Help returns an example.
func (signerPolicyTestCommand) Help() string {
	return "Nothing is asked or signed, and windows count as unused: those of fees, payments and accounts too. The " +
		"exit code is 0 if it would be allowed.\n\nExample:\n\n" +
		"    bursar signer policy test order.txt --approved ann --approved bob --listed"
}

// errNotAllowed is the result of a test, which is printed already.
var errNotAllowed = errors.New("the policy would not allow it")

// Run prints the answer of a policy.
func (cmd *signerPolicyTestCommand) Run(ctx context.Context, c *Call) error {
	p, err := c.policyFile(ctx, cmd.Policy)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(cmd.Order)
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	o, err := orderIn(string(content))
	if err != nil {
		return err
	}
	if cmd.At.IsZero() {
		cmd.At = now()
	}
	if err := c.spell(ctx, &p); err != nil {
		c.Note("The policy: %v.", err)
	}
	c.warnOf(p)
	q := roster.Question{Kind: roster.KindWithdrawal, Chain: o.Chain, Contract: o.Contract, To: o.To, Units: o.Units,
		Now: cmd.At, Listed: cmd.Listed, Signed: map[string][]string{}, With: map[string]roster.KeyKind{}}
	if err := cmd.approve(p, o, &q); err != nil {
		return err
	}
	q.Ordered = cmd.Ordered
	if q.Fee, err = cmd.fee(p, o.Chain); err != nil {
		return err
	}
	if cmd.Screened {
		q.Passed = cmd.At
	}
	if cmd.Held {
		q.Since = func(string) time.Time { return time.Unix(0, 0) }
	}
	a := p.Evaluate(q)
	if a.Allowed {
		return c.Say("allowed by rule %s", a.Rule)
	}
	if err := c.Say("%s: %s", a.Lacks, a.Detail); err != nil {
		return err
	}
	return errNotAllowed
}

// fee reads what the payment can cost.
func (cmd *signerPolicyTestCommand) fee(p roster.Policy, id bursar.ChainID) (bursar.Amount, error) {
	if cmd.Fee == "" {
		return bursar.Amount{}, nil
	}
	i := slices.IndexFunc(p.Assets, func(a roster.Asset) bool { return a.Chain == id && a.Contract == "" })
	if i < 0 {
		return bursar.Amount{}, Wrong("--fee: the policy has no native asset of %s", id)
	}
	fee, err := bursar.ParseDecimal(cmd.Fee, p.Assets[i].Decimals)
	if err != nil {
		return bursar.Amount{}, Wrong("--fee %s: %v", cmd.Fee, err)
	}
	return fee, nil
}

// approve says who approved, with what: by SSH with the best key that the person has.
func (cmd *signerPolicyTestCommand) approve(p roster.Policy, o approval.Order, q *roster.Question) error {
	for i, name := range slices.Concat(cmd.Approved, cmd.Passkey) {
		one, found := p.Person(name)
		if !found {
			return Wrong("the policy has no %s", name)
		}
		if _, twice := q.With[name]; twice {
			return Wrong("%s has one approval, the last", name)
		}
		q.With[name] = roster.KeySSH
		switch {
		case i >= len(cmd.Approved) && len(one.Passkeys) == 0:
			return Wrong("%s has no passkey", name)
		case i >= len(cmd.Approved):
			q.With[name] = roster.KeyPasskey
		case len(one.Keys) == 0:
			return Wrong("%s has no SSH key", name)
		case slices.ContainsFunc(one.Keys, sshsig.Key.Hardware):
			q.With[name] = roster.KeyHardware
		}
		for _, role := range one.Roles {
			if one.Has(role, cmd.At) && name != o.Requester {
				q.Signed[role] = append(q.Signed[role], name)
			}
		}
	}
	return nil
}

// orderIn reads an order, or the order in an approval.
func orderIn(content string) (approval.Order, error) {
	text, _, err := sshsig.Split(content)
	if err != nil {
		return approval.Order{}, err
	}
	if a, err := approval.ParseApproval(text); err == nil {
		return a.Order, nil
	}
	return approval.ParseOrder(text)
}
