package xrpl

import "strconv"

func drops(n uint64) string { return strconv.FormatUint(n, 10) }

// rootIndex is an AccountRoot's key in the state tree.
func rootIndex(id accountID) string { return half("\x00\x61", id[:]).String() }

// root is an AccountRoot as the API shows it.
func root(id accountID, a account) map[string]any {
	return map[string]any{
		"Account": id.String(), "Balance": drops(a.balance), "Flags": a.flags, "OwnerCount": a.owned, "Sequence": a.sequence,
	}
}

// describe is the AffectedNodes entry of an account, nil if the account is unchanged.
func describe(id accountID, before, after *account) any {
	entry := map[string]any{"LedgerEntryType": "AccountRoot", "LedgerIndex": rootIndex(id)}
	switch {
	case before == nil && after == nil:
		return nil
	case before == nil:
		entry["NewFields"] = map[string]any{"Account": id.String(), "Balance": drops(after.balance),
			"Sequence": after.sequence}
		return map[string]any{"CreatedNode": entry}
	case after == nil:
		gone := *before
		gone.balance = 0
		entry["FinalFields"], entry["PreviousFields"] = root(id, gone), map[string]any{"Balance": drops(before.balance)}
		return map[string]any{"DeletedNode": entry}
	}
	previous := map[string]any{}
	if before.balance != after.balance {
		previous["Balance"] = drops(before.balance)
	}
	if before.sequence != after.sequence {
		previous["Sequence"] = before.sequence
	}
	if before.flags != after.flags {
		previous["Flags"] = before.flags
	}
	entry["FinalFields"], entry["PreviousFields"] = root(id, *after), previous
	return map[string]any{"ModifiedNode": entry}
}

// meta is a transaction's metadata as the API shows it.
func (o outcome) meta(place int) map[string]any {
	m := map[string]any{"TransactionResult": o.result, "TransactionIndex": place, "AffectedNodes": o.nodes}
	if o.delivered != nil {
		m["delivered_amount"] = o.delivered
	}
	return m
}
