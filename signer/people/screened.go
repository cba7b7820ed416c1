package people

import (
	"errors"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/verdict"
)

// passed returns when a screening service of the policy passed the payment of an order, or why that does not count.
//
// The attack: anyone who controls the service pays an address that the screening service rejects or wants reviewed,
// shows its pass of another payment, or one from before it was listed.
func (e *evaluating) passed(o approval.Order, s chain.Screening) (time.Time, error) {
	if s.Text == "" {
		return time.Time{}, errors.New("there is no answer")
	}
	request, err := verdict.ParseRequest(s.Request)
	if err != nil {
		return time.Time{}, err
	}
	// The signer does not know the ID of the withdrawal, which is Subject: the order is unique within its account.
	is := verdict.Request{Subject: request.Subject, Kind: verdict.OfPayout, Order: o.ID, Account: o.Account,
		Chain: o.Chain, Contract: o.Contract, Address: o.To, Units: o.Units}
	if !request.Same(is) {
		return time.Time{}, errors.New("the service was asked about another payment")
	}
	err = errors.New("the policy has no screening key")
	for _, key := range e.policy.Screeners {
		var a verdict.Answer
		if a, err = verdict.Verify(key, request, s.Text, s.Signature, e.Now); err != nil {
			continue
		}
		if a.Verdict != verdict.Pass {
			return time.Time{}, errors.New("the service says " + string(a.Verdict))
		}
		return a.Created, nil
	}
	return time.Time{}, err
}
