package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

// source is where a list comes from.
type source struct {
	Source string `arg:"" placeholder:"SOURCE" help:"URL of /approvals at the operator's listener, or a file that bursar approval list --json wrote."`
}

type listCommand struct{ source }

// Help returns an example.
func (listCommand) Help() string {
	return "Example:\n\n    bursar-approve list http://127.0.0.1:8090/approvals"
}

// Run lists what waits.
func (cmd *listCommand) Run(ctx context.Context, s *session) error {
	l, err := s.read(ctx, cmd.Source)
	if err != nil {
		return err
	}
	for _, one := range l.Orders {
		amount, name, err := amountOf(l.policy, one.order)
		if err != nil {
			amount, name = one.order.Units.String(), "units of "+approval.AssetText(one.order.Contract)
		}
		if _, err := fmt.Fprintf(s.out, "%s  %s %s on %s to %s, approvals: %d\n", one.order.ID, amount, name,
			one.order.Chain, one.order.To, len(one.Approvals)); err != nil {
			return err
		}
	}
	s.say("Payments that wait: %d.", len(l.Orders))
	return nil
}

type yesCommand struct {
	source
	Orders []string `arg:"" optional:"" name:"order" placeholder:"ORDER" help:"IDs of orders. Default: all that wait."`
	How    `embed:""`

	Payment int64 `default:"1" help:"Number of the order's payment that you approve; above 1 only if the one before can no longer be included."`
}

// How is how an approval is made.
type How struct {
	Role string        `default:"approver" help:"Role in which you decide."`
	For  time.Duration `default:"8h" help:"How long it is valid, at most 24h."`
	Out  string        `placeholder:"FILE" help:"File for the signed approval, where the source is a file. Default: approval-ORDER.txt."`
}

// Help returns an example.
func (yesCommand) Help() string {
	return "Shows each payment, with what was signed for it before, and asks you to type its amount, and the first six " +
		"and last eight characters of its address. An empty answer passes over it.\n\nExample:\n\n    bursar-approve yes " +
		"http://127.0.0.1:8090/approvals"
}

// Run approves payments.
func (cmd *yesCommand) Run(ctx context.Context, s *session) error {
	return s.decide(ctx, cmd.Source, cmd.Orders, cmd.How, approval.Yes, cmd.Payment)
}

type noCommand struct {
	source
	Orders []string `arg:"" name:"order" placeholder:"ORDER" help:"IDs of orders."`
	How    `embed:""`
}

// Help returns an example.
func (noCommand) Help() string {
	return "Once the signer has seen a no, it holds until the order ends, or you say yes here: a passkey in the console " +
		"does not lift it. The service could hold it back: to stop payments for certain, freeze the signer.\n\nExample:\n\n" +
		"    bursar-approve no waiting.json 0193a6a0-0000-7000-8000-000000000000"
}

// Run says no to payments.
func (cmd *noCommand) Run(ctx context.Context, s *session) error {
	return s.decide(ctx, cmd.Source, cmd.Orders, cmd.How, approval.No, 1)
}

// deciding is what the decisions of one call have in common.
type deciding struct {
	list     listed
	signer   ssh.Signer
	who      roster.Person
	from     string // URL or file of the list; a signed approval goes back there, or to a file
	how      How
	decision approval.Decision
	payment  int64
}

// decide shows orders and signs a decision about each.
func (s *session) decide(
	ctx context.Context, from string, ids []string, how How, decision approval.Decision, payment int64,
) error {
	if payment > 1 && len(ids) != 1 {
		return fmt.Errorf("--payment is of one order: name it; %w", errUsage)
	}
	l, err := s.read(ctx, from)
	if err != nil {
		return err
	}
	signer, who, closing, err := s.signerFor(ctx, &l.policy)
	defer closing()
	if err != nil {
		return err
	}
	s.say("You are %s. The policy is version %d, %s.", who.Name, l.policy.Version, l.policy.Hash())
	chosen, err := l.choose(ids)
	if err != nil {
		return err
	}
	d := deciding{l, signer, who, from, how, decision, payment}
	for _, one := range chosen {
		if err := s.decideOne(ctx, d, one); err != nil {
			return err
		}
	}
	return nil
}

