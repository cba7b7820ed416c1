package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bursar/bursar/chain/rpc"
)

// How much a node is to tell of a block (Agave: TransactionDetails).
const (
	whole = "whole" // all that After needs, in the smallest form that the node offers
	bare  = "none"  // the block without its transactions
)

// detail is what to tell of a block or a transaction.
type detail struct {
	Commitment string `json:"commitment"`
	Encoding   string `json:"encoding"`
	Details    string `json:"transactionDetails,omitempty"`
	Version    int    `json:"maxSupportedTransactionVersion"`
	Rewards    bool   `json:"rewards"`
}

// way is one way to ask for blocks.
type way struct {
	details string // of a whole block
	version int    // the highest version of a transaction that is understood here
}

// ways are tried in this order; a node is asked in the first that it does not refuse.
//
// The version is a number of 8 bits, and a block in which a transaction has a higher one is refused as a whole (Agave
// 4.2: transaction-status, validate_version; RpcBlockConfig). Nothing here depends on a version, so the highest number
// there is goes first. A gateway that checks the number against what it knows gets one that it knows.
//
// `accounts` carries all that is needed (Agave: build_json_accounts: signatures, all keys in the order of the balances,
// who signed, balances, fee, err) in two thirds of the size of `full`, and spares the node most of its work.
var ways = []way{{"accounts", 255}, {"accounts", 1}, {"full", 255}, {"full", 1}, {"full", 0}}

// manner remembers of each endpoint which of the ways it takes, and where it was. The zero value is ready.
type manner struct {
	mu    sync.Mutex
	taken map[string]int
	slots map[string]sighting
}

// stalled reports whether an endpoint names the same slot as the last two times, or one before: a follower that looks
// once more after a block sees it twice.
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

// sighting is the highest slot that an endpoint has named, and how often it has named none above it since.
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

// node is an endpoint during one read, with what is known of it.
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

// absent are the codes with which a node says that it cannot show a slot's block. A version that is too high is not
// among them: that says something about the question, and nothing about the slot.
var absent = []int{
	codeCleaned,
	codeNotYet,
	-32007, // slot skipped, or missing due to a jump to a recent snapshot
	-32009, // slot skipped, or missing in long-term storage
	codeNoStatus,
	-32019, // long-term storage cannot be reached
}

// absentError says that a node cannot show a slot's block. That alone does not mean that the slot has none.
type absentError struct {
	slot uint64
	why  error
}

func (e *absentError) Error() string { return fmt.Sprintf("slot %d cannot be had: %v", e.slot, e.why) }

// cleaned reports whether the node had the block, and has it no more.
func (e *absentError) cleaned() bool {
	var answered *rpc.Error
	return errors.As(e.why, &answered) && answered.Code == codeCleaned
}

// early reports whether the node may just not be there yet.
func (e *absentError) early() bool {
	var answered *rpc.Error
	return errors.As(e.why, &answered) && (answered.Code == codeNotYet || answered.Code == codeNoStatus)
}

// blockAt asks for the final block of a slot. The error is an *absentError when the node cannot show it.
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

var errVersions = errors.New("it has a transaction of a version that it is not asked for, and refuses to be asked " +
	"for it")

// ask puts a question about transactions in the way that the node takes, and finds that way where it is not known yet.
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

var errNoDetails = errors.New("it leaves out the transactions")

func (n *node) askIn(ctx context.Context, w way, method string, subject any, which, commitment string, out any) error {
	d := detail{Commitment: commitment, Encoding: "json", Version: w.version}
	switch {
	case method != "getBlock": // takes no details
	case which == whole:
		d.Details = w.details
	default:
		d.Details = which
	}
	return n.Call(ctx, method, []any{subject, d}, out)
}

// refuses reports whether a node does not take the way in which it was asked, so that another one is worth a try.
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
