package solana

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// codeHistory means that a node keeps no transactions (Agave: TransactionHistoryNotAvailable).
const codeHistory = -32011

// query is one of the service's calls to a node besides those of the other checks.
type query struct {
	method string
	params []any
}

// queries use things that every cluster has, so that an error concerns the method.
func queries(slot uint64) []query {
	payer := budgetProgram // any existing account
	m := &message{format: legacy, payer: payer, limit: unitsFor(1), transfers: []transfer{{to: key{1}, lamports: 1}}}
	unsigned := base64.StdEncoding.EncodeToString(m.transaction(make([]byte, len(signature{})), m.encode()))
	return []query{
		{"getBlocks", []any{slot - min(slot, 32), slot, at{finalized}}},
		{"getBlocksWithLimit", []any{slot, 1, at{finalized}}},
		{"getEpochInfo", []any{at{finalized}}},
		{"getTransaction", []any{signature{1}.String(), detail{Commitment: finalized, Encoding: "json"}}},
		{"getSignatureStatuses", []any{[]string{signature{1}.String()}, everywhere{true}}},
		{"getMultipleAccounts", []any{[]string{payer.String()}, without{Commitment: confirmed, Encoding: "base64"}}},
		{"getMinimumBalanceForRentExemption", []any{0}},
		{"getRecentPrioritizationFees", []any{[]string{payer.String()}}},
		{"getFeeForMessage", []any{base64.StdEncoding.EncodeToString(m.encode()), at{confirmed}}},
		{"simulateTransaction", []any{unsigned, simulation{Encoding: "base64", Commitment: confirmed, Replace: true}}},
	}
}

// checkQueries calls every method that the service needs, and reports those that the node does not answer.
func checkQueries(ctx context.Context, s *node, r *chain.Report, slot uint64) {
	var missing []string
	for _, q := range queries(slot) {
		err := s.CallOptional(ctx, q.method, q.params, nil)
		var answered *rpc.Error
		switch {
		case err == nil, errors.Is(err, rpc.ErrNull), refusesFormat(err):
			continue
		case errors.As(err, &answered) && answered.Code == codeHistory:
			r.Bad(chain.CheckHistory, "start the node with --enable-rpc-transaction-history",
				"the node keeps no transactions, so that no withdrawal can be proven to have expired (%s)", q.method)
			return
		case rpc.Declined(err):
			missing = append(missing, fmt.Sprintf("%s (%v)", q.method, err))
		default:
			r.Unasked(chain.CheckChain, err)
			return
		}
	}
	if len(missing) > 0 {
		r.Bad(chain.CheckChain,
			"use a node, or a plan of the provider, that offers all of them; your own node needs --full-rpc-api",
			"the node does not answer: %s", strings.Join(missing, "; "))
	}
}
