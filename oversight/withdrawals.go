package oversight

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// walkWithdrawals reads those of one account and of a reference by an index, however old they are, and the others by a
// walk.
func (r *reading) walkWithdrawals(
	ctx context.Context, f store.WithdrawalFilter, w store.Walk,
) (list []bursar.Withdrawal, next int64, err error) {
	switch {
	case len(w.Accounts) == 1:
		list, next, err = r.tx.Withdrawals().Select(ctx, w.Accounts[0], f, store.Page{Before: w.Before, Limit: w.Limit})
	case f.Reference != "":
		list, err = r.tx.Withdrawals().Found(ctx, w.Accounts, f, w.Limit)
		return list, 0, err
	default:
		return r.tx.Withdrawals().Walk(ctx, f, w)
	}
	return list, max(next, nextOf(list, w.Limit, func(w bursar.Withdrawal) int64 { return w.Number })), err
}

func readWithdrawal(ctx context.Context, r *reading) (s Sheet, err error) {
	w, err := seen(ctx, r, r.tx.Withdrawals().ByID, func(w bursar.Withdrawal) bursar.ID { return w.AccountID })
	if err != nil {
		return s, err
	}
	s.Title = "Withdrawal of " + r.amount(w.Currency, w.Amount) + " " + string(w.Currency)
	s.Object, s.Account = w.ID, w.AccountID
	r.withdrawalFacts(&s, w)
	p := payment{reading: r, w: w}
	if err := p.read(ctx); err != nil {
		return s, err
	}
	s.Steps = p.steps()
	s.Tables = p.approvalTable()
	s.Command = "bursar withdrawal list --account " + w.AccountID.String()
	if !w.OutgoingID.IsZero() {
		s.Command = "bursar outgoing show " + w.OutgoingID.String()
	}
	return s, nil
}

func (r *reading) withdrawalFacts(s *Sheet, w bursar.Withdrawal) {
	s.fact("id", "Withdrawal", Ident, w.ID.String())
	s.fact("status", "Status", State, string(w.Status))
	s.fact("amount", "Amount", Figure, r.amount(w.Currency, w.Amount))
	s.fact("fee", "Fee", Figure, r.amount(w.Currency, w.Fee))
	s.fact("currency", "Currency", Plain, string(w.Currency))
	c := named("/accounts", w.AccountID)
	s.link("account", "Account", Ident, c.Text, c.Link)
	s.fact("address", "To", Ident, w.Address.String())
	s.fact("hash", "Transaction", Ident, transaction(w.TxID))
	if !w.OutgoingID.IsZero() {
		s.fact("outgoing", "Outgoing transaction", Ident, w.OutgoingID.String())
	}
	s.fact("requestedBy", "Requested by", Written, w.RequestedBy)
	s.fact("reference", "Reference", Written, w.Reference)
	s.fact("metadata", "Metadata", Written, w.Metadata)
	s.fact("error", "Error", Plain, w.Error)
	s.fact("createdAt", "Requested", Moment, instant(w.CreatedAt))
	s.fact("completedAt", "Ended", Moment, instant(w.CompletedAt))
}

// payment is the way of a withdrawal.
type payment struct {
	*reading
	w         bursar.Withdrawal
	outgoing  bursar.OutgoingTx // zero where none is made
	chain     bursar.ChainID
	state     store.ChainState
	halted    []store.Halt
	frozen    string
	approvals []store.Approval
}

func (p *payment) read(ctx context.Context) (err error) {
	if p.chain, err = p.tx.Withdrawals().Chain(ctx, p.w.ID); err != nil {
		return err
	}
	if p.state, err = p.tx.Chains().State(ctx, p.chain); ignoreMissing(err) != nil {
		return err
	}
	if !p.w.OutgoingID.IsZero() {
		if p.outgoing, err = p.tx.Outgoing().Get(ctx, p.w.OutgoingID); ignoreMissing(err) != nil {
			return err
		}
	}
	account, err := p.tx.Accounts().Get(ctx, p.w.AccountID)
	if err != nil {
		return err
	}
	p.frozen = account.Frozen
	if p.halted, err = p.tx.Halts().Of(ctx, store.HaltAll, store.HaltChain(p.chain),
		store.HaltCurrency(p.w.Currency)); err != nil {
		return err
	}
	p.approvals, err = p.tx.Approvals().Of(ctx, p.w.ID)
	return err
}

func (p *payment) steps() []Step {
	return []Step{p.requested(), p.approved(), p.signed(), p.sent(), p.paid()}
}

func (p *payment) requested() Step {
	s := Step{Key: "requested", Title: "Requested", State: Done, At: p.w.CreatedAt,
		Text: "The amount and the fee are held."}
	if p.inside() {
		s.Text = "The amount and the fee left the balance."
	}
	if p.w.RequestedBy != "" {
		s.Text = "By " + p.w.RequestedBy + ". " + s.Text
	}
	return s
}

