package tron

import (
	"encoding/hex"

	"github.com/ethereum/go-ethereum/core/types"
)

// The forms of java-tron's answers. Members that are zero, empty or false are left out, as protocol buffers' JSON
// does.

// objectOf is a JSON object under construction.
type objectOf map[string]any

// set adds a number unless it is zero.
func (o objectOf) set(key string, value int64) {
	if value != 0 {
		o[key] = value
	}
}

func (b *block) header() object {
	raw := objectOf{
		"txTrieRoot":      hex.EncodeToString(b.txRoot[:]),
		"witness_address": toHex(b.witness),
		"parentHash":      hex.EncodeToString(b.parent[:]),
		"version":         blockVersion,
	}
	raw.set("number", int64(b.height))
	raw.set("timestamp", b.time)
	return object{"blockID": b.name(), "block_header": object{"raw_data": object(raw),
		"witness_signature": hex.EncodeToString(make([]byte, 65))}}
}

func (b *block) whole() object {
	o := b.header()
	if len(b.txs) > 0 {
		list := make([]object, len(b.txs))
		for i, t := range b.txs {
			list[i] = t.whole(t.contractRet)
		}
		o["transactions"] = list
	}
	return o
}

// unsigned is a transaction that this node built.
func (t *transaction) unsigned(visible bool) object {
	o := t.whole("")
	delete(o, "signature")
	delete(o, "ret")
	o["visible"] = visible
	return o
}

func (t *transaction) whole(contractRet string) object {
	value := objectOf{"owner_address": toHex(t.owner)}
	switch t.kind {
	case update:
	case transfer:
		value["to_address"] = toHex(t.to)
		value.set("amount", t.amount)
	default:
		value["contract_address"] = toHex(t.to)
		value.set("call_value", t.amount)
		if len(t.data) > 0 {
			value["data"] = hex.EncodeToString(t.data)
		}
	}
	contract := objectOf{
		"parameter": object{"value": object(value), "type_url": typePrefix + t.kind.String()},
		"type":      t.kind.String(),
	}
	contract.set("Permission_id", t.permission)
	raw := objectOf{
		"contract": []object{object(contract)}, "ref_block_bytes": hex.EncodeToString(t.refBytes),
		"ref_block_hash": hex.EncodeToString(t.refHash),
	}
	raw.set("expiration", t.expiration)
	raw.set("timestamp", t.timestamp)
	raw.set("fee_limit", t.feeLimit)
	if len(t.memo) > 0 {
		raw["data"] = hex.EncodeToString(t.memo)
	}
	signatures := make([]string, len(t.signatures))
	for i, s := range t.signatures {
		signatures[i] = hex.EncodeToString(s)
	}
	ret := object{}
	if contractRet != "" {
		ret["contractRet"] = contractRet
	}
	return object{
		"txID": t.name(), "raw_data": object(raw), "raw_data_hex": hex.EncodeToString(t.raw), "signature": signatures,
		"ret": []object{ret},
	}
}

// info is a TransactionInfo.
func (t *included) info(b *block) object {
	receipt := objectOf{}
	receipt.set("net_usage", t.netUsage)
	receipt.set("net_fee", t.netFee)
	o := objectOf{"id": t.name(), "blockTimeStamp": b.time, "contractResult": []string{""}}
	o.set("fee", t.fee)
	o.set("blockNumber", int64(b.height))
	if t.outcome != nil {
		receipt.set("energy_fee", t.energyFee)
		receipt.set("energy_usage_total", t.energy)
		receipt["result"] = t.contractRet
		o["contract_address"] = toHex(t.to)
		o["contractResult"] = []string{hex.EncodeToString(t.outcome.output)}
		if t.contractRet != "SUCCESS" {
			o["result"] = "FAILED"
			o["resMessage"] = hex.EncodeToString([]byte(inWords(t.outcome.err)))
		} else if len(t.outcome.logs) > 0 {
			o["log"] = events(t.outcome.logs)
		}
		if len(t.outcome.internals) > 0 {
			o["internal_transactions"] = internals(t)
		}
	}
	o["receipt"] = object(receipt)
	return object(o)
}

// events name contracts by 20 bytes, without the prefix byte 41.
func events(logs []*types.Log) []object {
	list := make([]object, len(logs))
	for i, log := range logs {
		topics := make([]string, len(log.Topics))
		for k, topic := range log.Topics {
			topics[k] = hex.EncodeToString(topic[:])
		}
		list[i] = object{"address": hex.EncodeToString(log.Address[:]), "topics": topics}
		if len(log.Data) > 0 {
			list[i]["data"] = hex.EncodeToString(log.Data)
		}
	}
	return list
}

func internals(t *included) []object {
	list := make([]object, len(t.outcome.internals))
	for i, step := range t.outcome.internals {
		moved := objectOf{}
		moved.set("callValue", step.sun)
		list[i] = object{
			"hash": hex.EncodeToString(t.id[:]), "caller_address": toHex(step.from), "transferTo_address": toHex(step.to),
			"callValueInfo": []object{object(moved)}, "note": hex.EncodeToString([]byte(step.note)),
		}
		if step.rejected {
			list[i]["rejected"] = true
		}
	}
	return list
}
