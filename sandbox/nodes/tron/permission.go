package tron

import (
	"encoding/hex"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/crypto"
)

const (
	multiSignFee = 1_000_000   // getMultiSignFee
	updateFee    = 100_000_000 // getUpdateAccountPermissionFee
)

// permission is who may sign what for an account (java-tron's core/Tron.proto, Permission).
type permission struct {
	id, threshold int64
	name          string
	operations    []byte
	keys          []permissionKey
}

type permissionKey struct {
	address common.Address
	weight  int64
}

// readPermission reads the message.
func readPermission(raw []byte) (p permission, err error) {
	fields, err := read(raw)
	if err != nil {
		return p, err
	}
	p = permission{id: last(fields, 2).number, name: string(last(fields, 3).bytes), threshold: last(fields, 4).number,
		operations: last(fields, 6).bytes}
	for _, key := range fields[7] {
		of, err := read(key.bytes)
		if err != nil {
			return p, err
		}
		address, ok := fromBytes(last(of, 1).bytes)
		if !ok {
			return p, errMessage
		}
		p.keys = append(p.keys, permissionKey{address, last(of, 2).number})
	}
	return p, nil
}

// permitted is the account in whose code the state keeps an account's permissions, as the message of their update.
func permitted(of common.Address) common.Address {
	return common.BytesToAddress(crypto.Keccak256([]byte("sandbox permissions"), of[:])[12:])
}

// permissions returns an account's permissions: the owner's first, then the active ones, numbered from 2. An account
// that never changed them has its own key alone.
func (m *machine) permissions(of common.Address) (list []permission) {
	raw := m.state.GetCode(permitted(of))
	if len(raw) == 0 {
		own := []permissionKey{{of, 1}}
		all, _ := hex.DecodeString("7fff1fc0033efb07000000000000000000000000000000000000000000000000")
		return []permission{{threshold: 1, name: "owner", keys: own},
			{id: 2, threshold: 1, name: "active", operations: all, keys: own}}
	}
	list, _ = readUpdate(raw) // it was checked when it was written
	return list
}

// readUpdate reads an AccountPermissionUpdateContract's owner and active permissions.
func readUpdate(raw []byte) (list []permission, err error) {
	fields, err := read(raw)
	if err != nil {
		return nil, err
	}
	for i, one := range slices.Concat(fields[2], fields[4]) {
		p, err := readPermission(one.bytes)
		if err != nil {
			return nil, err
		}
		if p.id = int64(i + 1); i == 0 {
			p.id = 0
		}
		list = append(list, p)
	}
	return list, nil
}

// update is AccountPermissionUpdateActuator.
func (m *machine) update(t *transaction, r *result) error {
	list, err := readUpdate(t.body)
	if err != nil || len(list) < 2 {
		return invalid("active permission is missed")
	}
	for _, p := range list {
		sum, seen := int64(0), map[common.Address]bool{}
		for _, k := range p.keys {
			if seen[k.address] || k.weight <= 0 {
				return invalid("address should be distinct, and key's weight should be greater than 0")
			}
			seen[k.address] = true
			sum += k.weight
		}
		if p.threshold <= 0 || sum < p.threshold {
			return invalid("sum of all key's weight should not be less than threshold in permission %s", p.name)
		}
	}
	if m.balance(t.owner) < updateFee {
		return invalid("lack of balance for the update of permissions")
	}
	m.pay(t.owner, updateFee)
	r.fee += updateFee
	at := permitted(t.owner)
	m.state.SetNonce(at, activated, tracing.NonceChangeUnspecified)
	m.state.SetCode(at, t.body, tracing.CodeChangeUnspecified)
	return nil
}

// authorize checks who signed (TransactionCapsule.validateSignature and checkWeight).
func (m *machine) authorize(t *transaction) error {
	refused := func(why string) error { return &refusal{"SIGERROR", "Validate signature error: " + why} }
	list := m.permissions(t.owner)
	at := slices.IndexFunc(list, func(p permission) bool { return p.id == t.permission })
	if at < 0 {
		return refused("permission isn't exit")
	}
	p := list[at]
	k := int(t.kind)
	if p.id != 0 && (k/8 >= len(p.operations) || p.operations[k/8]&(1<<(k%8)) == 0) {
		return refused("Permission denied")
	}
	if len(t.signatures) == 0 || len(t.signatures) > len(p.keys) {
		return refused("Signature count is not between 1 and the key counts of permission")
	}
	sum, seen := int64(0), map[common.Address]bool{}
	for _, s := range t.signatures {
		by, ok := t.signedBy(s)
		at := slices.IndexFunc(p.keys, func(k permissionKey) bool { return ok && k.address == by })
		if at < 0 {
			return refused("it is signed by one that is not contained in the permission")
		}
		if seen[by] {
			return refused("a key has signed twice")
		}
		seen[by] = true
		sum += p.keys[at].weight
	}
	if sum < p.threshold {
		return refused("the signatures weigh less than the threshold")
	}
	return nil
}

// chargeMultiSignFee charges the fee for a transaction that has more than one signature (Manager.consumeMultiSignFee).
func (m *machine) chargeMultiSignFee(t *transaction, r *result) error {
	if len(t.signatures) < 2 {
		return nil
	}
	if m.balance(t.owner) < multiSignFee {
		return &refusal{"BANDWITH_ERROR", "Account resource insufficient error."}
	}
	m.pay(t.owner, multiSignFee)
	r.fee += multiSignFee
	return nil
}

// shown is a permission as the API shows it.
func (p permission) shown() object {
	keys := []object{}
	for _, k := range p.keys {
		keys = append(keys, object{"address": toHex(k.address), "weight": k.weight})
	}
	o := objectOf{"permission_name": p.name, "threshold": p.threshold, "keys": keys}
	if p.id > 0 {
		o["type"], o["id"], o["operations"] = "Active", p.id, hex.EncodeToString(p.operations)
	}
	return object(o)
}
