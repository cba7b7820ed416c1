package signerlog

import (
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// external compares what blocks show from our addresses and the service did not make.
func (c *comparison) external(db *store.DB) error {
	for after := int64(0); ; {
		var page []store.ExternalSpend
		err := db.View(c.ctx, func(tx *store.Tx) (err error) {
			page, err = tx.ExternalSpends().After(c.ctx, after, pageSize)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, x := range page {
			after = x.Number
			if err := c.externalSpend(x); err != nil {
				return err
			}
		}
	}
}

func (c *comparison) externalSpend(x store.ExternalSpend) error {
	if x.Status == store.ExternalAdopted || !x.OutgoingID.IsZero() {
		return nil // an outgoing transaction books it, and was compared
	}
	var resources []string
	if len(x.Reservations) > 0 {
		if err := json.Unmarshal(x.Reservations, &resources); err != nil {
			return fmt.Errorf("read external spend %d: %w", x.Number, err)
		}
	}
	if x.Height > 0 {
		c.useUp(x.Chain, resources)
	}
	var payments []chain.Payment
	if len(x.Payments) > 0 {
		if err := json.Unmarshal(x.Payments, &payments); err != nil {
			return fmt.Errorf("read external spend %d: %w", x.Number, err)
		}
	}
	of := paying(c.log.of(x.Chain, x.TxID, resources), x.TxID, payments)
	d := Difference{Kind: External, Chain: x.Chain, TxID: x.TxID, At: &x.MadeAt}
	if len(of) == 0 {
		if c.within(x.MadeAt) {
			d.Message = fmt.Sprintf("%s paid in a block, and neither the books nor this log know of it: somebody else has the "+
				"key. By the books it is %s", x.Base, x.Status)
			c.differ(d)
		}
		return nil
	}
	e := of[0]
	e.included, e.failed = true, x.Failed
	if c.within(e.at) || c.within(x.MadeAt) {
		d.Entry, d.Outgoing = e.number, &e.Outgoing
		d.Message = fmt.Sprintf("%s paid in a block what this signer signed and the books do not know: somebody else had it "+
			"signed, or the database is older. By the books it is %s", x.Base, x.Status)
		c.differ(d)
	}
	return nil
}
