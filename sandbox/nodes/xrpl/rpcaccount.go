package xrpl

import (
	"encoding/binary"
	"slices"
	"time"
)

// stateIn is an account in the ledger that a query names; the open ledger is nil.
func (n *Node) stateIn(l *ledger, id accountID) (account, bool) {
	if l != nil {
		return n.state.at(id, l.index)
	}
	a := n.open.get(id)
	if a == nil {
		return account{}, false
	}
	return *a, true
}

func (n *Node) accountInfo(q query) (object, *refusal) {
	id, err := parseAddress(q.Account)
	if err != nil {
		return nil, refuse("actMalformed", 35, "Account malformed.")
	}
	l, refused := n.choose(q)
	if refused != nil {
		return nil, refused
	}
	a, exists := n.stateIn(l, id)
	if !exists {
		refused := refuse("actNotFound", 19, "Account not found.")
		refused.more = n.name(object{"account": q.Account}, l)
		return nil, refused
	}
	data := root(id, a)
	data["LedgerEntryType"], data["index"] = "AccountRoot", rootIndex(id)
	flags := object{
		"requireDestinationTag": a.flags&lsfRequireTag != 0, "depositAuth": a.flags&lsfDepositAuth != 0,
		"disableMasterKey": a.flags&lsfDisableMaster != 0,
	}
	return n.name(object{"account_data": data, "account_flags": flags}, l), nil
}

// ledgerEntry finds an account, or the entry with an index: an account or a list of ledger hashes.
func (n *Node) ledgerEntry(q query) (object, *refusal) {
	l, refused := n.choose(q)
	if refused != nil {
		return nil, refused
	}
	index, node := q.Index, object(nil)
	if index == "" {
		id, err := parseAddress(q.AccountRoot)
		if err != nil {
			return nil, refuse("malformedAddress", 35, "Malformed address.")
		}
		index = rootIndex(id)
		if a, exists := n.stateIn(l, id); exists {
			node = root(id, a)
			node["LedgerEntryType"], node["index"] = "AccountRoot", index
		}
	} else {
		node = n.hashesAt(l, index)
	}
	if node == nil {
		refused := refuse("entryNotFound", 96, "Requested ledger entry not found.")
		refused.more = n.name(object{"index": index}, l)
		return nil, refused
	}
	return n.name(object{"index": index, "node": node}, l), nil
}

// hashesAt is the list of ledger hashes with an index, or nil: of the last 256 ledgers, or of every 256th in a range
// of 65,536 (xrpld 3.0, Ledger::updateSkipList). Other entries are not searched.
func (n *Node) hashesAt(l *ledger, index string) object {
	newest := n.shown().index
	if l != nil {
		newest = l.index - 1
	}
	var hashes []string
	last := uint32(0)
	if index == half("\x00s").String() {
		for i := max(newest, 256) - 255; i <= newest; i++ {
			hashes, last = append(hashes, n.ledgers[i-1].hash.String()), i
		}
	}
	for i := uint32(256); i <= newest && len(hashes) == 0; i += 65_536 {
		if index != half("\x00s", binary.BigEndian.AppendUint32(nil, i>>16)).String() {
			continue
		}
		for at := i; at <= newest && at>>16 == i>>16; at += 256 {
			hashes, last = append(hashes, n.ledgers[at-1].hash.String()), at
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	return object{
		"LedgerEntryType":    "LedgerHashes",
		"Flags":              0,
		"Hashes":             hashes,
		"LastLedgerSequence": last,
		"index":              index,
	}
}

const maxAccountTx = 200

// accountTx lists the transactions that affected an account, newest first unless forward is requested. The marker is
// how many came before.
func (n *Node) accountTx(q query) (object, *refusal) {
	id, err := parseAddress(q.Account)
	if err != nil {
		return nil, refuse("actMalformed", 35, "Account malformed.")
	}
	first, last := uint32(1), n.shown().index
	if q.IndexMin != nil && *q.IndexMin > 0 {
		first = uint32(min(*q.IndexMin, int64(last)))
	}
	if q.IndexMax != nil && *q.IndexMax > 0 {
		last = uint32(min(*q.IndexMax, int64(last)))
	}
	var touched []*applied
	for _, l := range n.ledgers[first-1 : max(last, first-1)] {
		for _, a := range l.txs {
			if !n.lacks(l.index) && a.touches(id) {
				touched = append(touched, a)
			}
		}
	}
	if !q.Forward {
		slices.Reverse(touched)
	}
	out := object{"account": q.Account, "ledger_index_min": first, "ledger_index_max": last, "validated": true}
	skip := 0
	if q.Marker != nil {
		skip = max(0, min(*q.Marker, len(touched)))
	}
	page := touched[skip:]
	limit := maxAccountTx
	if q.Limit > 0 {
		limit = min(q.Limit, limit)
	}
	if len(page) > limit {
		page = page[:limit]
		out["marker"] = skip + limit
	}
	list := []any{}
	for _, a := range page {
		list = append(list, n.listed(a, q))
	}
	out["transactions"], out["limit"] = list, limit
	return out, nil
}

// listed is a transaction within account_tx's answer.
func (n *Node) listed(a *applied, q query) object {
	if q.APIVersion > 1 {
		return n.expanded(a, q)
	}
	tx := a.plain()
	tx["ledger_index"], tx["date"] = a.ledger, n.ledgers[a.ledger-1].close
	return object{
		"tx":             tx,
		"meta":           a.meta(a.place),
		"validated":      true,
		"close_time_iso": closed(n.ledgers[a.ledger-1]).Format(time.RFC3339),
	}
}

func (a *applied) touches(id accountID) bool {
	text := id.String()
	if a.values.text("Account") == text || a.values.text("Destination") == text {
		return true
	}
	to, _, err := splitTag(text)
	return err == nil && a.delivery != nil && a.delivery.goesTo(to)
}

func (d *Delivery) goesTo(id accountID) bool {
	to, _, err := splitTag(d.Address)
	return err == nil && to == id
}
