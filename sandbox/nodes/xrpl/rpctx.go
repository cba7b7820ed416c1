package xrpl

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// askTx looks up a transaction among the validated and the open ones.
func (n *Node) askTx(q query) (object, *refusal) {
	raw, err := hex.DecodeString(q.Transaction)
	if err != nil || len(raw) != len(hash{}) {
		return nil, refuse("notImpl", 74, "Not implemented.")
	}
	ranged := q.MinLedger != nil && q.MaxLedger != nil
	if ranged && (*q.MinLedger > *q.MaxLedger) {
		return nil, refuse("invalidLgrRange", 79, "Ledger range is invalid.")
	}
	if ranged && *q.MaxLedger-*q.MinLedger > 1000 {
		return nil, refuse("excessiveLgrRange", 78, "Ledger range exceeds 1000.")
	}
	id := hash(raw)
	if a, found := n.txs[id]; found && a.ledger <= n.shown().index && !n.lacks(a.ledger) &&
		(!ranged || *q.MinLedger <= a.ledger && a.ledger <= *q.MaxLedger) {
		return n.validatedTx(a, q), nil
	}
	for _, e := range slices.Concat(n.pool, n.queue) {
		if e.id == id {
			out := e.forTx(q)
			out["hash"], out["validated"] = id.String(), false
			return out, nil
		}
	}
	refused := refuse("txnNotFound", 29, "Transaction not found.")
	if ranged {
		whole := *q.MaxLedger <= n.shown().index && *q.MinLedger > 0
		if n.gap[0] > 0 && *q.MinLedger <= n.gap[1] && *q.MaxLedger >= n.gap[0] {
			whole = false
		}
		refused.more = object{"searched_all": whole}
	}
	return nil, refused
}

func (n *Node) validatedTx(a *applied, q query) object {
	l := n.ledgers[a.ledger-1]
	iso := closed(l).Format(time.RFC3339)
	out := a.forTx(q)
	out["hash"], out["ledger_index"], out["validated"] = a.id.String(), a.ledger, true
	if q.APIVersion > 1 {
		out["ledger_hash"], out["close_time_iso"] = l.hash.String(), iso
	} else {
		out["date"] = l.close
	}
	switch tx, _ := out["tx_json"].(object); {
	case out["tx_blob"] != nil:
		out["meta_blob"] = "" // metadata has no binary form here
	case out["tx"] != nil:
		out["meta"] = ""
	case tx != nil:
		out["meta"], tx["ledger_index"], tx["date"] = a.meta(a.place), a.ledger, l.close
	default:
		out["meta"], out["inLedger"], out["close_time_iso"] = a.meta(a.place), a.ledger, iso
	}
	return out
}

// forTx is a transaction as an answer to tx shows it: in binary if that is requested and available.
func (e *entry) forTx(q query) object {
	switch binary := q.Binary && e.blob != nil; {
	case binary && q.APIVersion > 1:
		return object{"tx_blob": upperHex(e.blob)}
	case binary:
		return object{"tx": upperHex(e.blob)}
	case q.APIVersion > 1: // and the hash next to it
		return object{"tx_json": e.renamed()}
	}
	return e.plain()
}

// submit validates a signed transaction as the real chain does and adds it to the open ledger.
func (n *Node) submit(q query) (object, *refusal) {
	blob, err := hex.DecodeString(q.Blob)
	if err != nil || len(blob) == 0 {
		return nil, invalid("Missing or malformed field 'tx_blob'.")
	}
	v, err := decode(blob)
	if err != nil {
		return nil, bad(err)
	}
	if err := verify(v, blob); err != nil {
		return nil, bad(err)
	}
	e := &entry{id: half("TXN\x00", blob), blob: blob, values: v}
	result, err := n.take(e)
	if err != nil {
		return nil, refuse("internal", 73, "Internal error.")
	}
	tx := e.plain()
	if q.APIVersion > 1 {
		tx = e.renamed()
		tx["hash"] = e.id.String()
	}
	code, message := explain(result)
	inOpen := taken(result)
	next := uint32(0)
	if a := n.open.get(e.source()); a != nil {
		next = a.sequence
	}
	return object{
		"engine_result": result, "engine_result_code": code, "engine_result_message": message,
		"tx_blob": strings.ToUpper(q.Blob), "tx_json": tx,
		"accepted": inOpen || result == "terQUEUED", "applied": inOpen, "broadcast": inOpen, "queued": result == "terQUEUED",
		"kept": inOpen || strings.HasPrefix(result, "ter"), "account_sequence_available": next, "account_sequence_next": next,
		"open_ledger_cost": drops(n.fee), "validated_ledger_index": n.shown().index,
	}, nil
}

func bad(err error) *refusal {
	refused := refuse("invalidTransaction", 0, "")
	refused.more = object{"error_exception": "fails local checks: " + err.Error()}
	return refused
}

// take admits a transaction, or queues or refuses it because of its fee.
func (n *Node) take(e *entry) (string, error) {
	for _, other := range slices.Concat(n.pool, n.queue, n.held) {
		if other.id == e.id {
			return "tefALREADY", nil
		}
	}
	tried := newView(n.state, n.tip().index)
	for id, a := range n.open.changed {
		tried.put(id, a)
	}
	o := n.apply(tried, e, n.tip().index+1)
	if !taken(o.result) && o.result != "terPRE_SEQ" {
		return o.result, nil
	}
	fee, _ := e.values.drops("Fee")
	if fee < n.least*e.values.times() {
		return "telINSUF_FEE_P", nil
	}
	queued := fee < n.fee*e.values.times() && taken(o.result)
	if err := n.journal.Append(record{Op: opTx, Blob: e.blob, Queued: queued}); err != nil {
		return "", err
	}
	if queued {
		n.queue = append(n.queue, e)
		return "terQUEUED", nil
	}
	return n.admit(e), nil
}

// explain returns a result's number and text (rippled's TER.cpp), or a number of its class.
func explain(result string) (int, string) {
	switch result {
	case "tesSUCCESS":
		return 0, "The transaction was applied. Only final in a validated ledger."
	case "terQUEUED":
		return -89, "Held until escalated fee drops."
	case "terPRE_SEQ":
		return -92, "Missing/inapplicable prior transaction."
	case "terNO_ACCOUNT":
		return -96, "The source account does not exist."
	case "tefPAST_SEQ":
		return -190, "This sequence number has already passed."
	case "tefALREADY":
		return -198, "The exact transaction was already in this ledger."
	case "tefMAX_LEDGER":
		return -186, "Ledger sequence too high."
	case "telINSUF_FEE_P":
		return -394, "Fee insufficient."
	case "tecUNFUNDED_PAYMENT":
		return 104, "Insufficient XRP balance to send."
	case "tecNO_DST_INSUF_XRP":
		return 125, "Destination does not exist. Too little XRP sent to create it."
	case "tecDST_TAG_NEEDED":
		return 143, "A destination tag is required."
	case "tecNO_PERMISSION":
		return 139, "No permission to perform requested operation."
	case "tecPATH_DRY":
		return 128, "Path could not send partial amount."
	case "temBAD_FEE":
		return -289, "Invalid fee, negative or not XRP."
	}
	return map[string]int{"tem": -299, "tef": -199, "tel": -399, "ter": -99, "tec": 100}[result[:3]], result
}
