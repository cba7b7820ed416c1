package signer

import (
	"testing"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
)

// The attack: one approver, who chooses the nonce of each of their approvals, approves a payment with the ID of the
// compromise order as the nonce. The order would count as used, and nothing would move once it is needed.
func TestNoApprovalUsesUpACompromiseOrder(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	c := d.compromise()
	d.must(d.drill(c.Text(), ann, bob))
	r := d.ordered(1, 11, ann)
	a := d.approvalOf(d.orderOf(1, r.chain, r.contents.Payments[0]))
	a.Nonce = c.ID
	r.unsigned.Orders[0].Approvals = append(r.unsigned.Orders[0].Approvals, chain.SignedText{Text: a.Text(),
		Signature: signedBy(t, approval.NamespaceApproval, a.Text(), cat)[0]})
	d.wantReason(r, "")
	if p, err := d.signer.Policy(t.Context()); err != nil || p.Compromise.Trouble != "" {
		t.Errorf("the status says %q, %v, want no trouble", p.Compromise.Trouble, err)
	}
	if err := d.useText(c.Text(), ann, bob); err != nil {
		t.Errorf("the order is refused: %v, want it used", err)
	}
}
