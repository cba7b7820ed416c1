package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// FreezeEthereum returns a Freezer for nodes with Ethereum's JSON-RPC. The pool of the frozen node is not frozen.
func FreezeEthereum() Freezer {
	return func(node http.Handler) (http.Handler, error) {
		request, err := http.NewRequest(http.MethodPost, "/", nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Content-Type", "application/json")
		f := remembering{node: node}
		var m ethereumMemory
		for tag, height := range map[string]*uint64{"latest": &m.head, "safe": &m.safe, "finalized": &m.final} {
			raw, err := f.ask(request, "eth_getBlockByNumber", []any{tag, false})
			if err != nil {
				return nil, err
			}
			var found bool
			if *height, found = numberOf(raw, "number"); !found && tag == "latest" {
				return nil, errors.New("the node has no latest block")
			}
		}
		f.memory = m
		return f, nil
	}
}

// ethereumMemory is a node whose block tags do not move.
type ethereumMemory struct{ head, safe, final uint64 }

func (m ethereumMemory) answer(
	c call, _ func(string, ...any) (json.RawMessage, error), pass func(call) (json.RawMessage, error),
) (json.RawMessage, error) {
	if c.method == "eth_blockNumber" {
		return json.Marshal(hexadecimal(m.head))
	}
	c.params = slices.Clone(c.params)
	for i := range c.params {
		c.params[i] = m.fixTag(c.params[i])
	}
	result, err := pass(c)
	if err != nil {
		return nil, err
	}
	return m.forget(c.method, result)
}

// fixTag replaces a moving block tag by the frozen height, also inside the filter of eth_getLogs.
func (m ethereumMemory) fixTag(param json.RawMessage) json.RawMessage {
	var tag string
	if json.Unmarshal(param, &tag) == nil {
		height, moving := map[string]uint64{"latest": m.head, "safe": m.safe, "finalized": m.final}[tag]
		if !moving {
			return param
		}
		return json.RawMessage(strconv.Quote(hexadecimal(height)))
	}
	var filter map[string]json.RawMessage
	if json.Unmarshal(param, &filter) != nil {
		return param
	}
	for _, name := range []string{"fromBlock", "toBlock"} {
		if bound, ok := filter[name]; ok {
			filter[name] = m.fixTag(bound)
		}
	}
	fixed, err := json.Marshal(filter)
	if err != nil {
		return param
	}
	return fixed
}

// forget makes everything above the frozen head unknown.
func (m ethereumMemory) forget(method string, result json.RawMessage) (json.RawMessage, error) {
	null := json.RawMessage("null")
	switch method {
	case "eth_getBlockByNumber", "eth_getBlockByHash":
		if height, ok := numberOf(result, "number"); ok && height > m.head {
			return null, nil
		}
	case "eth_getTransactionReceipt":
		if height, ok := numberOf(result, "blockNumber"); ok && height > m.head {
			return null, nil
		}
	case "eth_getTransactionByHash":
		if height, ok := numberOf(result, "blockNumber"); ok && height > m.head {
			return waiting(result)
		}
	case "eth_getBlockReceipts":
		var list []json.RawMessage
		if json.Unmarshal(result, &list) == nil && slices.ContainsFunc(list, m.later) {
			return null, nil
		}
	case "eth_getLogs":
		return m.forgetLogs(result)
	}
	return result, nil
}

// waiting is a transaction as it was before it was included in a block.
func waiting(result json.RawMessage) (json.RawMessage, error) {
	var tx map[string]json.RawMessage
	if err := json.Unmarshal(result, &tx); err != nil {
		return nil, err
	}
	for _, name := range []string{"blockHash", "blockNumber", "transactionIndex"} {
		tx[name] = json.RawMessage("null")
	}
	return json.Marshal(tx)
}

func (m ethereumMemory) forgetLogs(result json.RawMessage) (json.RawMessage, error) {
	var logs []json.RawMessage
	if json.Unmarshal(result, &logs) != nil || logs == nil {
		return result, nil
	}
	return json.Marshal(slices.DeleteFunc(logs, m.later))
}

// later reports whether a height is above the frozen head.
func (m ethereumMemory) later(item json.RawMessage) bool {
	height, ok := numberOf(item, "blockNumber")
	return ok && height > m.head
}

func hexadecimal(n uint64) string { return fmt.Sprintf("0x%x", n) }

// numberOf reads a member of an object that is a height, if it is present.
func numberOf(raw json.RawMessage, member string) (uint64, bool) {
	var object map[string]json.RawMessage
	var text string
	if json.Unmarshal(raw, &object) != nil || json.Unmarshal(object[member], &text) != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return n, err == nil
}
