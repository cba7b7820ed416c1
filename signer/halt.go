package signer

import (
	"context"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Halts is what is halted according to the service's database, with a reason for each. It contains no freezes of
// accounts, because a signer does not know whose withdrawal it signs.
type Halts struct {
	// Number grows with every change in the database, even across a restored backup.
	Number int64                     `json:"number"`
	All    string                    `json:"all,omitempty"` // why nothing at all is signed
	Chains map[bursar.ChainID]string `json:"chains,omitempty"`
	Assets []HaltedAsset             `json:"assets,omitempty"`
	// Spends are the external spends that halt a chain; see FreezeOnSpends.
	Spends []ExternalSpend `json:"spends,omitempty"`
}

// HaltedAsset is one asset of a chain whose payments are halted.
type HaltedAsset struct {
	Chain    bursar.ChainID `json:"chain"`
	Contract string         `json:"contract"` // canonical; empty for the native asset
	Reason   string         `json:"reason"`
}

// of returns why a request of a chain is not signed, "" if it is.
func (h Halts) of(id bursar.ChainID, request chain.TxRequest) string {
	if h.All != "" {
		return h.All
	}
	if reason := h.Chains[id]; reason != "" {
		return reason
	}
	for _, a := range h.Assets {
		for _, p := range request.Payments {
			if a.Chain == id && a.Contract == p.Contract {
				return a.Reason
			}
		}
	}
	return ""
}

// halts holds the halts that a signer was sent. They are lost with its process; a signer that awaits halts then waits
// for them again.
type halts struct {
	mu       sync.Mutex
	received Halts
	unmet    bool // nothing is signed before the first halts were received
}

// maxHalts is how many chains and assets may be halted one by one; with more, everything is halted. Older halts are
// added to the newer ones, so without a bound a service in other hands could fill the memory.
const maxHalts = 4096

// AwaitHalts refuses every signature until SendHalts was called once: a remote signer does not know at its start what
// is halted.
func (s *Signer) AwaitHalts() {
	s.halts.mu.Lock()
	defer s.halts.mu.Unlock()
	s.halts.unmet = true
}

// SendHalts replaces the halts, for later signatures and for those in progress. Halts older than those known lift
// nothing: they can only add. It returns the number that the signer has; a greater number than the one sent means that
// the caller's database is older than another's.
func (s *Signer) SendHalts(ctx context.Context, h Halts) (known int64, err error) {
	s.halts.mu.Lock()
	defer s.halts.mu.Unlock()
	spends := h.Spends
	h.Spends = nil
	s.halts.unmet = false
	if h.Number < s.halts.received.Number {
		h = s.halts.received.with(h)
	}
	if len(h.Chains)+len(h.Assets) > maxHalts {
		h = Halts{Number: h.Number, All: "there are more halts than a signer holds"}
	}
	s.halts.received = h
	return h.Number, s.spent(ctx, spends)
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

// mayLeave refuses a request that is halted.
func (s *Signer) mayLeave(id bursar.ChainID, request chain.TxRequest) error {
	s.halts.mu.Lock()
	defer s.halts.mu.Unlock()
	reason := s.halts.received.of(id, request)
	if s.halts.unmet {
		reason = "no service has sent the halts since the signer started"
	}
	if reason == "" {
		return nil
	}
	return &RefusalError{Chain: id, OutgoingID: request.ID, Reason: ReasonHalted, Detail: reason}
}
