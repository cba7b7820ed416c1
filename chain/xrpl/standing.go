package xrpl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// serverInfo is the used part of `server_info`.
type serverInfo struct {
	status
	Info struct {
		Rippled   string           `json:"build_version"`
		Clio      string           `json:"clio_version"`
		State     string           `json:"server_state"`
		Complete  string           `json:"complete_ledgers"`
		NetworkID *uint32          `json:"network_id"`
		Validated *validatedLedger `json:"validated_ledger"`
	} `json:"info"`
}

// validatedLedger is the newest ledger that a node has validated.
type validatedLedger struct {
	Hash    hash     `json:"hash"`
	Index   index    `json:"seq"`
	Base    wholeXRP `json:"reserve_base_xrp"`
	ForEach wholeXRP `json:"reserve_inc_xrp"`
}

// nodePosition is a node's position: the newest validated ledger that it has completely, and which other ledgers it
// has.
type nodePosition struct {
	tip     chain.BlockRef
	held    ranges
	base    bursar.Amount // reserve of an account
	forEach bursar.Amount // reserve for each object that it owns
}

var (
	errNothingValidated = errors.New("the node has no validated ledger")
	errGap              = errors.New("the node has a gap in its ledgers")
)

// maxUnstored is how many ledgers a node may have validated and not yet stored.
const maxUnstored = 8

// stand requests a node's standing. A node that lags behind the others gets a cool-down.
func (c *Chain) stand(ctx context.Context, s *rpc.Session) (nodePosition, error) {
	var answer serverInfo
	if err := ask(ctx, s, "server_info", nil, &answer); err != nil {
		return nodePosition{}, err
	}
	validated := answer.Info.Validated
	if validated == nil || validated.Index == 0 {
		return nodePosition{}, s.Fail(errNothingValidated)
	}
	held, err := parseRanges(answer.Info.Complete)
	if err != nil {
		return nodePosition{}, s.Fail(err)
	}
	if err := s.Observe(uint64(validated.Index)); err != nil {
		return nodePosition{}, err
	}
	if answer.pressed {
		c.pressed.Store(c.nodes.Now().UnixNano())
	}
	st := nodePosition{held: held, base: validated.Base.Amount, forEach: validated.ForEach.Amount}
	newest, stored := held.upTo(uint64(validated.Index))
	switch {
	case !stored || newest+maxUnstored < uint64(validated.Index):
		return nodePosition{}, c.nodes.Without(s, fmt.Errorf("%w: validated %d, complete %.80q", errGap, validated.Index,
			answer.Info.Complete))
	case newest == uint64(validated.Index):
		st.tip = chain.BlockRef{Height: newest, Hash: validated.Hash.String()}
		return st, nil
	}
	h, err := headerAt(ctx, s, newest)
	if errors.Is(err, errLacks) {
		return nodePosition{}, c.nodes.Without(s, err)
	}
	st.tip = h.ref()
	return st, err
}

// ranges are the ledgers that a node has, as complete_ledgers lists them: "32570-100,102-110,112", or "empty".
type ranges []span

type span struct{ first, last uint64 }

// String returns the list in the format of complete_ledgers.
func (r ranges) String() string {
	parts := make([]string, len(r))
	for i, s := range r {
		parts[i] = fmt.Sprintf("%d-%d", s.first, s.last)
	}
	return strings.Join(parts, ",")
}

const maxRanges = 10_000

var errRanges = errors.New("complete_ledgers is not a list of ranges")

func parseRanges(text string) (ranges, error) {
	if text == "empty" || text == "" {
		return nil, nil
	}
	if strings.Count(text, ",") > maxRanges {
		return nil, errRanges
	}
	var list ranges
	for part := range strings.SplitSeq(text, ",") {
		from, to, found := strings.Cut(part, "-")
		if !found {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 32)
		last, err2 := strconv.ParseUint(to, 10, 32)
		if err1 != nil || err2 != nil || last < first {
			return nil, fmt.Errorf("%w: %.40q", errRanges, part)
		}
		list = append(list, span{first, last})
	}
	return list, nil
}

// from returns the last ledger up to which the node has all from the given one on, and whether it has that one.
func (r ranges) from(height uint64) (last uint64, holds bool) {
	for _, s := range r {
		if s.first <= height && height <= s.last {
			return s.last, true
		}
	}
	return 0, false
}

// covers reports whether the ranges contain all ledgers from first to last.
func (r ranges) covers(first, last uint64) bool {
	end, holds := r.from(first)
	return holds && end >= last
}

// upTo returns the highest ledger at or below a height.
func (r ranges) upTo(height uint64) (highest uint64, found bool) {
	for _, s := range r {
		if s.first <= height {
			highest, found = max(highest, min(s.last, height)), true
		}
	}
	return highest, found
}
