package xrpl

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// shown is the newest ledger that the node shows.
func (n *Node) shown() *ledger {
	if n.frozen > 0 {
		return n.ledgers[n.frozen-1]
	}
	return n.tip()
}

// complete is the list of ledgers that the node shows.
func (n *Node) complete() string {
	last := n.shown().index
	first, end := n.gap[0], n.gap[1]
	switch {
	case first == 0 || first > last:
		return fmt.Sprintf("1-%d", last)
	case first == 1 && end >= last:
		return "empty"
	case first == 1:
		return fmt.Sprintf("%d-%d", end+1, last)
	case end >= last:
		return fmt.Sprintf("1-%d", first-1)
	}
	return fmt.Sprintf("1-%d,%d-%d", first-1, end+1, last)
}

// lacks reports whether a ledger is in the gap.
func (n *Node) lacks(index uint32) bool {
	return n.gap[0] > 0 && index >= n.gap[0] && index <= n.gap[1]
}

func closed(l *ledger) time.Time { return time.Unix(int64(l.close)+rippleEpoch, 0).UTC() }

func (n *Node) serverInfo() object {
	tip := n.shown()
	now := n.cfg.Now()
	info := object{
		"build_version": "2.6.2", "complete_ledgers": n.complete(), "hostid": "SANDBOX", "io_latency_ms": 1, "load_factor": 1,
		"peers": 10, "pubkey_node": "n9KorY8QtTdRx7TVDpwnG9NvyxsDwHUKUEeDLY3AkiGncVaSXZi5",
		"server_state": "full", "time": now.UTC().Format("2006-Jan-02 15:04:05.000000 UTC"), "uptime": 1000,
		"validation_quorum": 1,
		"validated_ledger": object{
			"age": max(now.Unix()-closed(tip).Unix(), 0), "base_fee_xrp": json.Number("1e-05"), "hash": tip.hash.String(),
			"reserve_base_xrp": json.Number("1"), "reserve_inc_xrp": json.Number("0.2"), "seq": tip.index,
		},
	}
	if n.cfg.NetworkID != 0 {
		info["network_id"] = n.cfg.NetworkID
	}
	return object{"info": info}
}

func (n *Node) fees() object {
	return object{
		"current_ledger_size": strconv.Itoa(len(n.pool)), "current_queue_size": strconv.Itoa(len(n.queue)),
		"expected_ledger_size": "1000",
		"max_queue_size":       "2000", "ledger_current_index": n.tip().index + 1,
		"drops": object{
			"base_fee": drops(baseFee), "median_fee": drops(max(n.fee, 5000)), "minimum_fee": drops(n.least),
			"open_ledger_fee": drops(n.fee),
		},
		"levels": object{
			"median_level": "128000", "minimum_level": drops(n.least * 256 / baseFee),
			"open_ledger_level": drops(n.fee * 256 / baseFee),
			"reference_level":   "256",
		},
	}
}

// choose finds the ledger that a query names: validated ones by number, hash or shortcut, or the open one, which is
// nil.
func (n *Node) choose(q query) (*ledger, *refusal) {
	if q.LedgerHash != "" {
		for _, l := range n.ledgers[:n.shown().index] {
			if l.hash.String() == q.LedgerHash && !n.lacks(l.index) {
				return l, nil
			}
		}
		return nil, refuse("lgrNotFound", 21, "ledgerNotFound")
	}
	name := strings.Trim(string(q.LedgerIndex), `"`)
	switch name {
	case "validated", "closed":
		return n.shown(), nil
	case "", "current":
		return nil, nil
	}
	index, err := strconv.ParseUint(name, 10, 32)
	switch {
	case err != nil:
		return nil, invalid("ledgerIndexMalformed")
	case index == uint64(n.tip().index)+1:
		return nil, nil
	case index == 0 || index > uint64(n.shown().index) || n.lacks(uint32(index)):
		return nil, refuse("lgrNotFound", 21, "ledgerNotFound")
	}
	return n.ledgers[index-1], nil
}

// name adds the ledger that an answer is about.
func (n *Node) name(out object, l *ledger) object {
	if l == nil {
		out["ledger_current_index"], out["validated"] = n.tip().index+1, false
		return out
	}
	out["ledger_index"], out["ledger_hash"], out["validated"] = l.index, l.hash.String(), true
	return out
}

func (n *Node) askLedger(q query) (object, *refusal) {
	l, refused := n.choose(q)
	if refused != nil {
		return nil, refused
	}
	if l == nil {
		open := object{"closed": false, "ledger_index": strconv.Itoa(int(n.tip().index) + 1),
			"parent_hash": n.tip().hash.String()}
		return n.name(object{"ledger": open}, nil), nil
	}
	shown := object{
		"account_hash": l.stateRoot.String(), "close_flags": 0, "close_time": l.close,
		"close_time_human": closed(l).Format("2006-Jan-02 15:04:05.000000000 UTC"),
		"close_time_iso":   closed(l).Format(time.RFC3339), "close_time_resolution": resolution, "closed": true,
		"ledger_hash":  l.hash.String(),
		"ledger_index": any(l.index), "parent_close_time": l.parentClose, "parent_hash": l.parent.String(),
		"total_coins":      drops(l.drops),
		"transaction_hash": l.txRoot.String(),
	}
	if q.APIVersion == 1 {
		shown["ledger_index"] = strconv.Itoa(int(l.index))
	}
	if q.Transactions {
		list := []any{}
		for _, a := range l.txs {
			if !q.Expand {
				list = append(list, a.id.String())
			} else {
				list = append(list, n.expanded(a, q))
			}
		}
		shown["transactions"] = list
	}
	return n.name(object{"ledger": shown}, l), nil
}

// expanded is a transaction within a ledger's answer.
func (n *Node) expanded(a *applied, q query) object {
	if q.APIVersion == 1 {
		out := a.plain()
		out["metaData"] = a.meta(a.place)
		return out
	}
	l := n.ledgers[a.ledger-1]
	return object{
		"close_time_iso": closed(l).Format(time.RFC3339), "hash": a.id.String(), "ledger_hash": l.hash.String(),
		"ledger_index": a.ledger,
		"meta":         a.meta(a.place), "tx_json": a.renamed(), "validated": true,
	}
}

// plain is a transaction in version 1 of the API: its own fields and its hash.
func (e *entry) plain() object {
	out := object{"hash": e.id.String()}
	for key, value := range e.values {
		out[key] = value
	}
	if e.values.text("TransactionType") == "Payment" {
		out["DeliverMax"] = out["Amount"]
	}
	return out
}

// renamed is a transaction in version 2, where a payment's Amount has another name.
func (e *entry) renamed() object {
	out := e.plain()
	delete(out, "hash")
	if e.values.text("TransactionType") == "Payment" {
		delete(out, "Amount")
	}
	return out
}

func upperHex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }
