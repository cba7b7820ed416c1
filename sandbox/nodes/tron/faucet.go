package tron

import (
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Output is one output of PayInternal or PayTokenMany: an address and an amount in sun or units of Token.
type Output struct {
	Address string
	Sun     int64
}

// maxOutputs keeps PayInternal and PayTokenMany below their energy limit.
const maxOutputs = 300

// payFeeLimit covers every payment of the faucet: 10,000 TRX.
const payFeeLimit = 10_000_000_000

func payee(address string, sun int64) (common.Address, error) {
	to, err := parseAddress(address)
	if err != nil {
		return to, err
	}
	if sun <= 0 || sun >= faucetSun {
		return to, fmt.Errorf("%d sun is not an amount that the faucet can pay", sun)
	}
	return to, nil
}

// Pay sends sun to the address by a plain transaction from the faucet and returns its id. The transaction waits in
// the pool for Mine.
func (n *Node) Pay(address string, sun int64) (string, error) {
	to, err := payee(address, sun)
	if err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	return n.send(&transaction{kind: transfer, to: to, amount: sun})
}

// PayToken sends units of a contract's token from the faucet, which holds those of Token.
func (n *Node) PayToken(contract, address string, units *big.Int) (string, error) {
	token, err := parseAddress(contract)
	if err != nil {
		return "", fmt.Errorf("pay tokens: %w", err)
	}
	to, err := parseAddress(address)
	if err != nil {
		return "", fmt.Errorf("pay tokens: %w", err)
	}
	if units == nil || units.Sign() < 0 || units.BitLen() > 256 {
		return "", fmt.Errorf("pay tokens: %v is not an amount", units)
	}
	return n.send(&transaction{kind: trigger, to: token, data: callAddressAmount("transfer(address,uint256)", to, units)})
}

// PayInternal pays all outputs in one transaction through a contract, so the value arrives by internal transactions
// only.
func (n *Node) PayInternal(outputs []Output) (string, error) {
	if len(outputs) == 0 || len(outputs) > maxOutputs {
		return "", fmt.Errorf("pay internally: %d outputs, want 1 to %d", len(outputs), maxOutputs)
	}
	data, sum, err := callPay(outputs)
	if err != nil {
		return "", fmt.Errorf("pay internally: %w", err)
	}
	return n.send(&transaction{kind: trigger, to: n.purse, amount: sum, data: data})
}

// PayReverted makes a transaction that succeeds while its inner call, which passes the value on to the address,
// reverts: the internal transactions are listed as rejected, and the address gets nothing.
func (n *Node) PayReverted(address string, sun int64) (string, error) {
	return n.payThrough("payBelowFailure(address)", address, sun)
}

// PayFailed makes a transaction that passes the value on to the address by an internal call and then fails (contractRet
// REVERT): the address gets nothing.
func (n *Node) PayFailed(address string, sun int64) (string, error) {
	return n.payThrough("payAndFail(address)", address, sun)
}

func (n *Node) payThrough(function, address string, sun int64) (string, error) {
	to, err := payee(address, sun)
	if err != nil {
		return "", fmt.Errorf("pay through a contract: %w", err)
	}
	return n.send(&transaction{kind: trigger, to: n.purse, amount: sun, data: callAddress(function, to)})
}

// FreezeToken makes the token refuse every transfer from and to an address, as its issuer can.
func (n *Node) FreezeToken(address string) (string, error) {
	who, err := parseAddress(address)
	if err != nil {
		return "", fmt.Errorf("freeze: %w", err)
	}
	return n.send(&transaction{kind: trigger, to: n.token, data: callAddress("addBlackList(address)", who)})
}

// send signs a transaction of the faucet and adds it to the pool.
func (n *Node) send(t *transaction) (string, error) {
	n.gate.Lock()
	defer n.gate.Unlock()
	n.anchor(t)
	t.owner, t.timestamp = n.bank, t.timestamp+n.turn // makes every payment a different transaction
	if t.kind == trigger {
		t.feeLimit = payFeeLimit
	}
	whole, err := t.build(n.faucet)
	if err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	if err := n.accept(whole); err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	return hex.EncodeToString(whole.id[:]), nil
}

// validity is how long a transaction of this node is valid: java-tron's own are valid for a minute, and here many
// blocks may be mined and reorged out in between.
const validity = 6 * 60 * 60 * 1000

// anchor refers to the newest solidified block and sets an expiration.
func (n *Node) anchor(t *transaction) {
	b := n.blocks[n.solid]
	t.refBytes, t.refHash = b.id[6:8], b.id[8:16]
	t.timestamp = n.head().time
	t.expiration = n.head().time + validity
}

// SetTokenFee makes the token keep a share of every transfer from now on, in hundredths of a percent, as Tether's
// could.
func (n *Node) SetTokenFee(basisPoints int64) (string, error) {
	if basisPoints < 0 || basisPoints >= 10_000 {
		return "", fmt.Errorf("set the token's fee: %d basis points", basisPoints)
	}
	data := append(selector("setFee(uint256)"), word(big.NewInt(basisPoints))...)
	return n.send(&transaction{kind: trigger, to: n.token, data: data})
}
