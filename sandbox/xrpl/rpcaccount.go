package xrpl

import (
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

func (n *Node) ledgerEntry(q query) (object, *refusal) {
	id, err := parseAddress(q.AccountRoot)
	if err != nil {
		return nil, refuse("malformedAddress", 35, "Malformed address.")
	}
	l, refused := n.choose(q)
	if refused != nil {
		return nil, refused
	}
	a, exists := n.stateIn(l, id)
	if !exists {
		return nil, refuse("entryNotFound", 96, "Requested ledger entry not found.")
	}
	node := root(id, a)
	node["LedgerEntryType"], node["index"] = "AccountRoot", rootIndex(id)
	return n.name(object{"index": rootIndex(id), "node": node}, l), nil
}

const maxAccountTx = 200

// accountTx lists what touched an account, newest first unless forward is asked for. The marker is how many came before.
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
	return object{"tx": tx, "meta": a.meta(a.place), "validated": true, "close_time_iso": closed(n.ledgers[a.ledger-1]).Format(time.RFC3339)}
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
