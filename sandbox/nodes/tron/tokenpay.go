package tron

import (
	"fmt"
	"math/big"
)

// PayTokenMany pays all outputs in one transaction through a contract, each by a Transfer of its own. Their amounts are
// units of Token.
func (n *Node) PayTokenMany(outputs []Output) (string, error) {
	if len(outputs) == 0 || len(outputs) > maxOutputs {
		return "", fmt.Errorf("pay tokens: %d outputs, want 1 to %d", len(outputs), maxOutputs)
	}
	receivers, amounts, _, err := lists(outputs)
	if err != nil {
		return "", fmt.Errorf("pay tokens: %w", err)
	}
	data := append(selector("pay(address,address[],uint256[])"), wordOf(n.token)...)
	data = append(append(data, word(big.NewInt(3*32))...), word(big.NewInt(int64(3*32+len(receivers))))...)
	return n.send(&transaction{kind: trigger, to: n.teller, data: append(append(data, receivers...), amounts...)})
}
