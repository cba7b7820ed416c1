package fault

import (
	"encoding/json"
	"net/http"
)

// FreezeBitcoin returns a Freezer for nodes with bitcoind's RPC; height is the node's own height now. What the frozen
// node knows of unspent outputs (gettxout, scantxoutset) and of its mempool is not frozen.
func FreezeBitcoin(height func() int64) Freezer {
	return func(node http.Handler) (http.Handler, error) {
		return remembering{node, bitcoinMemory{height()}}, nil
	}
}

// bitcoinMemory is a node whose best chain ends at a height.
type bitcoinMemory struct{ height int64 }

// Refusals of bitcoind (rpc/protocol.h).
var (
	errNoHeight = refuse(-8, "Block height out of range")
	errNoBlock  = refuse(-5, "Block not found")
)

func (m bitcoinMemory) answer(
	c call, ask func(string, ...any) (json.RawMessage, error), pass func(call) (json.RawMessage, error),
) (json.RawMessage, error) {
	switch c.method {
	case "getblockcount":
		return json.Marshal(m.height)
	case "getbestblockhash":
		return ask("getblockhash", m.height)
	case "getblockhash":
		var height int64
		if len(c.params) > 0 && json.Unmarshal(c.params[0], &height) == nil && height > m.height {
			return nil, errNoHeight
		}
	case "getblockchaininfo":
		return m.info(c, ask, pass)
	case "getblock", "getblockheader", "getblockstats":
		return m.block(c, ask, pass)
	case "getrawtransaction":
		return m.transaction(c, ask, pass)
	}
	return pass(c)
}

// info is getblockchaininfo with the frozen block as the tip.
func (m bitcoinMemory) info(
	c call, ask func(string, ...any) (json.RawMessage, error), pass func(call) (json.RawMessage, error),
) (json.RawMessage, error) {
	raw, err := pass(c)
	if err != nil {
		return nil, err
	}
	hash, err := ask("getblockhash", m.height)
	if err != nil {
		return nil, err
	}
	header, err := ask("getblockheader", hash, true)
	if err != nil {
		return nil, err
	}
	var info, tip map[string]json.RawMessage
	if err := json.Unmarshal(raw, &info); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(header, &tip); err != nil {
		return nil, err
	}
	info["blocks"], info["headers"], info["bestblockhash"] = tip["height"], tip["height"], hash
	for _, name := range []string{"time", "mediantime", "chainwork"} {
		if _, ok := info[name]; ok {
			info[name] = tip[name]
		}
	}
	return json.Marshal(info)
}

// block answers about a block by its hash, which is unknown above the frozen one.
func (m bitcoinMemory) block(
	c call, ask func(string, ...any) (json.RawMessage, error), pass func(call) (json.RawMessage, error),
) (json.RawMessage, error) {
	if len(c.params) == 0 {
		return pass(c)
	}
	height, err := heightOf(ask, c.params[0])
	if err != nil {
		return nil, err
	}
	if height > m.height {
		return nil, errNoBlock
	}
	raw, err := pass(c)
	var block map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &block) != nil {
		return raw, err // the block in hexadecimal
	}
	m.confirm(block, height)
	if height == m.height {
		delete(block, "nextblockhash")
	}
	return json.Marshal(block)
}

func heightOf(ask func(string, ...any) (json.RawMessage, error), hash json.RawMessage) (int64, error) {
	raw, err := ask("getblockheader", hash, true)
	if err != nil {
		return 0, err
	}
	var header struct{ Height int64 }
	return header.Height, json.Unmarshal(raw, &header)
}

// confirm counts confirmations from the frozen tip; -1, off the best chain, stays.
func (m bitcoinMemory) confirm(object map[string]json.RawMessage, height int64) {
	var confirmations int64
	if json.Unmarshal(object["confirmations"], &confirmations) == nil && confirmations > 0 {
		object["confirmations"], _ = json.Marshal(m.height - height + 1) // of an integer: never fails
	}
}

// transaction answers about a transaction; one that was included in a later block still waits in the mempool.
func (m bitcoinMemory) transaction(
	c call, ask func(string, ...any) (json.RawMessage, error), pass func(call) (json.RawMessage, error),
) (json.RawMessage, error) {
	raw, err := pass(c)
	var tx map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &tx) != nil || tx["blockhash"] == nil {
		return raw, err
	}
	height, err := heightOf(ask, tx["blockhash"])
	if err != nil {
		return nil, err
	}
	if height > m.height {
		for _, name := range []string{"blockhash", "confirmations", "time", "blocktime", "in_active_chain"} {
			delete(tx, name)
		}
	} else {
		m.confirm(tx, height)
	}
	return json.Marshal(tx)
}
