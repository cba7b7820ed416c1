package solana

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// advanceUnits are the compute units to reserve for the advance of a nonce, besides those of a transfer: an instruction
// of the system program takes 150.
const advanceUnits = 500

// BuildCold builds a payment that advances the wallet's nonce. Whatever replaces another one has the same nonce, and
// the chain has no price by which it would be replaced in a pool.
func (c *Chain) BuildCold(ctx context.Context, request chain.ColdRequest) (data []byte, err error) {
	defer chain.Wrap(&err, "build from cold wallet %s", request.Wallet.Name)
	if err := c.CheckCold(request.Wallet); err != nil {
		return nil, err
	}
	t := &coldTx{message: message{format: v0, limit: unitsFor(1) + advanceUnits}}
	if t.payer, err = parseKey(request.Wallet.Addresses[0]); err != nil {
		return nil, err
	}
	if t.nonce, err = parseKey(request.Wallet.NonceAccount); err != nil {
		return nil, err
	}
	to, err := c.transferOf(request.Payment)
	if err != nil {
		return nil, err
	}
	t.transfers = []transfer{to}
	s, err := c.pin(ctx)
	if err != nil {
		return nil, err
	}
	view, err := look(ctx, s, []string{request.Wallet.Addresses[0], request.Payment.Address.Base})
	if err != nil {
		return nil, err
	}
	if err := t.offer(c.price(view.recent)); err != nil {
		return nil, err
	}
	fee, err := t.fit(request.MaxFee)
	if err != nil {
		return nil, err
	}
	usual := chain.TxRequest{Kind: chain.KindWithdrawal, Payments: []chain.Payment{request.Payment}}
	if err := t.fund(usual, view, fee); err != nil {
		return nil, err
	}
	if t.blockhash, _, err = s.nonceOf(ctx, t.nonce, t.payer, confirmed); err != nil {
		return nil, err
	}
	data = t.bytes()
	_, err = c.ReadCold(request.Wallet, data) // what cannot be evaluated is not given out: a node may have lied
	return data, err
}

// Unused implements chain.ColdReads.
func (c *Chain) Unused(ctx context.Context, wallet bursar.ColdWallet, data []byte) (slot uint64, err error) {
	defer chain.Wrap(&err, "nonce of cold wallet %s", wallet.Name)
	t, err := c.coldOf(wallet, data)
	if err != nil {
		return 0, err
	}
	s, err := c.pin(ctx)
	if err != nil {
		return 0, err
	}
	value, slot, err := s.nonceOf(ctx, t.nonce, t.payer, confirmed)
	if err == nil && value != t.blockhash {
		err = errNonceMoved
	}
	return slot, err
}

var errNonceMoved = errors.New("the nonce was advanced since, or the nodes do not agree about it: begin again")

// UsedUp implements chain.ColdUses: the final state has another value of the nonce, or the account is no nonce account
// of the wallet any more. A nonce that was advanced never comes back to a value: each is the hash of a blockhash
// (solana-nonce: DurableNonce::from_blockhash). But a node that lags shows the value from before the one that the
// transaction has: only an answer of a slot from which on that was there counts.
func (c *Chain) UsedUp(
	ctx context.Context, wallet bursar.ColdWallet, data []byte, since uint64,
) (used bool, slot uint64, err error) {
	defer chain.Wrap(&err, "nonce of cold wallet %s", wallet.Name)
	t, err := c.coldOf(wallet, data)
	if err != nil {
		return false, 0, err
	}
	s, err := c.pin(ctx)
	if err != nil {
		return false, 0, err
	}
	value, slot, err := s.nonceOf(ctx, t.nonce, t.payer, finalized)
	if since == 0 || slot < since {
		if refused := (*chain.RefusedError)(nil); errors.As(err, &refused) {
			err = nil
		}
		return false, slot, err
	}
	if refused := (*chain.RefusedError)(nil); errors.As(err, &refused) && slot > 0 {
		return true, slot, nil
	}
	return err == nil && value != t.blockhash, slot, err
}

// nonceAccount is an account with its data, in base64.
type nonceAccount struct {
	Context slotContext `json:"context"`
	Value   *struct {
		Owner string   `json:"owner"`
		Data  []string `json:"data"`
	} `json:"value"`
}

// The state of a nonce account (Agave: solana-nonce, Versions::Current and State::Initialized): two numbers of 4 bytes,
// the authority, the nonce, and the price of a signature.
const (
	nonceSize                = 80
	nonceCurrent, nonceReady = 1, 1
)

// nonceOf returns the value of a nonce account, and as of which slot. It refuses one that does not exist, or whose
// authority is another: its nonce could be advanced by others, and could not be advanced by the cold wallet.
func (n *node) nonceOf(ctx context.Context, account, authority key, level string) (nonce key, slot uint64, err error) {
	var answer nonceAccount
	err = n.Call(ctx, "getAccountInfo", []any{account.String(), map[string]string{"encoding": "base64",
		"commitment": level}}, &answer)
	if err != nil {
		return nonce, 0, err
	}
	slot = answer.Context.Slot
	if answer.Value == nil {
		return nonce, slot, &chain.RefusedError{Reason: fmt.Sprintf("the nonce account %s does not exist: make it with the "+
			"cold wallet as its authority", account)}
	}
	if len(answer.Value.Data) == 0 {
		return nonce, 0, n.Fail(errAccounts)
	}
	data, err := base64.StdEncoding.DecodeString(answer.Value.Data[0])
	if err != nil {
		return nonce, 0, n.Fail(errors.Join(errAccounts, err))
	}
	if answer.Value.Owner != systemProgram.String() || len(data) != nonceSize ||
		binary.LittleEndian.Uint32(data) != nonceCurrent || binary.LittleEndian.Uint32(data[4:]) != nonceReady {
		return nonce, slot, &chain.RefusedError{Reason: fmt.Sprintf("%s is no nonce account", account)}
	}
	if by := key(data[8:40]); by != authority {
		return nonce, slot, &chain.RefusedError{Reason: fmt.Sprintf("the authority of nonce account %s is %s, want the cold "+
			"wallet %s", account, by, authority)}
	}
	return key(data[40:72]), slot, nil
}
