// Package ethrules reads what chains with Ethereum's token contracts are configured with, and finds their transactions.
//
// It owns what Ethereum's kind of chains and Tron do alike whatever form their addresses have, which each adapter gives
// it. It decides nothing about value, and never asks a node by itself.
package ethrules

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// maxDecimals is the most decimals that a token can have: 10^38 is the highest power of ten in 128 bits.
const maxDecimals = 38

// Token is a contract whose Transfer events are credited. Decimals are fixed here and compared with the contract.
type Token struct {
	Contract string
	Decimals int
}

// Address is an address of a chain. Its text is the canonical one.
type Address interface {
	~[20]byte
	String() string
}

// Tokens returns the configured tokens of a chain by their contracts, each with its contract in the canonical form. A
// contract that parse refuses, impossible decimals, and a contract that is listed twice are errors.
func Tokens[A Address](
	id bursar.ChainID, configured []Token, parse func(text string) (A, error),
) (map[A]Token, error) {
	tokens := map[A]Token{}
	for _, token := range configured {
		contract, err := parse(token.Contract)
		if err != nil || token.Decimals < 0 || token.Decimals > maxDecimals {
			return nil, fmt.Errorf("configure chain %s: token %.50q with %d decimals is not valid", id, token.Contract,
				token.Decimals)
		}
		if _, double := tokens[contract]; double {
			return nil, fmt.Errorf("configure chain %s: token %s is listed twice", id, contract)
		}
		tokens[contract] = Token{Contract: contract.String(), Decimals: token.Decimals}
	}
	return tokens, nil
}

// Hot returns the address of the hot wallet of a chain, which is zero when it is not configured.
func Hot[A Address](id bursar.ChainID, text string, parse func(text string) (A, error)) (hot A, err error) {
	if text == "" {
		return hot, nil
	}
	if hot, err = parse(text); err != nil {
		return hot, fmt.Errorf("configure chain %s: hot wallet %.50q is not an address", id, text)
	}
	return hot, nil
}

// Find returns the canonical block that contains a transaction, which find asks one endpoint for. The error is
// chain.ErrNoBlock where there is none, also for a text that parse refuses.
func Find[H any](
	ctx context.Context, nodes *chain.Nodes, txID string, parse func(text string) (H, error),
	find func(ctx context.Context, s *rpc.Session, id H) (chain.BlockRef, error),
) (_ chain.BlockRef, err error) {
	defer chain.Wrap(&err, "find %.80q", txID)
	id, err := parse(txID)
	if err != nil {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	s, err := nodes.Pin(ctx)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return find(ctx, s, id)
}
