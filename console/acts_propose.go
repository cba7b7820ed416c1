package console

import (
	"context"
	"errors"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
)

// proposed lists what one person proposes and others approve.
func (c *Console) proposed() []deed {
	to := func(label, hint string) field { return field{Name: "to", Label: label, Hint: hint} }
	currency := currencyField
	list := []deed{
		{name: "charge.refund", verb: operator.VerbRefundPropose, title: "Propose a refund", nav: "Charges",
			whose: ofDeposit,
			does: "Once others approve, the amount is paid back from the customer's balance to the address, as a withdrawal " +
				"with its limits and fee.",
			fields: []field{{Name: "charge", Label: "Charge", Hint: "Its ID."}, currency, amountField,
				to("Address", "Ask the payer: never the sender by default, which may be an exchange."), reasonField}},
		{name: "treasury.withdraw", verb: operator.VerbTreasuryPropose, title: "Propose a withdrawal of operator funds",
			nav: "Balances", whose: theTreasury,
			does:   "Once others approve, operator funds are paid to a destination of the treasury's list.",
			fields: []field{currency, amountField, to("Destination", "An address of the list, or its label."), reasonField}},
		{name: "unattributed.assign", verb: operator.VerbUnattributedResolve, title: "Propose to assign a deposit",
			nav: "Unattributed", does: "Once others approve, the customer has an ordinary confirmed deposit. That cannot be " +
				"undone.",
			fields: []field{to("Receiver", "wallet ID, or account ID."), reasonField}},
		{name: "unattributed.refund", verb: operator.VerbUnattributedResolve, title: "Propose a refund to a sender",
			nav: "Unattributed", does: "Once others approve, the deposit is paid back to the address.",
			fields: []field{to("Address", "ADDRESS, or ADDRESS:MEMO."), {Name: "detail", Label: "Fee", Optional: true,
				Options: []string{"fee from operator funds"}, Hint: "Empty: the fee is taken from the amount."}, reasonField}},
		{name: "unattributed.keep", verb: operator.VerbUnattributedResolve, title: "Propose to keep a deposit",
			nav: "Unattributed", does: "Once others approve, the deposit is operator funds. That cannot be undone.",
			fields: []field{reasonField}},
		{name: "withdrawal.approve", verb: operator.VerbWithdrawalApprove, title: "Propose to approve a withdrawal",
			nav: "Withdrawals", whose: ofWithdrawal,
			does:   "Once another approver agrees, the withdrawal is paid as it is shown there.",
			fields: []field{reasonField}},
		{name: "resume.all", verb: operator.VerbResume, title: "Propose to end the halt of everything", nav: "Chains",
			does: "Once others approve, payments are built and signed again.", fields: []field{reasonField}},
		{name: "resume", verb: operator.VerbResume, title: "Propose to end the halt of a chain or a currency",
			nav: "Chains", does: "Once others approve, what operators halted of the scope ends. The scope is chain:NAME or " +
				"currency:CODE. What an external spend or a token that delivers less halted ends by a command on the host.",
			fields: []field{reasonField}},
		{name: "account.unfreeze", verb: operator.VerbAccountFreeze, title: "Propose to end a freeze", nav: "Accounts",
			whose:  accountItself,
			does:   "Once others approve, the account may withdraw again, unless it is frozen for another reason.",
			fields: []field{reasonField}},
		{name: limitsLoosen, verb: operator.VerbLimits, title: "Propose to loosen a limit of withdrawals",
			nav: "Accounts", whose: accountItself,
			does: "Once others approve, larger withdrawals are taken, or more of them, or without an approval, within what " +
				"the configuration allows. The object is an account's ID, or all: every account. The " +
				"lower of the two binds.",
			fields: []field{currency, limitField, {Name: "amount", Label: "Amount", Optional: true,
				Hint: "In whole units, such as 0.5. Empty: the limit ends."}, reasonField}},
	}
	for i, d := range list {
		list[i].button, list[i].proposed = "Propose it", true
		list[i].do = func(v *visit, object string) (string, error) { return c.propose(v, d.name, object) }
	}
	return list
}

