package solana

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

const (
	// lamportsPerSignature is the base fee (docs: transaction fees). An unsigned transaction's whole fee is compared
	// with the node's.
	lamportsPerSignature = 5000
	microLamports        = 1_000_000
	// maxUnits is the most compute units that one transaction may reserve (Agave: MAX_COMPUTE_UNIT_LIMIT).
	maxUnits = 1_400_000
	// maxPriceAllowed keeps any fee of this adapter far below 2^64 lamports.
	maxPriceAllowed = 1_000_000_000_000
)

// unitsFor returns the compute units to reserve for a transaction. Each instruction of the built-in programs takes 150
// units; there are two more instructions than transfers. The rest is a margin against a change of that price, and costs
// almost nothing.
func unitsFor(transfers int) uint32 { return 1000 + 500*uint32(transfers) }

// recentFee is one slot of getRecentPrioritizationFees: the lowest fee there of a transaction that wrote to the
// requested accounts.
type recentFee struct {
	Price uint64 `json:"prioritizationFee"`
}

// price returns a price that three quarters of the recent slots would have accepted, within the configured limits.
func (r *Rules) price(recent []recentFee) uint64 {
	prices := make([]uint64, len(recent))
	for i, f := range recent {
		prices[i] = f.Price
	}
	slices.Sort(prices)
	price := uint64(0)
	if len(prices) > 0 {
		price = prices[len(prices)*3/4]
	}
	return min(max(price, r.cfg.MinPrice), r.cfg.MaxPrice)
}

var errFeeTooHigh = errors.New("the network's price is above the limit")

// offer sets the price of a message's compute units, in the way that its format requires.
func (m *message) offer(price uint64) error {
	if m.format != v1 {
		m.price, m.priority = price, 0
		return nil
	}
	priority, err := priorityOf(price, m.limit)
	m.price, m.priority = 0, priority
	return err
}

// fit lowers a message's price until its fee is within a limit.
func (m *message) fit(limit bursar.Amount) (uint64, error) {
	fee, err := m.fee()
	if err != nil {
		return 0, err
	}
	most, fits := limit.Uint64()
	if !fits || fee <= most {
		return fee, nil
	}
	if most < lamportsPerSignature {
		return 0, fmt.Errorf("%w: %w", errFeeTooHigh, &chain.FeeLimitError{Fee: bursar.Units(lamportsPerSignature),
			Limit: limit})
	}
	// A fee within the limit exists, and fee is above it, so what is left for priority is small: no overflow.
	if left := most - lamportsPerSignature; m.format == v1 {
		m.priority = left
	} else {
		m.price = left * microLamports / uint64(m.limit)
	}
	return m.fee()
}
