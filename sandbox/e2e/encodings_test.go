package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// bitcoind is the client of Bitcoin's and Litecoin's nodes.
type bitcoind struct{}

func (bitcoind) raw(url, hash string) (raw json.RawMessage, err error) {
	err = rpc(url, "getrawtransaction", &raw, hash)
	return raw, err
}

func (bitcoind) send(url string, raw json.RawMessage) error {
	var hash string
	return rpc(url, "sendrawtransaction", &hash, raw)
}

func (bitcoind) fees(url string, height uint64, ours map[string]bool) (*big.Int, error) {
	var hash string
	if err := rpc(url, "getblockhash", &hash, height); err != nil {
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
	if err := rpc(url, "getblock", &block, hash, 3); err != nil {
		return nil, err
	}
	sum := new(big.Int)
	for _, tx := range block.Tx {
		for _, in := range tx.Vin {
			if in.Prevout != nil && ours[in.Prevout.ScriptPubKey.Address] {
				sum.Add(sum, (&currency{decimals: 8}).units(tx.Fee.String()))
				break
			}
		}
	}
	return sum, nil
}

// geth is the client of nodes of Ethereum and the chains with its API.
type geth struct{}

func (geth) raw(url, hash string) (raw json.RawMessage, err error) {
	err = rpc(url, "eth_getRawTransactionByHash", &raw, hash)
	if text := strings.Trim(string(raw), `"`); err == nil && (text == "0x" || text == "null") {
		err = fmt.Errorf("transaction %s does not exist", hash)
	}
	return raw, err
}

func (geth) send(url string, raw json.RawMessage) error {
	var hash string
	return rpc(url, "eth_sendRawTransaction", &hash, raw)
}

func (geth) fees(url string, height uint64, ours map[string]bool) (*big.Int, error) {
	var receipts []struct{ From, GasUsed, EffectiveGasPrice string }
	if err := rpc(url, "eth_getBlockReceipts", &receipts, fmt.Sprintf("0x%x", height)); err != nil {
		return nil, err
	}
	mine := map[string]bool{}
	for address := range ours {
		mine[strings.ToLower(address)] = true
	}
	sum := new(big.Int)
	for _, r := range receipts {
		if !mine[strings.ToLower(r.From)] {
			continue
		}
		gas, known := new(big.Int).SetString(r.GasUsed, 0)
		price, priced := new(big.Int).SetString(r.EffectiveGasPrice, 0)
		if !known || !priced {
			return nil, fmt.Errorf("a receipt with %q gas at %q", r.GasUsed, r.EffectiveGasPrice)
		}
		sum.Add(sum, gas.Mul(gas, price))
	}
	return sum, nil
}

// javaTron is the client of Tron's nodes.
type javaTron struct{}

func (javaTron) raw(url, hash string) (raw json.RawMessage, err error) {
	err = post(url+"/wallet/gettransactionbyid", map[string]any{"value": hash}, &raw)
	if err == nil && string(raw) == "{}" {
		err = fmt.Errorf("transaction %s does not exist", hash)
	}
	return raw, err
}

func (javaTron) send(url string, raw json.RawMessage) error {
	var answer struct {
		Result        bool
		Code, Message string
	}
	err := post(url+"/wallet/broadcasttransaction", raw, &answer)
	if err == nil && !answer.Result {
		err = fmt.Errorf("broadcast: %s %s", answer.Code, answer.Message)
	}
	return err
}

func (javaTron) fees(url string, height uint64, ours map[string]bool) (*big.Int, error) {
	var block struct {
		Transactions []struct {
			TxID    string `json:"txID"`
			RawData struct {
				Contract []struct {
					Parameter struct {
						Value struct {
							Owner string `json:"owner_address"`
						}
					}
				}
			} `json:"raw_data"`
		}
	}
	if err := post(url+"/wallet/getblockbynum", map[string]any{"num": height, "visible": true}, &block); err != nil {
		return nil, err
	}
	var infos []struct {
		ID  string
		Fee int64
	}
	if err := post(url+"/wallet/gettransactioninfobyblocknum", map[string]any{"num": height}, &infos); err != nil {
		return nil, err
	}
	mine := map[string]bool{}
	for _, tx := range block.Transactions {
		mine[tx.TxID] = len(tx.RawData.Contract) == 1 && ours[tx.RawData.Contract[0].Parameter.Value.Owner]
	}
	sum := new(big.Int)
	for _, info := range infos {
		if mine[info.ID] {
			sum.Add(sum, big.NewInt(info.Fee))
		}
	}
	return sum, nil
}

// agave is the client of Solana's nodes.
type agave struct{}

func (agave) raw(url, hash string) (json.RawMessage, error) {
	var found *struct{ Transaction []json.RawMessage }
	err := rpc(url, "getTransaction", &found, hash,
		map[string]any{"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 1})
	if err != nil || found == nil || len(found.Transaction) == 0 {
		return nil, fmt.Errorf("transaction %s: %v", hash, err)
	}
	return found.Transaction[0], nil
}

func (agave) send(url string, raw json.RawMessage) error {
	var id string
	return rpc(url, "sendTransaction", &id, raw, map[string]any{"encoding": "base64"})
}

func (agave) fees(url string, height uint64, ours map[string]bool) (*big.Int, error) {
	var block struct {
		Transactions []struct {
			Meta        struct{ Fee int64 }
			Transaction struct {
				Message struct{ AccountKeys []string }
			}
		}
	}
	err := rpc(url, "getBlock", &block, height,
		map[string]any{"encoding": "json", "commitment": "confirmed", "maxSupportedTransactionVersion": 1})
	if isAbsent(err) {
		return new(big.Int), nil
	}
	sum := new(big.Int)
	for _, tx := range block.Transactions {
		if keys := tx.Transaction.Message.AccountKeys; len(keys) > 0 && ours[keys[0]] {
			sum.Add(sum, big.NewInt(tx.Meta.Fee))
		}
	}
	return sum, err
}

// rippled is the client of the XRP Ledger's nodes.
type rippled struct{}

func (rippled) raw(url, hash string) (json.RawMessage, error) {
	var answer struct {
		Result struct {
			Status string
			Tx     json.RawMessage
		}
	}
	err := post(url, map[string]any{"method": "tx", "params": []any{map[string]any{"transaction": hash, "binary": true}}},
		&answer)
	if err == nil && answer.Result.Status != "success" {
		err = fmt.Errorf("transaction %s: %s", hash, answer.Result.Status)
	}
	return answer.Result.Tx, err
}

func (rippled) send(url string, raw json.RawMessage) error {
	var answer struct {
		Result struct {
			Result string `json:"engine_result"`
		}
	}
	err := post(url, map[string]any{"method": "submit", "params": []any{map[string]any{"tx_blob": raw}}}, &answer)
	if err == nil && answer.Result.Result != "tesSUCCESS" {
		err = fmt.Errorf("submit: %s", answer.Result.Result)
	}
	return err
}

func (rippled) fees(url string, height uint64, ours map[string]bool) (*big.Int, error) {
	var answer struct {
		Result struct {
			Status string
			Ledger struct {
				Transactions []struct{ Account, Fee string }
			}
		}
	}
	query := map[string]any{"ledger_index": height, "transactions": true, "expand": true}
	if err := post(url, map[string]any{"method": "ledger", "params": []any{query}}, &answer); err != nil {
		return nil, err
	}
	if answer.Result.Status != "success" {
		return nil, fmt.Errorf("ledger %d: %s", height, answer.Result.Status)
	}
	sum := new(big.Int)
	for _, tx := range answer.Result.Ledger.Transactions {
		if fee, ok := new(big.Int).SetString(tx.Fee, 10); ok && ours[tx.Account] {
			sum.Add(sum, fee)
		}
	}
	return sum, nil
}