func (c *Console) propose(v *visit, verb, object string) (string, error) {
	token, err := bursar.ParseID(v.form.Get("token"))
	if err != nil {
		return "", err
	}
	p := store.Proposal{
		Verb:        verb,
		Object:      object,
		Currency:    bursar.CurrencyCode(v.form.Get("currency")),
		Destination: v.form.Get("to"),
		Detail:      v.form.Get("detail") + v.form.Get("charge"),
		Reason:      v.form.Get("reason"),
		Token:       token,
	}
	if text := v.form.Get("amount"); text != "" {
		currency, err := c.Registry.Get(p.Currency)
		if err != nil {
			return "", err
		}
		if p.Amount, err = currency.Parse(text); err != nil {
			return "", bursar.RefuseField(bursar.CodeInvalidAmount, "amount", "%.60q is no amount of %s", text, p.Currency)
		}
		if verb == limitsLoosen && p.Amount.IsZero() { // no amount ends a limit, and zero is the tightest one
			return "", bursar.RefuseField(bursar.CodeInvalidAmount, "amount",
				"a limit of zero loosens none; leave the amount empty to propose the end of the limit")
		}
	}
	p, err = c.Acts.Proposals.Propose(of(v), proposer(v), p)
	return "/proposals/" + p.ID.String(), err
}

// visited carries the visit to the row of the log of acts, through the life of a proposal.
type visited struct{}

func of(v *visit) context.Context { return context.WithValue(v.ctx, visited{}, v) }

func proposer(v *visit) proposal.Person { return proposal.Person{ID: v.person.ID, Name: v.person.Name} }

// RecordProposal adds a step of a proposal's life to the log of acts, in the transaction of the step. The person who
// brought it about is that of the request; the service itself carries out what a crash left.
func RecordProposal(ctx context.Context, tx *store.Tx, s proposal.Change) error {
	a := operator.Act{Person: operator.Person{ID: s.By.ID, Name: s.By.Name}, Verb: operator.Verb(s.Proposal.Verb)}
	if v, is := ctx.Value(visited{}).(*visit); is && v.person.ID == s.By.ID {
		a = v.act(operator.Verb(s.Proposal.Verb), "")
	}
	if s.By == (proposal.Person{}) {
		a.Person.Name = "bursar"
	}
	a.Object, a.Before, a.After = "proposal "+s.Proposal.ID.String(), string(s.Proposal.Status), string(s.Next)
	a.Reason, a.Evidence = s.Reason, s.Evidence
	return operator.Record(ctx, tx, a)
}

// MayAct returns what package proposal asks about a person, from where people are found.
func MayAct(
	find func(ctx context.Context, tx *store.Tx, id bursar.ID) (operator.Person, error),
) func(context.Context, *store.Tx, bursar.ID, string, bursar.ID) error {
	return func(ctx context.Context, tx *store.Tx, id bursar.ID, verb string, account bursar.ID) error {
		p, err := find(ctx, tx, id)
		if errors.Is(err, store.ErrNotFound) {
			return &proposal.Denied{Verb: verb}
		}
		if err != nil {
			return err
		}
		if p.May(operator.Verb(verb), account) != nil {
			return &proposal.Denied{Verb: verb}
		}
		return nil
	}
}

// Evaluate has proposals evaluated by the people of the console, their approvals confirmed by passkeys or signed by one
// of the SSH keys that the configuration names as theirs, and each step recorded.
func Evaluate(p *proposal.Service, people *operator.Service, keys []proposal.PersonKey) {
	p.Record, p.May = RecordProposal, MayAct(people.At)
	p.Verify = func(ctx context.Context, tx *store.Tx, person bursar.ID, one store.Proposal, evidence string) error {
		if proposal.Signed(evidence) {
			return signedBy(ctx, tx, people, keys, person, one, evidence)
		}
		err := people.Confirmed(ctx, tx, person, proposal.Challenge(one), evidence)
		if errors.Is(err, operator.ErrRefused) {
			return proposal.ErrEvidence
		}
		return err
	}
}

// signedBy checks that a person's own key signed a proposal. A key is of who has the name now: names are unique among
// people, and none is given to another person.
func signedBy(
	ctx context.Context, tx *store.Tx, people *operator.Service, keys []proposal.PersonKey, person bursar.ID,
	p store.Proposal, evidence string,
) error {
	key, err := proposal.SignedBy(p, people.URL, evidence)
	if err != nil {
		return err
	}
	who, err := people.At(ctx, tx, person)
	its := proposal.PersonKey{Person: who.Name, Key: key}
	if errors.Is(err, store.ErrNotFound) || err == nil && !slices.Contains(keys, its) {
		return proposal.ErrEvidence
	}
	return err
}
