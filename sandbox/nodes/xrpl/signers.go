package xrpl

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// signerList is a SignerList: who may sign for an account together.
type signerList struct {
	quorum uint32
	weight map[accountID]uint16
}

// list is an array of objects, as serialized and as the API shows it.
type list struct {
	raw   []byte
	items []values
}

// MarshalJSON shows the objects, each under its name.
func (l list) MarshalJSON() ([]byte, error) {
	shown := []any{}
	for _, item := range l.items {
		name := "Signer"
		if item["SignerWeight"] != nil {
			name = "SignerEntry"
		}
		shown = append(shown, object{name: item})
	}
	return json.Marshal(shown)
}

// inner are the fields of the objects of arrays, in the order of the encoding.
func inner() []field {
	return []field{{"SignerWeight", kindUInt16, 3}, {"SigningPubKey", kindBlob, 3}, {"TxnSignature", kindBlob, 4},
		{"Account", kindAccount, 1}}
}

// Headers within arrays (rippled's SField.cpp): Signer is STObject 16, SignerEntry STObject 11.
const (
	arrayEnd, objectEnd = 0xf1, 0xe1
	maxListed           = 32
)

// readList reads an array up to and with its end.
func readList(b []byte) (l list, rest []byte, err error) {
	for left := b; len(left) > 0 && len(l.items) <= maxListed; {
		if left[0] == arrayEnd {
			l.raw = b[:len(b)-len(left)+1]
			return l, left[1:], nil
		}
		kind, code, next, err := header(left)
		if err != nil || kind != 14 || code != 16 && code != 11 {
			return l, nil, errCodec
		}
		item := values{}
		for _, f := range inner() {
			if len(next) == 0 || next[0] != f.kind<<4|f.code {
				continue
			}
			if f.kind == kindUInt16 && len(next) > 2 {
				item[f.name], next = uint32(binary.BigEndian.Uint16(next[1:])), next[3:]
				continue
			}
			if item[f.name], next, err = f.read(next[1:]); err != nil {
				return l, nil, err
			}
		}
		if len(next) == 0 || next[0] != objectEnd || item["Account"] == nil {
			return l, nil, errCodec
		}
		l.items, left = append(l.items, item), next[1:]
	}
	return l, nil, errCodec
}

// signers returns the signers of a transaction that several sign.
func (v values) signers() []values {
	l, _ := v["Signers"].(list)
	return l.items
}

// times returns how many times the fee of a plain transaction this one costs (Transactor::calculateBaseFee).
func (v values) times() uint64 { return 1 + uint64(len(v.signers())) }

// verifySeveral checks the signatures of several signers, who are in ascending order (STTx::checkMultiSign).
func verifySeveral(v values) error {
	bare := maps.Clone(v)
	delete(bare, "Signers")
	body, last := encode(bare), accountID{}
	for _, s := range v.signers() {
		id, err := parseAddress(s.text("Account"))
		key, err1 := hex.DecodeString(s.text("SigningPubKey"))
		signature, err2 := hex.DecodeString(s.text("TxnSignature"))
		if err != nil || err1 != nil || err2 != nil || s.text("Account") == v.text("Account") ||
			slices.Compare(id[:], last[:]) <= 0 {
			return errUnsigned
		}
		if err := verifyOver("SMT\x00", slices.Concat(body, id[:]), key, signature); err != nil {
			return err
		}
		last = id
	}
	return nil
}

// allowed compares the signers of a transaction with the account's list (Transactor::checkMultiSign). An empty result
// is no objection. A signer signs with the key of its address here.
func (a *account) allowed(v values) string {
	if a.signers == nil {
		return "tefNOT_MULTI_SIGNING"
	}
	sum := uint32(0)
	for _, s := range v.signers() {
		id, _ := parseAddress(s.text("Account"))
		key, _ := hex.DecodeString(s.text("SigningPubKey"))
		weight, listed := a.signers.weight[id]
		if !listed || accountOf(key) != id {
			return "tefBAD_SIGNATURE"
		}
		sum += uint32(weight)
	}
	if sum < a.signers.quorum {
		return "tefBAD_QUORUM"
	}
	return ""
}

// listOf reads the list that a SignerListSet makes; nil where it removes one. An empty result is no objection
// (SetSignerList.cpp).
func listOf(v values) (*signerList, string) {
	quorum, _ := v.number("SignerQuorum")
	entries, _ := v["SignerEntries"].(list)
	if quorum == 0 {
		return nil, ""
	}
	l := &signerList{quorum: quorum, weight: map[accountID]uint16{}}
	sum := uint32(0)
	for _, e := range entries.items {
		id, _ := parseAddress(e.text("Account"))
		weight, _ := e.number("SignerWeight")
		if _, twice := l.weight[id]; twice || e.text("Account") == v.text("Account") {
			return nil, "temBAD_SIGNER"
		}
		if weight == 0 {
			return nil, "temBAD_WEIGHT"
		}
		l.weight[id] = uint16(weight)
		sum += weight
	}
	if sum < quorum {
		return nil, "temBAD_QUORUM"
	}
	return l, ""
}

// setSigners makes or removes an account's list, which is one object that it owns.
func setSigners(v *view, e *entry, id accountID) {
	next := *v.get(id)
	list, _ := listOf(e.values) // preflight has checked it
	if next.signers != nil {
		next.owned--
	}
	if list != nil {
		next.owned++
	}
	next.signers = list
	v.put(id, &next)
}

// accountObjects lists what an account owns: a list of signers, which is all that there is here.
func (n *Node) accountObjects(q query) (object, *refusal) {
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
		return nil, refuse("actNotFound", 19, "Account not found.")
	}
	found := []any{}
	if a.signers != nil {
		entries := []any{}
		for _, signer := range slices.SortedFunc(maps.Keys(a.signers.weight),
			func(a, b accountID) int { return slices.Compare(a[:], b[:]) }) {
			entries = append(entries, object{"SignerEntry": object{"Account": signer.String(),
				"SignerWeight": a.signers.weight[signer]}})
		}
		found = append(found, object{"LedgerEntryType": "SignerList", "SignerQuorum": a.signers.quorum,
			"SignerEntries": entries, "SignerListID": 0, "Flags": 0x0001_0000})
	}
	return n.name(object{"account": q.Account, "account_objects": found}, l), nil
}