func (p *payment) approved() Step {
	s := Step{Key: "approved", Title: "Approved", State: Done, Text: "It is released."}
	switch p.w.Status {
	case bursar.WithdrawalPendingApproval:
		s.State, s.Text = Now, "Its amount is above what is paid without a person. It waits for an operator to approve it."
	case bursar.WithdrawalRejected:
		s.State, s.At, s.Text = Stopped, p.w.CompletedAt, "It was rejected, and its money is released. "+p.w.Error
	case bursar.WithdrawalCancelled:
		s.State, s.At, s.Text = Stopped, p.w.CompletedAt, "It was cancelled, and its money is released. "+p.w.Error
	}
	if n := len(p.approvals); n > 0 {
		s.Text += fmt.Sprintf(" %d signed decisions of persons are kept; they stand below.", n)
	}
	return s
}

// ended reports whether it ended before it was signed.
func (p *payment) ended() bool {
	return p.w.Status == bursar.WithdrawalRejected || p.w.Status == bursar.WithdrawalCancelled
}

// inside reports whether it was paid to a wallet of this service, without a chain.
func (p *payment) inside() bool { return strings.HasPrefix(p.w.TxID, "internal:") }

func (p *payment) signed() Step {
	s := Step{Key: "signed", Title: "Signed", State: Done, Chain: string(p.chain), TxID: transaction(p.w.TxID)}
	switch {
	case p.ended() || p.w.Status == bursar.WithdrawalPendingApproval:
		s.State = Later
	case p.inside():
		s.State, s.Text = Skipped, "A transfer within the service: nothing is signed."
	case p.w.Status == bursar.WithdrawalFailed && p.w.TxID == "":
		s.State, s.Text = Stopped, p.w.Error
	case p.w.Status == bursar.WithdrawalQueued:
		s.State, s.Text = Now, p.why()
	}
	return s
}

// why says why a queued withdrawal is not signed yet: what holds it most comes first.
func (p *payment) why() string {
	switch {
	case p.frozen != "":
		return "Waits: the account is frozen, because " + p.frozen + "."
	case len(p.halted) > 0:
		return "Waits: " + p.halted[0].Scope.String() + " are halted: " + p.halted[0].Reason
	case p.state.Failing != "":
		return "Waits: the chain cannot be followed now: " + p.state.Failing
	case p.outgoing.ID.IsZero():
		return "Waits to be taken into a transaction. That happens within seconds, unless the queue is long."
	case p.outgoing.WaitsFor != "":
		s := waits[p.outgoing.WaitsFor]
		if p.outgoing.Lacks != "" && !p.outgoing.Missing.IsZero() {
			s += " " + p.amount(p.outgoing.Lacks, p.outgoing.Missing) + " " + string(p.outgoing.Lacks) + " are missing."
		}
		return s
	}
	return sweepText(p.outgoing)
}

func (p *payment) sent() Step {
	s := Step{Key: "broadcast", Title: "Sent to the chain", State: Later}
	switch p.w.Status {
	case bursar.WithdrawalSigned:
		s.State, s.Text = Now, "Its transaction is signed and stored, and no node has taken it yet."
		if p.outgoing.Error != "" {
			s.Text += " " + p.outgoing.Error
		}
	case bursar.WithdrawalBroadcast, bursar.WithdrawalConfirmed:
		s.State = Done
		if p.inside() {
			s.State = Skipped
		}
	}
	if p.outgoing.Versions > 1 {
		s.Text += fmt.Sprintf(" It was signed %d times, each with a higher fee: at most one of these can enter a block.",
			p.outgoing.Versions)
	}
	return s
}

func (p *payment) paid() Step {
	s := Step{Key: "done", Title: "Paid", State: Later}
	switch p.w.Status {
	case bursar.WithdrawalConfirmed:
		s.State, s.At = Done, p.w.CompletedAt
		s.Text = "Credited to a wallet of this service."
		if !p.inside() {
			s.Text = fmt.Sprintf("Final in block %d.", p.outgoing.Height)
		}
	case bursar.WithdrawalFailed:
		s.State, s.At = Stopped, p.w.CompletedAt
		s.Text = "The chain proved that it can never pay. Its money is released. " + p.w.Error
	case bursar.WithdrawalBroadcast:
		s.State, s.Text = Now, p.confirmations()
	}
	return s
}

func (p *payment) confirmations() string {
	if p.outgoing.Height == 0 {
		return fmt.Sprintf("Waits for a block. It was sent when block %d was the newest; now that is %d.",
			p.outgoing.SentAt, p.state.Latest)
	}
	has := uint64(0)
	if p.state.Latest >= p.outgoing.Height {
		has = p.state.Latest - p.outgoing.Height + 1
	}
	return fmt.Sprintf("In block %d with %d confirmations. Waits until that block is final: the final block is %d now.",
		p.outgoing.Height, has, p.state.Final)
}

func (p *payment) approvalTable() []Table {
	if len(p.approvals) == 0 {
		return nil
	}
	t := Table{Key: "approvals", Title: "Signed decisions", Columns: []Column{{"person", "Person", Written},
		{"text", "What was signed", Written}}}
	for _, a := range p.approvals {
		t.Rows = append(t.Rows, []Cell{text(a.Person), text(a.Text)})
	}
	return []Table{t}
}
