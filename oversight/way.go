package oversight

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// way answers where the money of a deposit is.
type way struct {
	*reading
	d     bursar.Deposit
	state store.ChainState
	notes []string
}

// steps are seen, confirmations, checks, credited, swept and settled. The first one that is not done says what it waits
// for.
func (w *way) steps(ctx context.Context) ([]Step, error) {
	var err error
	if w.state, err = w.tx.Chains().State(ctx, w.d.Chain); ignoreMissing(err) != nil {
		return nil, err
	}
	credited, err := w.credited(ctx)
	if err != nil {
		return nil, err
	}
	list := []Step{w.seen(), w.confirmed(), w.checked(), credited}
	moved, err := w.moved(ctx)
	return append(list, moved...), err
}

func (w *way) seen() Step {
	s := Step{Key: "seen", Title: "Seen in a block", State: Done, At: w.d.SeenAt, Chain: string(w.d.Chain), TxID: w.d.TxID}
	switch {
	case w.inside():
		s.Title, s.TxID = "Transferred within the service", ""
		s.Text = "A withdrawal to a wallet of this service: nothing moves on the chain."
	case w.d.Status == bursar.DepositOrphaned:
		s.State = Stopped
		s.Text = "Its block was reorged out before it was credited. If the transaction enters another block, it counts again."
	case w.d.Status == bursar.DepositReversed:
		s.State = Stopped
		s.Text = "Its block was reorged out after it had been credited: the credit is reversed. If the transaction enters " +
			"another block, it is credited again."
	default:
		s.Text = fmt.Sprintf("In block %d of %s.", w.d.Height, w.d.Chain)
	}
	return s
}

// inside reports whether it was transferred within the service, without a block.
func (w *way) inside() bool { return w.d.Height == 0 && w.d.Status == bursar.DepositConfirmed }

// gone reports whether its block is no longer on the chain.
func (w *way) gone() bool {
	return w.d.Status == bursar.DepositOrphaned || w.d.Status == bursar.DepositReversed
}

func (w *way) confirmed() Step {
	s := Step{Key: "confirmations", Title: "Confirmations", State: Done}
	has := w.d.Confirmations(w.state.Latest)
	switch {
	case w.inside():
		s.State, s.Text = Skipped, "A transfer within the service needs none."
	case w.gone():
		s.State, s.Text = Later, "It is in no block."
	case w.d.Status != bursar.DepositPending:
		s.Text = fmt.Sprintf("%d confirmations.", has)
	case w.final():
		s.Text = fmt.Sprintf("%d confirmations, and its block is final.", has)
	default:
		s.State = Now
		s.Text = w.waitsForBlocks(has)
	}
	return s
}

// final reports whether its block is final and has the confirmations that its amount needs.
func (w *way) final() bool {
	return w.d.Height > 0 && w.d.Height <= w.state.Final && w.d.Confirmations(w.state.Latest) >= uint64(w.d.Required)
}

func (w *way) waitsForBlocks(has uint64) string {
	s := fmt.Sprintf("%d confirmations so far.", has)
	if w.d.Height > w.state.Final {
		s += fmt.Sprintf(" Waits until block %d is final: the final block is %d now.", w.d.Height, w.state.Final)
	}
	if has < uint64(w.d.Required) {
		s += fmt.Sprintf(" Its amount needs %d confirmations.", w.d.Required)
	}
	if c, known := w.Chains[w.d.Chain]; known && c.Capabilities().Confirmations > 0 {
		s += fmt.Sprintf(" A deposit on this chain is usually final after %d.", c.Capabilities().Confirmations)
	}
	if w.state.Failing != "" {
		s += " The chain cannot be followed now: " + w.state.Failing
	}
	return s
}

