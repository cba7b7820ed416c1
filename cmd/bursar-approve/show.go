package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
)

// amountOf returns the amount of an order in whole units with its asset's name in the policy, whose hash is signed too.
func amountOf(policy roster.Policy, o approval.Order) (amount, name string, err error) {
	for _, a := range policy.Assets {
		if a.Chain == o.Chain && a.Contract == o.Contract {
			return o.Units.Decimal(a.Decimals, 0), a.Name, nil
		}
	}
	return "", "", fmt.Errorf("the policy has no asset %s of %s, so its amount cannot be shown and nothing is signed",
		approval.AssetText(o.Contract), o.Chain)
}

// show shows all that an approval says, from its text alone.
func (s *session) show(policy roster.Policy, text string) (a approval.Approval, amount string, err error) {
	if a, err = approval.ParseApproval(text); err != nil {
		return a, "", err
	}
	amount, name, err := amountOf(policy, a.Order)
	if err != nil {
		return a, "", err
	}
	o := a.Order
	tag := "none"
	if o.To.HasMemo {
		tag = fmt.Sprint(o.To.Memo)
	}
	s.say("")
	s.say("Decision   %s, as %s, until %s", a.Decision, a.Role, approval.Moment(a.Expires))
	if a.Payment > 1 {
		s.say("AGAIN      this is PAYMENT %d of this order. The signer allowed it before: the money can leave %d TIMES.",
			a.Payment, a.Payment)
		s.say("           Make sure that no transaction of before can be included any more.")
	}
	s.say("Pay        %s %s", amount, name)
	s.say("To         %s", o.To.Base)
	s.say("Tag        %s", tag)
	s.say("Chain      %s, asset %s", o.Chain, approval.AssetText(o.Contract))
	s.say("Account    %s", accountText(o.Account))
	s.say("Order      %s of %s, payable until %s", o.ID, approval.Moment(o.Created), approval.Moment(o.Expires))
	if o.Requester != "" {
		s.say("Ordered by %s", o.Requester)
	}
	if !o.MaxFee.IsZero() {
		s.say("Highest fee %s units of the native asset", o.MaxFee)
	}
	s.say("Signer     %s, policy %d", a.Instance, a.Version)
	return a, amount, nil
}

func accountText(id bursar.ID) string {
	if id.IsZero() {
		return "none: the operator pays, such as a refund to a sender"
	}
	return id.String()
}

// quoted is text of the service as it is shown: quoted, so that it makes no lines of its own, and short.
func quoted(text string) string {
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + "..."
	}
	return strconv.Quote(text)
}

const maxQuoted = 200

// history shows what was signed for an order before: by others as the service says, checked, and by this person. It
// comes before what is parsed, so that nothing of the service stands between that and the question.
func (s *session) history(policy roster.Policy, one asked) error {
	s.say("")
	if one.Reason != "" {
		s.say("The service says: %s", quoted(one.Reason))
	}
	if one.TxID != "" {
		s.say("WARNING    a transaction that pays this was signed before: %s", quoted(one.TxID))
		s.say("           \"It failed, please sign again\" is how people are robbed: find out why it failed first.")
	}
	for _, signed := range one.Approvals {
		who, err := policy.ApprovedBy(signed.Text, signed.Signature, time.Time{})
		a, parseErr := approval.ParseApproval(signed.Text)
		if err != nil || parseErr != nil || a.Order != one.order {
			s.say("Signed     by nobody who counts: an approval that is not valid")
			continue
		}
		ended := ""
		if !s.now().Before(a.Expires) {
			ended = ", which has ended"
		}
		s.say("Signed     %s by %s with %s at %s until %s%s", a.Decision, who.Name, who.With, approval.Moment(a.Created),
			approval.Moment(a.Expires), ended)
	}
	lines, err := s.signedBefore(one.order)
	for _, line := range lines {
		s.say("By you     %s", line)
	}
	return err
}
