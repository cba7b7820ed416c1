package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
)

// rpcNode is a node's RPC, by its URL.
type rpcNode struct{ url string }

func (n rpcNode) call(method string, out any, args ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": args})
	if err != nil {
		return err
	}
	answer, err := httpClient.Post(n.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var whole struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&whole); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || whole.Error != nil {
		return fmt.Errorf("%s: %d %v", method, answer.StatusCode, whole.Error)
	}
	return json.Unmarshal(whole.Result, out)
}

// bitcoinFees is what transactions that spend our coins pay in one block.
func (n rpcNode) bitcoinFees(height uint64, ours map[string]bool) (*big.Int, error) {
	var hash string
	if err := n.call("getblockhash", &hash, height); err != nil {
		return nil, err
	}
	var block struct {
		Tx []struct {
			Vin []struct {
				Prevout *struct {
					ScriptPubKey struct{ Address string }
				}
			}
			Fee json.Number
		}
	}
	if err := n.call("getblock", &block, hash, 3); err != nil {
		return nil, err
	}
	sum := new(big.Int)
	for _, tx := range block.Tx {
		for _, in := range tx.Vin {
			if in.Prevout != nil && ours[strings.ToLower(in.Prevout.ScriptPubKey.Address)] {
				sum.Add(sum, units("BTC", tx.Fee.String()))
				break
			}
		}
	}
	return sum, nil
}

// ethereumFees is what transactions from our addresses pay in one block.
func (n rpcNode) ethereumFees(height uint64, ours map[string]bool) (*big.Int, error) {
	var block struct {
		Transactions []struct{ Hash, From string }
	}
	if err := n.call("eth_getBlockByNumber", &block, fmt.Sprintf("0x%x", height), true); err != nil {
		return nil, err
	}
	sum := new(big.Int)
	for _, tx := range block.Transactions {
		if !ours[strings.ToLower(tx.From)] {
			continue
		}
		var receipt struct{ GasUsed, EffectiveGasPrice string }
		if err := n.call("eth_getTransactionReceipt", &receipt, tx.Hash); err != nil {
			return nil, err
		}
		gas, price := new(big.Int), new(big.Int)
		if _, ok := gas.SetString(receipt.GasUsed, 0); !ok {
			return nil, fmt.Errorf("gas used %q", receipt.GasUsed)
		}
		if _, ok := price.SetString(receipt.EffectiveGasPrice, 0); !ok {
			return nil, fmt.Errorf("gas price %q", receipt.EffectiveGasPrice)
		}
		sum.Add(sum, gas.Mul(gas, price))
	}
	return sum, nil
}