// checked is what may hold a deposit between its last confirmation and its credit.
func (w *way) checked() Step {
	s := Step{Key: "checks", Title: "Checks", State: Done, Text: "None is needed."}
	c, err := w.Registry.Get(w.d.Currency)
	asks := err == nil && c.CreditQuorum.Asks(w.d.Amount)
	if asks {
		s.Text = fmt.Sprintf("%d nodes of different hosts reported it.", c.CreditQuorum.Endpoints)
	}
	switch {
	case w.gone():
		s.State, s.Text = Later, ""
	case w.d.Status == bursar.DepositBelowMinimum:
		s.State, s.Text = Stopped, "It is below the smallest deposit that is credited."
		if err == nil {
			s.Text = "It is below the smallest deposit that is credited, " + c.Text(c.Minimum) + "."
		}
	case w.d.Status != bursar.DepositPending:
	case err != nil:
		s.State, s.Text = Now, "Its currency is not configured: it is not credited until it is."
	case !w.final():
		s.State = Later
		if asks {
			s.Text = fmt.Sprintf("%d nodes of different hosts must report it.", c.CreditQuorum.Endpoints)
		}
	case asks:
		s.State = Now
		s.Text = fmt.Sprintf("Waits until %d nodes of different hosts report the same block and transfer.",
			c.CreditQuorum.Endpoints)
	default:
		s.State = Now
		s.Text = "It is final. The follower credits it when it next looks at the chain, " +
			"unless the currency is suspended: the alarms on the page Home say so."
	}
	return s
}

func (w *way) credited(ctx context.Context) (Step, error) {
	s := Step{Key: "credited", Title: "Credited", State: Later}
	switch {
	case w.d.Status == bursar.DepositReversed:
		s.State, s.At = Stopped, w.d.ConfirmedAt
		s.Text = "The credit is reversed."
	case w.d.Status != bursar.DepositConfirmed:
		s.Text = "Not yet."
		if w.d.Status == bursar.DepositBelowMinimum || w.gone() {
			s.Text = "Not while it is as it is."
		}
	case w.d.IsCustomers():
		s.State, s.At = Done, w.d.ConfirmedAt
		s.Text = fmt.Sprintf("%s %s to the account, after a fee of %s.", w.amount(w.d.Currency,
			w.d.Amount.SubOrZero(w.d.Fee)), w.d.Currency, w.amount(w.d.Currency, w.d.Fee))
	case w.d.Purpose == bursar.ForUnattributed || w.d.Purpose == bursar.ForRefunded:
		return w.unattributed(ctx)
	default:
		s.State, s.At = Done, w.d.ConfirmedAt
		s.Text = "Booked: " + purposes[w.d.Purpose] + "."
	}
	return s, nil
}

// unattributed is shown in place of the credit of a deposit that belonged to no wallet.
func (w *way) unattributed(ctx context.Context) (Step, error) {
	s := Step{Key: "credited", Title: "Resolved", State: Now, Text: "It belongs to no wallet, and waits for a person to " +
		"assign it to a customer, to refund it to its sender, or to keep it."}
	found, err := w.tx.Resolutions().About(ctx, []bursar.Deposit{w.d})
	n, is := found[w.d.ID]
	if err != nil || !is {
		return s, err
	}
	s.Text, s.At, s.TxID, s.Chain = resolved(n)+".", n.CompletedAt, n.TxID, string(n.Chain)
	switch n.Status {
	case bursar.ResolutionDone:
		s.State = Done
	case bursar.ResolutionFailed:
		s.Text += " It waits for another resolution."
		if n.Error != "" {
			s.Text += " " + n.Error
		}
	}
	return s, nil
}