// decideOne shows an order, has the person confirm it, and signs and delivers the decision. What the person does not
// confirm is not signed, and is no error.
func (s *session) decideOne(ctx context.Context, d deciding, one asked) error {
	now := s.now().UTC().Truncate(time.Second)
	text := d.text(one, now)
	if err := s.history(d.list.policy, one); err != nil {
		return err
	}
	a, amount, err := s.show(d.list.policy, text)
	if err != nil {
		return err
	}
	if !d.who.Has(d.how.Role, now) || d.decision == approval.Yes && d.who.Name == a.Order.Requester {
		return fmt.Errorf("%s is not of role %s, or ordered it: the signer would not count it", d.who.Name, d.how.Role)
	}
	if agreed, err := s.confirm(a, amount); err != nil || !agreed {
		return err
	}
	if err := s.note(a, amount); err != nil {
		return err
	}
	if key, err := sshsig.NewKey(d.signer.PublicKey()); err == nil && key.Hardware() {
		s.say("Touch your security key.")
	}
	signature, err := sshsig.Sign(d.signer, approval.NamespaceApproval, []byte(text))
	if err != nil {
		return err
	}
	return s.deliver(ctx, d.from, cmp.Or(d.how.Out, "approval-"+one.order.ID.String()+".txt"), text, signature)
}

// text returns the approval of an order that the person would sign at a time.
func (d deciding) text(one asked, now time.Time) string {
	return approval.Approval{Instance: one.order.Instance, Decision: d.decision, Payment: d.payment,
		Role: d.how.Role, Version: d.list.policy.Version, Policy: d.list.policy.Hash(), Created: now,
		Expires: now.Add(d.how.For), Nonce: approval.NewNonce(), Order: one.order}.Text()
}

// choose returns the orders with some IDs; all of them for none.
func (l listed) choose(ids []string) (list []asked, err error) {
	for _, text := range ids {
		id, err := bursar.ParseID(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not an order: %w; %w", text, err, errUsage)
		}
		found := false
		for _, one := range l.Orders {
			if one.order.ID == id {
				list, found = append(list, one), true
			}
		}
		if !found {
			return nil, fmt.Errorf("order %s does not wait", id)
		}
	}
	if len(ids) == 0 {
		list = l.Orders
	}
	return list, nil
}

// How much of an address is typed: an address that agrees in these is costly to make.
const (
	firstCharacters = 6
	lastCharacters  = 8
)

// ends returns what is typed of an address.
func ends(base string) string {
	if len(base) <= firstCharacters+lastCharacters {
		return base
	}
	return base[:firstCharacters] + " " + base[len(base)-lastCharacters:]
}

// confirm has the person type what cannot be typed without having read it. An empty answer is a refusal without error.
func (s *session) confirm(a approval.Approval, amount string) (bool, error) {
	if a.Decision == approval.No {
		answer, err := s.ask("Type no:")
		return answer == "no", err
	}
	if agreed, err := s.confirmAgain(a.Payment); err != nil || !agreed {
		return false, err
	}
	for _, question := range []struct{ says, want string }{
		{"Type the amount:", amount},
		{"Type the first 6 and the last 8 characters of the address, with a space between:", ends(a.Order.To.Base)},
	} {
		answer, err := s.ask(question.says)
		if err != nil {
			return false, err
		}
		if answer == "" {
			s.say("Passed over.")
			return false, nil
		}
		if answer != question.want {
			s.say("That is not what it says. Nothing was signed for order %s.", a.Order.ID)
			return false, nil
		}
	}
	return true, nil
}

// confirmAgain has the person type that an order is to be paid once more.
func (s *session) confirmAgain(payment int64) (bool, error) {
	if payment == 1 {
		return true, nil
	}
	want := fmt.Sprintf("pay again %d", payment)
	answer, err := s.ask(fmt.Sprintf("Type %q, or nothing:", want))
	if err == nil && answer != want {
		s.say("Passed over.")
	}
	return answer == want, err
}
