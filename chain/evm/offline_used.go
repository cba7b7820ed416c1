package evm

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.ColdUses = (*Chain)(nil)

// UsedUp implements chain.ColdUses: in the final block the account, or the Safe, has a higher nonce. That of a Safe is
// raised by calls that others send, which no block shows.
func (c *Chain) UsedUp(
	ctx context.Context, wallet bursar.ColdWallet, data []byte, _ uint64,
) (used bool, height uint64, err error) {
	defer chain.Wrap(&err, "nonce of cold wallet %s", wallet.Name)
	tx, err := c.ReadCold(wallet, data)
	if err != nil {
		return false, 0, err
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return false, 0, err
	}
	head, err := c.head(ctx, s)
	if err != nil {
		return false, 0, err
	}
	next, err := nonceAt(ctx, s, wallet, fmt.Sprintf("0x%x", head.Final.Height))
	if err != nil {
		return false, 0, err
	}
	for _, one := range tx.Reservations { // "<address>/<nonce>"
		var nonce uint64
		if _, err := fmt.Sscanf(one[len(wallet.Addresses[0]):], "/%d", &nonce); err != nil {
			return false, 0, fmt.Errorf("reservation %s: %w", one, err)
		}
		used = used || nonce < next
	}
	return used, head.Final.Height, nil
}

// nonceAt returns the next nonce of a cold wallet in a block.
func nonceAt(ctx context.Context, s *rpc.Session, wallet bursar.ColdWallet, block string) (uint64, error) {
	at, err := parseAddress(wallet.Addresses[0])
	if err != nil {
		return 0, err
	}
	if wallet.Kind != bursar.ColdSafe {
		var next quantity
		err := s.Call(ctx, "eth_getTransactionCount", []any{at.hex(), block}, &next)
		return uint64(next), err
	}
	var answer text
	if err := s.Call(ctx, "eth_call", []any{callData{To: at.hex(), Data: selectNonce}, block}, &answer); err != nil {
		return 0, err
	}
	next, err := amountIn(answer)
	if err != nil {
		return 0, fmt.Errorf("ask Safe %s: %w", at, err)
	}
	n, small := next.Uint64()
	if !small {
		return 0, fmt.Errorf("ask Safe %s: %w: nonce %s", at, errABI, next)
	}
	return n, nil
}