// moved is how the value gets to the hot wallet.
func (w *way) moved(ctx context.Context) ([]Step, error) {
	swept := Step{Key: "swept", Title: "Swept", State: Skipped}
	settled := Step{Key: "settled", Title: "In the hot wallet", State: Later}
	c, known := w.Chains[w.d.Chain]
	switch {
	case !known:
		swept.State, swept.Text = Later, "The chain is not configured now."
	case w.d.Status == bursar.DepositBelowMinimum, w.d.Status == bursar.DepositPending, w.gone():
		swept.State = Later
	case w.inside():
		swept.Text = "Nothing moves on the chain."
		settled.State, settled.At = Done, w.d.ConfirmedAt
	case w.isCold(w.d.Chain, w.d.Address.Base):
		swept.Text = "A cold wallet received it."
		settled.State, settled.Title, settled.At = Done, "In a cold wallet", w.d.ConfirmedAt
	case w.Hot(w.d.Chain) == w.d.Address.Base:
		swept.Text = "The hot wallet itself received it."
		settled.State, settled.At = Done, w.d.ConfirmedAt
	case c.Capabilities().Model == chain.UTXOModel:
		swept.Text = "On this chain payments spend what wallets received directly."
		settled.State, settled.Title, settled.At = Done, "Spendable", w.d.ConfirmedAt
		settled.Text = "It can pay withdrawals."
	default:
		return w.sweep(ctx)
	}
	return []Step{swept, settled}, nil
}

// sweep looks for the sweep that moved the deposit, or for what its address waits for.
func (w *way) sweep(ctx context.Context) ([]Step, error) {
	swept := Step{Key: "swept", Title: "Swept to the hot wallet", State: Now, Chain: string(w.d.Chain)}
	settled := Step{Key: "settled", Title: "In the hot wallet", State: Later}
	sweep, err := w.tx.Outgoing().SweepAfter(ctx, w.d.Chain, w.d.Address.Base, w.d.Currency, w.d.ConfirmedAt)
	if err == nil {
		swept.TxID, swept.Text = sweep.TxID, sweepText(sweep)
		if sweep.Status == bursar.OutgoingFinal {
			swept.State, settled.State = Done, Done
			settled.Text = fmt.Sprintf("Since block %d.", sweep.Height)
			if sweep.Failed {
				swept.State, swept.Text, settled.State = Now, "Its last sweep failed on the chain: it is swept again.", Later
				settled.Text = ""
			}
		}
		return []Step{swept, settled}, nil
	}
	if ignoreMissing(err) != nil {
		return nil, err
	}
	held, err := w.tx.Holdings().Current(ctx, w.d.Chain, w.d.Address.Base, w.d.Contract)
	switch {
	case ignoreMissing(err) != nil:
		return nil, err
	case err == nil && held.Due:
		swept.Text = "The address holds " + w.amount(w.d.Currency, held.Amount) + " " + string(w.d.Currency) +
			". It is swept as soon as that is worth the network's fee."
	default:
		swept.Text = "It stays at the deposit address, which is not worth a sweep yet. The customer can spend it."
	}
	return []Step{swept, settled}, nil
}

func sweepText(o bursar.OutgoingTx) string {
	switch {
	case o.WaitsFor != "":
		return waits[o.WaitsFor]
	case o.Error != "":
		return "It cannot go on: " + o.Error
	}
	return outgoingTexts[o.Status]
}

// outgoingTexts say where an outgoing transaction is.
var outgoingTexts = map[bursar.OutgoingStatus]string{
	bursar.OutgoingNew:       "Requested, and not built yet.",
	bursar.OutgoingReserved:  "Built, and not signed yet.",
	bursar.OutgoingSigned:    "Signed, and not sent yet.",
	bursar.OutgoingSent:      "Sent to the chain. It waits until its block is final.",
	bursar.OutgoingFinal:     "Final on the chain.",
	bursar.OutgoingAbandoned: "Abandoned: it has moved nothing and never can.",
}

// waits say what an outgoing transaction waits for.
var waits = map[bursar.OutgoingWait]string{
	bursar.WaitsForFunds:    "Waits for funds: the paying address holds too little.",
	bursar.WaitsForFee:      "Waits for the network's fee, which is above the configured limit.",
	bursar.WaitsForInputs:   "Waits: too many unspent outputs would be needed.",
	bursar.WaitsForGas:      "Waits for gas: a top-up of the paying address is requested.",
	bursar.WaitsForApproval: "Waits for the approvals that the signer's policy demands.",
	bursar.WaitsForOrder:    "Waits: the signer refuses the order of the client, or misses it. There is an alarm.",
	bursar.WaitsForDeposit:  "Waits: its deposits were rolled back.",
}
