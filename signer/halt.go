package signer

import (
	"context"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Halts is what is halted, as the service's database says: a reason for each. Freezes of accounts are not among them,
// for a signer does not know whose an order is.
type Halts struct {
	// Number grows with every change in the database, also across a restored backup.
	Number int64                     `json:"number"`
	All    string                    `json:"all,omitempty"` // why nothing at all is signed
	Chains map[bursar.ChainID]string `json:"chains,omitempty"`
	Assets []HaltedAsset             `json:"assets,omitempty"`
}

// HaltedAsset is one asset of a chain that is not paid.
type HaltedAsset struct {
	Chain    bursar.ChainID `json:"chain"`
	Contract string         `json:"contract"` // canonical; empty for the native asset
	Reason   string         `json:"reason"`
}

// of returns why an order of a chain is not signed, "" while it is.
func (h Halts) of(id bursar.ChainID, order chain.TxRequest) string {
	if h.All != "" {
		return h.All
	}
	if reason := h.Chains[id]; reason != "" {
		return reason
	}
	for _, a := range h.Assets {
		for _, p := range order.Payments {
			if a.Chain == id && a.Contract == p.Contract {
				return a.Reason
			}
		}
	}
	return ""
}

// halts is what a signer was told. It forgets with its process; then it may wait until it is told again.
type halts struct {
	mu    sync.Mutex
	told  Halts
	unmet bool // nothing is signed before the first word
}

// AwaitHalts refuses every signature until TellHalts was called once: a signer of its own does not know after its start
// what is halted.
func (s *Signer) AwaitHalts() {
	s.halts.mu.Lock()
	defer s.halts.mu.Unlock()
	s.halts.unmet = true
}

// SendHalts replaces what is halted, from now on and for what is being signed. What is older than what was told before
// lifts nothing: it can only add. It returns the number that the signer goes by; a greater one than was told means that
// the teller's database is older than another's.
func (s *Signer) SendHalts(_ context.Context, h Halts) (known int64, err error) {
	s.halts.mu.Lock()
	defer s.halts.mu.Unlock()
	s.halts.unmet = false
	if h.Number < s.halts.told.Number {
		h = s.halts.told.with(h)
	}
	s.halts.told = h
	return h.Number, nil
}

// with adds other halts and keeps the number.
func (h Halts) with(older Halts) Halts {
	sum := Halts{
		Number: h.Number,
		All:    h.All,
		Chains: map[bursar.ChainID]string{},
		Assets: append([]HaltedAsset(nil), h.Assets...),
	}
	if sum.All == "" {
		sum.All = older.All
	}
	for _, all := range []map[bursar.ChainID]string{older.Chains, h.Chains} {
		for id, reason := range all {
			sum.Chains[id] = reason
		}
	}
	for _, a := range older.Assets {
		if h.of(a.Chain, chain.TxRequest{Payments: []chain.Payment{{Contract: a.Contract}}}) == "" {
			sum.Assets = append(sum.Assets, a)
		}
	}
	return sum
}

// mayLeave refuses what is halted.
func (s *Signer) mayLeave(id bursar.ChainID, order chain.TxRequest) error {
	s.halts.mu.Lock()
	defer s.halts.mu.Unlock()
	reason := s.halts.told.of(id, order)
	if s.halts.unmet {
		reason = "no service has said since the start what is halted"
	}
	if reason == "" {
		return nil
	}
	return &RefusalError{id, order.ID, ReasonHalted, reason}
}
