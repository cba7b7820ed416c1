package solana

import (
	"encoding/base64"
	"slices"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// find returns a transaction in a block at or below a commitment level, nil when there is none.
func (n *Node) find(id signature, l level) *included {
	t := n.bank.byID[id]
	if t == nil || t.slot > n.bank.at(l).slot {
		return nil
	}
	return t
}

func (n *Node) getTransaction(p params) (any, error) {
	var text string
	if err := p.get(0, &text); err != nil {
		return nil, err
	}
	id, err := paramSignature(text)
	if err != nil {
		return nil, err
	}
	o, err := n.ledgerOptions(namedEncoding(p), 1)
	if err != nil {
		return nil, err
	}
	t := n.find(id, o.Commitment)
	if t == nil {
		return nil, nil
	}
	view, err := t.view(o)
	if err != nil {
		return nil, err
	}
	view["slot"], view["blockTime"] = t.slot, n.bank.bySlot[t.slot].time
	return view, nil
}

// view is a transaction with its outcome, in the requested encoding. In every encoding, a version above the requested
// one is refused (Agave 4.2: transaction-status, validate_version).
func (i *included) view(o options) (map[string]any, error) {
	if i.version != legacy && (o.MaxVersion == nil || int(*o.MaxVersion) < i.version) {
		return nil, fail(codeVersion,
			"Transaction version (%d) is not supported by the requesting client. Please try the request again with the "+
				"following configuration parameter: \"maxSupportedTransactionVersion\": %d", i.version, i.version)
	}
	view := map[string]any{"meta": i.meta()}
	if o.MaxVersion != nil {
		view["version"] = "legacy"
		if i.version != legacy {
			view["version"] = i.version
		}
	}
	switch {
	case o.Details == "accounts":
		view["meta"] = i.simpleMeta()
		view["transaction"] = map[string]any{"accountKeys": i.parsedKeys(), "signatures": i.signatures}
	case o.Encoding == "", o.Encoding == "json":
		view["transaction"] = i.json()
	case o.Encoding == "jsonParsed":
		view["transaction"] = i.parsed()
	case o.Encoding == "base64":
		view["transaction"] = []string{base64.StdEncoding.EncodeToString(i.raw), "base64"}
	case o.Encoding == "base58":
		view["transaction"] = []string{base58.Encode(i.raw), "base58"}
	default:
		return nil, fail(codeParams, "unsupported encoding: %s", o.Encoding)
	}
	return view, nil
}

func (i *included) meta() map[string]any {
	status := map[string]any{"Ok": nil}
	if i.err != nil {
		status = map[string]any{"Err": i.err}
	}
	return map[string]any{
		"err": i.err, "status": status, "fee": i.fee, "preBalances": i.before, "postBalances": i.after,
		"innerInstructions": []any{}, "logMessages": i.logs, "preTokenBalances": []any{}, "postTokenBalances": []any{},
		"rewards": []any{}, "computeUnitsConsumed": i.units,
		"loadedAddresses": map[string]any{"writable": list(i.loaded[0]), "readonly": list(i.loaded[1])},
	}
}

// simpleMeta is the part of meta that the encoding `accounts` shows (Agave 4.2:
// build_simple_ui_transaction_status_meta).
func (i *included) simpleMeta() map[string]any {
	meta := i.meta()
	for _, name := range []string{"innerInstructions", "logMessages", "rewards", "computeUnitsConsumed",
		"loadedAddresses"} {
		delete(meta, name)
	}
	return meta
}

// list is never null in JSON.
func list(keys []key) []key {
	if keys == nil {
		return []key{}
	}
	return keys
}

// json is the transaction in the encoding json.
func (i *included) json() map[string]any {
	instructions := []any{}
	for _, x := range i.transaction.instructions {
		places := make([]int, len(x.accounts))
		for j, a := range x.accounts {
			places[j] = int(a)
		}
		instructions = append(instructions, map[string]any{
			"programIdIndex": x.program, "accounts": places, "data": base58.Encode(x.data), "stackHeight": 1,
		})
	}
	message := map[string]any{
		"accountKeys": i.transaction.keys, "recentBlockhash": i.blockhash, "instructions": instructions,
		"header": map[string]any{"numRequiredSignatures": i.signers, "numReadonlySignedAccounts": i.readSigned,
			"numReadonlyUnsignedAccounts": i.readUnsigned},
	}
	if i.version == 0 {
		lookups := []any{}
		for _, l := range i.lookups {
			lookups = append(lookups, map[string]any{"accountKey": l.table, "writableIndexes": numbers(l.writable),
				"readonlyIndexes": numbers(l.readonly)})
		}
		message["addressTableLookups"] = lookups
	}
	if i.version == 1 {
		message["transactionConfig"] = i.config.view()
	}
	return map[string]any{"signatures": i.signatures, "message": message}
}

// numbers is a list of bytes as JSON numbers.
func numbers(data []byte) []int {
	out := make([]int, len(data))
	for i, b := range data {
		out[i] = int(b)
	}
	return out
}

// parsedKeys is the accounts of a transaction in the encoding jsonParsed.
func (i *included) parsedKeys() []any {
	r := &runner{transaction: i.transaction, outcome: i.outcome}
	var keys []any
	for place, k := range i.outcome.keys {
		source := "transaction"
		if place >= len(i.transaction.keys) {
			source = "lookupTable"
		}
		keys = append(keys, map[string]any{"pubkey": k, "signer": r.signs(byte(place)), "writable": r.writes(byte(place)),
			"source": source})
	}
	return keys
}

// parsed is the transaction in the encoding jsonParsed; transfers are parsed, other instructions are given as they are.
func (i *included) parsed() map[string]any {
	instructions := []any{}
	for _, x := range i.transaction.instructions {
		instructions = append(instructions, i.parsedInstruction(x))
	}
	message := map[string]any{"accountKeys": i.parsedKeys(), "recentBlockhash": i.blockhash, "instructions": instructions}
	return map[string]any{"signatures": i.signatures, "message": message}
}

func (i *included) parsedInstruction(x instruction) map[string]any {
	program := i.transaction.keys[x.program]
	if lamports, is := transferOf(x); is && program == systemProgram() {
		info := map[string]any{"source": i.outcome.keys[x.accounts[0]], "destination": i.outcome.keys[x.accounts[1]],
			"lamports": lamports}
		return map[string]any{"program": "system", "programId": program, "stackHeight": 1,
			"parsed": map[string]any{"type": "transfer", "info": info}}
	}
	accounts := []key{}
	for _, a := range x.accounts {
		accounts = append(accounts, i.outcome.keys[a])
	}
	return map[string]any{"programId": program, "accounts": accounts, "data": base58.Encode(x.data), "stackHeight": 1}
}

// statusView is the status of a transaction.
func (n *Node) statusView(t *included) map[string]any {
	state, confirmations := processed, any(uint64(len(n.bank.blocks)-1)-n.bank.bySlot[t.slot].height)
	switch {
	case t.slot <= n.bank.at(finalized).slot:
		state, confirmations = finalized, nil
	case t.slot <= n.bank.at(confirmed).slot:
		state = confirmed
	}
	status := map[string]any{"Ok": nil}
	if t.err != nil {
		status = map[string]any{"Err": t.err}
	}
	return map[string]any{"slot": t.slot, "confirmations": confirmations, "err": t.err, "status": status,
		"confirmationStatus": state}
}

func (n *Node) getSignatureStatuses(p params) (any, error) {
	var texts []string
	if err := p.get(0, &texts); err != nil {
		return nil, err
	}
	if len(texts) > 256 {
		return nil, fail(codeParams, "Too many inputs provided; max 256")
	}
	o, err := n.options(p, 1)
	if err != nil {
		return nil, err
	}
	views := make([]any, len(texts))
	for i, text := range texts {
		id, err := paramSignature(text)
		if err != nil {
			return nil, err
		}
		// Without a search only what a validator's status cache holds is found: the last 150 blocks.
		if t := n.find(id, processed); t != nil &&
			(o.Search || n.bank.head().height-n.bank.bySlot[t.slot].height <= blockhashLife) {
			views[i] = n.statusView(t)
		}
	}
	return n.in(processed, views), nil
}

func (n *Node) getSignaturesForAddress(p params) (any, error) {
	k, err := p.key(0)
	if err != nil {
		return nil, err
	}
	o, err := n.ledgerOptions(p, 1)
	if err != nil {
		return nil, err
	}
	limit := 1000
	if o.Limit != nil {
		limit = *o.Limit
	}
	if limit < 1 || limit > 1000 {
		return nil, fail(codeParams, "Invalid limit; max 1000")
	}
	views, skipping := []any{}, o.Before != ""
	for _, x := range slices.Backward(n.bank.blocks[:n.bank.place(o.Commitment)+1]) {
		for _, t := range slices.Backward(x.txs) {
			id := t.id().String()
			if id == o.Until || len(views) == limit {
				return views, nil
			}
			if !skipping && t.mentions([]key{k}) {
				status := n.statusView(t)
				views = append(views, map[string]any{"signature": id, "slot": t.slot, "err": t.err, "memo": nil,
					"blockTime":          x.time,
					"confirmationStatus": status["confirmationStatus"]})
			}
			skipping = skipping && id != o.Before
		}
	}
	return views, nil
}
