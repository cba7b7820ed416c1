package signerlog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// entry evaluates one entry after all of the books were read.
func (c *comparison) entry(db *store.DB, e *entry) error {
	if !c.within(e.at) {
		return nil
	}
	c.report.Signed[e.Kind]++
	if !e.Identified() {
		c.report.Earlier++
	}
	beaten := slices.ContainsFunc(e.Resources(), func(resource string) bool {
		by := c.used[key(e.Chain, resource)]
		return by != nil && by != e
	})
	switch {
	case e.included:
		c.report.Included++
		if e.failed {
			c.report.Failed++
		}
	case beaten || e.found && e.status == bursar.OutgoingFinal:
		c.report.Replaced++
	case e.found && e.status == bursar.OutgoingAbandoned:
		c.report.Ended++
	case e.found:
		c.report.Waiting++
	}
	if e.found {
		return nil
	}
	return c.unbooked(db, e, beaten)
}

// unbooked notes an entry whose bytes the books do not have. A transaction of ours that was built again because the
// signature was withheld, while a halt began, is such a one as well, and harmless once another used the same.
func (c *comparison) unbooked(db *store.DB, e *entry, beaten bool) error {
	var p bursar.OutgoingTx
	err := db.View(c.ctx, func(tx *store.Tx) (err error) {
		p, err = tx.Outgoing().Get(c.ctx, e.Outgoing)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	danger := "it can be included at any time, unless it has expired: look for it on the chain"
	switch {
	case e.included:
		danger = "it is in a block"
	case beaten:
		danger = "it can never be included, as another transaction used the same"
	case !e.Identified():
		danger = "an earlier release did not note what it uses, so that it cannot be said whether it can be included"
	}
	if err != nil {
		c.differs(UnknownToBooks, e, e.TxID, "the signer signed %s, and the books have no such outgoing transaction; %s",
			c.says(e), danger)
		return nil
	}
	request, err := outgoing.DecodeRequest(p)
	if err != nil {
		return err
	}
	if why := c.unlike(e, request); why != "" {
		c.differs(OtherPayments, e, e.TxID, "%s; these bytes are not in the books, and %s", why, danger)
		return nil
	}
	if !beaten {
		c.differs(NotStored, e, e.TxID, "the signer signed %s, and the books have other transactions for it, but not these "+
			"bytes; %s", c.says(e), danger)
	}
	return nil
}

// says describes what an entry pays.
func (c *comparison) says(e *entry) string {
	text := string(e.Kind)
	for i, p := range outside(e.SignedEntry) {
		if i == 3 {
			return text + ", …"
		}
		text += fmt.Sprintf(", %s to %s", c.text(e.Chain, p.Contract, p.Amount), p.Address)
	}
	return text
}

// outside returns the payments of an entry without what returns home.
func outside(e signer.SignedEntry) []chain.Payment {
	return slices.DeleteFunc(slices.Clone(e.Payments), func(p chain.Payment) bool {
		return e.Home != "" && p.Address == bursar.Address{Base: e.Home}
	})
}
