package recovery

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Shown is an external spend as an operator sees it.
type Shown struct {
	store.ExternalSpend
	Payments    []chain.Payment
	Resources   []string
	Conflicting []bursar.OutgoingTx // outgoing transactions that needed what it used
}

// Show reads what an external spend did, and which outgoing transactions it replaced.
func (a Assessor) Show(ctx context.Context, tx *store.Tx, x store.ExternalSpend) (Shown, error) {
	shown := Shown{ExternalSpend: x}
	if err := json.Unmarshal(x.Reservations, &shown.Resources); err != nil {
		return shown, fmt.Errorf("read what external spend %s used: %w", x.TxID, err)
	}
	if err := json.Unmarshal(x.Payments, &shown.Payments); err != nil {
		return shown, fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	owners, err := tx.Reservations().Owners(ctx, a.Capabilities.ID, shown.Resources)
	if err != nil {
		return shown, err
	}
	seen := map[bursar.ID]bool{}
	for _, resource := range shown.Resources {
		id, owned := owners[resource]
		if !owned || seen[id] {
			continue
		}
		seen[id] = true
		p, err := tx.Outgoing().Get(ctx, id)
		if err != nil {
			return shown, err
		}
		if p.Status != bursar.OutgoingFinal && p.Status != bursar.OutgoingAbandoned && p.Height == 0 {
			shown.Conflicting = append(shown.Conflicting, p)
		}
	}
	return shown, nil
}
