package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bursar/bursar/chain/rpc"
)

// How much of a block a node returns (Agave: TransactionDetails).
const (
	whole = "whole" // everything that After needs, in the smallest form that the node offers
	bare  = "none"  // the block without its transactions
)

// detail sets how much of a block or a transaction a node returns.
type detail struct {
	Commitment string `json:"commitment"`
	Encoding   string `json:"encoding"`
	Details    string `json:"transactionDetails,omitempty"`
	Version    int    `json:"maxSupportedTransactionVersion"`
	Rewards    bool   `json:"rewards"`
}

// way is one form of a request for blocks.
type way struct {
	details string // for a whole block
	version int    // the highest accepted version of a transaction
}

// ways are tried in this order; a node is asked in the first one that it does not refuse.
//
// The version is a number of 8 bits, and a block with a transaction of a higher one is refused as a whole (Agave 4.2:
// transaction-status, validate_version; RpcBlockConfig). The adapter does not depend on versions, so the highest
// possible number comes first. A gateway that checks the number against the versions that it knows gets one of those.
//
// `accounts` carries everything that is needed (Agave: build_json_accounts: signatures, all keys in the order of the
// balances, who signed, balances, fee, err) in two thirds of the size of `full`, and saves the node most of the work.
var ways = []way{{"accounts", 255}, {"accounts", 1}, {"full", 255}, {"full", 1}, {"full", 0}}

// manner remembers for each endpoint which of the ways it accepts, and its last slot. The zero value is ready to use.
type manner struct {
	mu    sync.Mutex
	taken map[string]int
	slots map[string]sighting
}

// stalled reports whether an endpoint returns the same slot as the last two times, or an earlier one: a follower that
// looks once more after a block sees it twice.
func (m *manner) stalled(endpoint string, slot uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.slots == nil {
		m.slots = map[string]sighting{}
	}
	last, known := m.slots[endpoint]
	if !known || slot > last.slot {
		m.slots[endpoint] = sighting{slot: slot}
		return false
	}
	last.again++
	m.slots[endpoint] = last
	return last.again > 1
}

// sighting is the highest slot that an endpoint has returned, and how often it has returned none above it since.
type sighting struct {
	slot  uint64
	again int
}

func (m *manner) of(endpoint string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken[endpoint]
}

func (m *manner) learn(endpoint string, taken int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken == nil {
		m.taken = map[string]int{}
	}
	m.taken[endpoint] = taken
}

// node is an endpoint during one read, with what is known about it.
type node struct {
	*rpc.Session
	manner *manner
}

// pin chooses an endpoint for calls that must agree with each other.
func (c *Chain) pin(ctx context.Context) (*node, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, err
	}
	return &node{s, &c.manner}, nil
}

// on is pin at one endpoint.
func (c *Chain) on(ctx context.Context, endpoint string) (*node, error) {
	s, err := c.nodes.On(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	return &node{s, &c.manner}, nil
}

// codes with which nodes answer (Agave: rpc_custom_error; JSON-RPC).
const (
	codeCleaned    = -32001 // the block was deleted
	codeNotYet     = -32004 // block not available for the slot
	codeNoStatus   = -32014 // block status not yet available
	codeVersion    = -32015 // a transaction's version is above the one asked for
	codeParams     = -32602
	codeBadRequest = -32600
)

// absent are the codes by which a node says that it cannot return a slot's block. A version that is too high is not
// among them: that concerns the request, and says nothing about the slot.
var absent = []int{
	codeCleaned,
	codeNotYet,
	-32007, // slot skipped, or missing due to a jump to a recent snapshot
	-32009, // slot skipped, or missing in long-term storage
	codeNoStatus,
	-32019, // long-term storage cannot be reached
}

// absentError means that a node cannot return a slot's block. That alone does not mean that the slot has none.
type absentError struct {
	slot uint64
	why  error
}

func (e *absentError) Error() string {
	return fmt.Sprintf("block at slot %d is unavailable: %v", e.slot, e.why)
}

// cleaned reports whether the node had the block and has deleted it.
func (e *absentError) cleaned() bool {
	var answered *rpc.Error
	return errors.As(e.why, &answered) && answered.Code == codeCleaned
}

// early reports whether the node may simply not have reached the slot yet.
func (e *absentError) early() bool {
	var answered *rpc.Error
	return errors.As(e.why, &answered) && (answered.Code == codeNotYet || answered.Code == codeNoStatus)
}

// blockAt requests the final block of a slot. The error is an *absentError if the node cannot return it.
func (n *node) blockAt(ctx context.Context, slot uint64, which string) (*block, error) {
	return n.blockOf(ctx, slot, which, finalized)
}

func (n *node) blockOf(ctx context.Context, slot uint64, which, commitment string) (*block, error) {
	var b block
	err := n.ask(ctx, "getBlock", slot, which, commitment, &b)
	var answered *rpc.Error
	switch {
	case errors.Is(err, rpc.ErrNull), errors.As(err, &answered) && slices.Contains(absent, answered.Code):
		return nil, &absentError{slot, err}
	case answered != nil, errors.Is(err, errNoDetails):
		return nil, n.Fail(fmt.Errorf("block at slot %d: %w", slot, err))
	case err != nil:
		return nil, fmt.Errorf("block at slot %d: %w", slot, err)
	}
	check := b.check
	if which == whole {
		check = b.checkWhole
	}
	if err := check(slot); err != nil {
		return nil, n.Fail(fmt.Errorf("block at slot %d: %w", slot, err))
	}
	return &b, nil
}

var errVersions = errors.New("the block has a transaction of a newer version than requested, and the node " +
	"refuses a request for that version")

// ask sends a request for transactions in the way that the node accepts, and finds that way if it is not known yet.
func (n *node) ask(ctx context.Context, method string, subject any, which, commitment string, out any) error {
	start := n.manner.of(n.Name())
	var first error
	for i := range ways {
		at := (start + i) % len(ways)
		err := n.askIn(ctx, ways[at], method, subject, which, commitment, out)
		if !refuses(err, out, which) {
			if i > 0 && err == nil {
				n.manner.learn(n.Name(), at)
			}
			return err
		}
		if err == nil {
			err = errNoDetails
		}
		if first == nil || isVersion(err) {
			first = err
		}
	}
	if isVersion(first) {
		return fmt.Errorf("%w: %w", errVersions, first)
	}
	return first
}

var errNoDetails = errors.New("the answer omits the transactions")

func (n *node) askIn(ctx context.Context, w way, method string, subject any, which, commitment string, out any) error {
	d := detail{Commitment: commitment, Encoding: "json", Version: w.version}
	switch {
	case method != "getBlock": // has no parameter for details
	case which == whole:
		d.Details = w.details
	default:
		d.Details = which
	}
	return n.Call(ctx, method, []any{subject, d}, out)
}

// refuses reports whether a node refuses the way in which it was asked, so that another one is worth trying.
func refuses(err error, out any, which string) bool {
	var answered *rpc.Error
	if errors.As(err, &answered) {
		return answered.Code == codeParams || answered.Code == codeBadRequest || answered.Code == codeVersion
	}
	b, is := out.(*block)
	return err == nil && is && which == whole && !b.listed
}

func isVersion(err error) bool {
	var answered *rpc.Error
	return errors.As(err, &answered) && answered.Code == codeVersion
}
