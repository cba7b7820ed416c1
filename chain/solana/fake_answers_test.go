package solana

import (
	"fmt"
	"maps"
	"slices"
)

// usual returns an honest node's answer.
func (f *fake) usual(method string, params []any) (any, error) {
	context := object{"slot": f.final}
	switch method {
	case "getGenesisHash":
		return GenesisMainnet, nil
	case "getHealth":
		return "ok", nil
	case "getSlot":
		return f.final, nil
	case "getBlock":
		return f.block(uint64(params[0].(float64)), params[1].(object))
	case "getBlocks":
		return f.slots(uint64(params[0].(float64)), uint64(params[1].(float64)), 1<<30), nil
	case "getBlocksWithLimit":
		return f.slots(uint64(params[0].(float64)), f.final, int(params[1].(float64))), nil
	case "getMultipleAccounts":
		list := []any{}
		for _, base := range params[0].([]any) {
			list = append(list, f.accounts[base.(string)])
		}
		return object{"context": context, "value": list}, nil
	case "getMinimumBalanceForRentExemption":
		return (128 + int(params[0].(float64))) * 6960, nil
	case "getRecentPrioritizationFees":
		return []any{}, nil
	case "getLatestBlockhash":
		b := f.blocks[f.final]
		return object{"context": context, "value": object{"blockhash": b["blockhash"],
			"lastValidBlockHeight": b["blockHeight"].(int) + lifetime}}, nil
	case "getFeeForMessage":
		return object{"context": context, "value": 5150}, nil
	case "getTransaction":
		return nil, nil
	case "simulateTransaction":
		return object{"context": context, "value": object{"err": "AccountNotFound", "logs": []string{}}}, nil
	case "getEpochInfo":
		return object{"absoluteSlot": f.final, "blockHeight": f.blocks[f.final]["blockHeight"]}, nil
	case "getSignatureStatuses":
		id := params[0].([]any)[0].(string)
		if slot, in := f.statuses[id]; in {
			return object{"context": context, "value": []any{object{"slot": slot}}}, nil
		}
		return object{"context": context, "value": []any{nil}}, nil
	case "sendTransaction":
		f.sent = append(f.sent, params[0])
		return nil, failure{code: -32601, message: "no script"}
	}
	return nil, failure{code: -32601, message: "Method not found"}
}

// block answers as Agave 4.2 does (rpc.rs get_block, transaction-status encode_with_options).
func (f *fake) block(slot uint64, config object) (any, error) {
	if config["commitment"] == "processed" {
		return nil, failure{code: -32602, message: "Method does not support commitment below `confirmed`"}
	}
	if f.oldest > slot {
		return nil, failure{code: -32001,
			message: fmt.Sprintf("Block %d cleaned up, does not exist on node. First available block: %d", slot, f.oldest)}
	}
	if slot > f.final {
		return nil, failure{code: -32004, message: fmt.Sprintf("Block not available for slot %d", slot)}
	}
	b, produced := f.blocks[slot]
	if !produced {
		return nil, skippedSlot(-32007)
	}
	b = maps.Clone(b)
	txs, _ := b["transactions"].([]object)
	switch config["transactionDetails"] {
	case "none":
		delete(b, "transactions")
		return b, nil
	case "full", nil:
	case "accounts":
		if f.plain {
			return nil, failure{code: -32602,
				message: "Invalid params: unknown variant `accounts`, expected one of `full`, `signatures`, `none`."}
		}
	default:
		return nil, failure{code: -32602,
			message: "Invalid params: unknown variant, expected one of `full`, `signatures`, `none`, `accounts`."}
	}
	if b["transactions"] == nil {
		return b, nil
	}
	encoded := []object{}
	for _, tx := range txs {
		e, err := encoded1(tx, config)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, e)
	}
	b["transactions"] = encoded
	return b, nil
}

// encoded1 returns a transaction in the requested encoding, or the refusal of its version.
func encoded1(tx, config object) (object, error) {
	highest, given := config["maxSupportedTransactionVersion"].(float64)
	if given && (highest < 0 || highest > 255) {
		return nil, failure{code: -32602, message: "Invalid params: invalid value: integer, expected u8."}
	}
	if version, numbered := tx["version"].(int); numbered && (!given || highest < float64(version)) {
		return nil, failure{code: -32015,
			message: fmt.Sprintf("Transaction version (%d) is not supported by the requesting client. "+
				"Please try the request again with the following configuration parameter: \"maxSupportedTransactionVersion\": %d",
				version, version)}
	}
	if config["transactionDetails"] != "accounts" || tx["meta"] == nil {
		return tx, nil
	}
	return inAccounts(tx), nil
}

// inAccounts returns a transaction in the encoding `accounts`: every key with a signer flag, and a meta without most of
// its members.
func inAccounts(tx object) object {
	body, meta := tx["transaction"].(object), tx["meta"].(object)
	message := body["message"].(object)
	signers := message["header"].(object)["numRequiredSignatures"].(int)
	keys := []object{}
	list := func(all any, source string) {
		texts, _ := all.([]string)
		for _, k := range texts {
			keys = append(keys, object{"pubkey": k, "signer": len(keys) < signers, "writable": true, "source": source})
		}
	}
	list(message["accountKeys"], "transaction")
	loaded, _ := meta["loadedAddresses"].(object)
	list(loaded["writable"], "lookupTable")
	list(loaded["readonly"], "lookupTable")
	short := maps.Clone(meta)
	for _, name := range []string{"loadedAddresses", "logMessages", "innerInstructions", "computeUnitsConsumed",
		"returnData", "costUnits", "rewards"} {
		delete(short, name)
	}
	out := object{"transaction": object{"signatures": body["signatures"], "accountKeys": keys}, "meta": short}
	if version, given := tx["version"]; given {
		out["version"] = version
	}
	return out
}

func (f *fake) slots(from, to uint64, limit int) []uint64 {
	list := []uint64{}
	for _, slot := range slices.Sorted(maps.Keys(f.blocks)) {
		if slot >= max(from, f.oldest) && slot <= to && slot <= f.final && len(list) < limit {
			list = append(list, slot)
		}
	}
	return list
}

// plainAccount returns a wallet's account.
func plainAccount(lamports uint64) object {
	return object{"lamports": lamports, "owner": systemProgram.String(), "executable": false, "space": 0}
}

// fakeTx is a transaction with its balances; by default it has one signer and succeeds.
type fakeTx struct {
	name               string
	keys               []string
	signers            int
	before, after      []uint64
	err                any
	writable, readonly []string
	legacy             bool
	version            int
}

func (t fakeTx) object() object {
	signers := max(t.signers, 1)
	signatures := []string{}
	for i := range signers {
		signatures = append(signatures, signatureOf(fmt.Sprint(t.name, i)))
	}
	places := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		return list
	}
	message := object{"accountKeys": t.keys, "header": object{"numRequiredSignatures": signers}}
	version := any("legacy")
	if !t.legacy {
		version = t.version
	}
	if !t.legacy && t.version == 0 {
		message["addressTableLookups"] = []object{{"writableIndexes": places(len(t.writable)),
			"readonlyIndexes": places(len(t.readonly))}}
	}
	return object{
		"version":     version,
		"transaction": object{"signatures": signatures, "message": message},
		"meta": object{"err": t.err, "fee": 5000, "preBalances": t.before, "postBalances": t.after,
			"loadedAddresses": object{"writable": t.writable, "readonly": t.readonly}},
	}
}
