package xrpl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain/rpc"
)

// A node reports its network_id only if its [network_id] is configured, which a mainnet node does not need (xrpld 3.0,
// NetworkOPs.cpp and cfg/xrpld-example.cfg; Clio 2.3 copies it from the node that it forwards to). Otherwise its data
// show the network.

// evidence is what a node's data prove about the network that it serves.
type evidence int

const (
	noEvidence  evidence = iota
	provesMain           // it has a ledger of mainnet
	provesOther          // it lacks an entry that every mainnet node has
)

// mainPage is the entry of the ledger's state that lists the hashes of the ledgers 256, 512, …, 65,280. Every state
// since then contains it, so a node that has discarded all history can return it too (xrpld 3.0: keylet::skip,
// SHA-512Half of "\0s" and a number of 32 bits; Ledger::updateSkipList).
const mainPage = "692ECE2D61FD5074F298DC168177CA6E17B7282B9630E606AE519D7FE32B5940"

// pin is a mainnet ledger whose hash has been published.
type pin struct {
	height uint64
	hash   string
}

// listed is the pin that mainPage is compared with: the last in the state of ledger 40,000, which is a test file of
// ripple-binary-codec (test/fixtures/ledger-full-40000.json in XRPLF/xrpl.js).
var listed = pin{39_936, "EE15773B6C898386E770E3613E28A8BE0D365F933648CA9AC4828AD67C998B71"}

// pins are ledgers whose headers identify the network of a node that has them, if it returns no entries of the state.
// Sources: 32570 is the oldest that exists, in rubblelabs/ripple (websockets/commands_test.go) and the explorers; 38129
// and 40000 are test files of ripple-binary-codec.
func pins() []pin {
	return []pin{
		{32_570, "4109C6F2045FC7EFF4CDE8F9905D19C28820D86304080FF886B299F0206E42B5"},
		{38_129, "E6DB7365949BF9814D76BCC730B01818EB9136A89DB224F3F9F5AAE4569D758E"},
		{40_000, "16BB8E41DD96D643BC72E1981865C5D76B990464E2EA151FEAC16CDF1AE29388"},
	}
}

var errNoNetworkID = errors.New("the node does not report its network id")

// checkNetwork compares the network that a node serves with the configured one. proven is false if the node reports no
// network_id and its data prove nothing: then the configured network is assumed.
func (r *Rules) checkNetwork(ctx context.Context, s *rpc.Session, answer serverInfo) (proven bool, err error) {
	info := answer.Info
	if info.NetworkID != nil {
		return true, r.checkID(*info.NetworkID, info.Validated)
	}
	if r.cfg.NetworkID > lastBareNetwork {
		// Its transactions contain the id, and a node without one refuses them all (xrpld 3.0, Transactor.cpp,
		// preflight0). Clio omits the id while it cannot reach its node.
		if info.Clio != "" {
			return false, errNoNetworkID
		}
		return false, r.wrong("network 0, since it has no [network_id]")
	}
	held, _ := parseRanges(info.Complete) // a malformed list is reported where it is used
	found, err := proveMain(ctx, s, held)
	if err != nil {
		return false, fmt.Errorf("which network it serves: %w", err)
	}
	switch {
	case found == provesMain && r.cfg.Network != Mainnet:
		return false, r.wrong("mainnet")
	case found == provesOther && r.cfg.Network == Mainnet:
		return false, r.wrong("a network without mainnet's ledgers")
	}
	return found == provesMain, r.checkHeight(info.Validated)
}

func (r *Rules) checkID(id uint32, newest *validatedLedger) error {
	wrong := id != r.cfg.NetworkID
	if r.cfg.Network == Private && r.cfg.NetworkID == 0 {
		wrong = id > lastBareNetwork
	}
	if wrong {
		return r.wrong(fmt.Sprint("network ", id))
	}
	return r.checkHeight(newest)
}

// mainnetPast is a ledger that mainnet passed in March 2025. A fresh private ledger has network id 0 too, and is
// distinguished by its height.
const mainnetPast = 95_000_000

func (r *Rules) checkHeight(newest *validatedLedger) error {
	if r.cfg.Network == Mainnet && newest != nil && newest.Index < mainnetPast {
		return r.wrong(fmt.Sprint("a network at ledger ", newest.Index))
	}
	return nil
}

func (r *Rules) wrong(serves string) error {
	return &rpc.WrongChainError{Serves: serves, Configured: fmt.Sprintf("network %d (%s)", r.cfg.NetworkID, r.cfg.Network)}
}

type entryAnswer struct {
	status
	Validated bool `json:"validated"`
	Node      struct {
		Type   string `json:"LedgerEntryType"`
		Last   uint32 `json:"LastLedgerSequence"`
		Hashes []hash `json:"Hashes"`
	} `json:"node"`
}

// proveMain requests the data that prove mainnet. A refusal proves nothing.
func proveMain(ctx context.Context, s *rpc.Session, held ranges) (evidence, error) {
	var page entryAnswer
	err := inquire(ctx, s, "ledger_entry", params{"index": mainPage, "ledger_index": "validated"}, &page)
	var refused *nodeError
	switch {
	case says(err, "entryNotFound"):
		return provesOther, nil
	case errors.As(err, &refused):
		return proveByHeader(ctx, s, held)
	case err != nil:
		return noEvidence, err
	case !page.Validated || page.Node.Type != "LedgerHashes":
		return proveByHeader(ctx, s, held)
	}
	at := int(listed.height/256) - 1
	if at >= len(page.Node.Hashes) || page.Node.Hashes[at].String() != listed.hash {
		return provesOther, nil
	}
	return provesMain, nil
}

func proveByHeader(ctx context.Context, s *rpc.Session, held ranges) (evidence, error) {
	for _, known := range pins() {
		if !held.covers(known.height, known.height) {
			continue
		}
		var answer headerAnswer
		err := inquire(ctx, s, "ledger", params{"ledger_index": known.height}, &answer)
		var refused *nodeError
		switch {
		case errors.As(err, &refused):
			continue
		case err != nil:
			return noEvidence, err
		case answer.Ledger.check(known.height, answer.Validated) != nil:
			continue // reported where ledgers are read
		case answer.Ledger.Hash.String() != known.hash:
			return provesOther, nil
		}
		return provesMain, nil
	}
	return noEvidence, nil
}
