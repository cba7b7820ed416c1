package tron

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// soundPayloads are payloads of unsigned transactions.
func soundPayloads() []payload {
	base := payload{RefBytes: [2]byte{1, 2}, RefHash: [8]byte{3}, Expiration: 1_700_000_060_000,
		Timestamp: 1_700_000_000_000, Owner: fakeOurs}
	native, activating, tokens := base, base, base
	native.Target, native.Amount = fakeOther, 5
	activating.Target, activating.Amount, activating.FeeLimit = fakeOther, 1<<40, 1_100_000
	tokens.Target, tokens.Data, tokens.FeeLimit = fakeToken, transferData(fakeOther, bursar.Units(7)), 9_000_000
	return []payload{native, activating, tokens}
}

func envelopeOf(t testing.TB, p payload) []byte {
	t.Helper()
	unsigned, err := pack(&p, chain.Hot(chain.FamilyTron))
	if err != nil {
		t.Fatal(err)
	}
	return unsigned
}

func TestInspectRefusesPayloads(t *testing.T) {
	t.Parallel()
	r := rulesOf(t, fakeToken.String())
	for i, p := range soundPayloads() {
		if _, err := r.Inspect(envelopeOf(t, p)); err != nil {
			t.Fatalf("sound payload %d: %v", i, err)
		}
	}
	for name, spoil := range map[string]func(native, tokens *payload) *payload{
		"nothing paid":               func(c, _ *payload) *payload { c.Amount = 0; return c },
		"to the payer":               func(c, _ *payload) *payload { c.Target = c.Owner; return c },
		"to the zero address":        func(c, _ *payload) *payload { c.Target = address{}; return c },
		"by the zero address":        func(c, _ *payload) *payload { c.Owner = address{}; return c },
		"negative":                   func(c, _ *payload) *payload { c.Amount = 1 << 63; return c },
		"a negative limit":           func(c, _ *payload) *payload { c.FeeLimit = 1 << 63; return c },
		"another token":              func(_, k *payload) *payload { k.Target = fakeContract; return k },
		"another call":               func(_, k *payload) *payload { k.Data[0] ^= 1; return k },
		"longer call data":           func(_, k *payload) *payload { k.Data = append(k.Data, 0); return k },
		"no call data":               func(_, k *payload) *payload { k.Data = []byte{}; return k },
		"a receiver with 41":         func(_, k *payload) *payload { k.Data[4+11] = 0x41; return k },
		"tokens to the zero address": func(_, k *payload) *payload { copy(k.Data[4+12:], make([]byte, 20)); return k },
		"more than 128 bits":         func(_, k *payload) *payload { k.Data[4+32] = 1; return k },
	} {
		all := soundPayloads()
		if contents, err := r.Inspect(envelopeOf(t, *spoil(&all[0], &all[2]))); err == nil {
			t.Errorf("%s: %+v, want an error", name, contents)
		}
	}
}

// TestInspectRefusesEncodings adds to the bytes what a payment never has.
func TestInspectRefusesEncodings(t *testing.T) {
	t.Parallel()
	all := soundPayloads()
	native := all[0]
	body := message(nil).bytes(paysOwner, native.Owner.bytes()).bytes(paysTo, native.Target.bytes()).number(paysAmount,
		native.Amount)
	parameter := func(body message) message {
		return message(nil).bytes(anyType, []byte(typePrefix+transferType)).bytes(anyValue, body)
	}
	contract := func(parameter message) message {
		return message(nil).number(contractKind, transferKind).bytes(contractParameter, parameter)
	}
	whole := func(contracts ...message) message {
		m := message(nil).bytes(rawRefBytes, native.RefBytes[:]).bytes(rawRefHash, native.RefHash[:]).number(rawExpiration,
			native.Expiration)
		for _, c := range contracts {
			m = m.bytes(rawContract, c)
		}
		return m.number(rawTimestamp, native.Timestamp)
	}
	right := contract(parameter(body))
	if _, err := decodePayload(whole(right)); err != nil {
		t.Fatalf("the right one: %v", err)
	}
	for name, raw := range map[string]message{
		"empty":            nil,
		"no contract":      whole(),
		"two contracts":    whole(right, right),
		"a permission id":  whole(contract(parameter(body)).number(5, 2)),
		"a provider":       whole(contract(parameter(body)).bytes(3, []byte("x"))),
		"a contract name":  whole(contract(parameter(body)).bytes(4, []byte("x"))),
		"an unknown field": whole(right).number(99, 1),
		"a memo":           whole(right).bytes(10, []byte("x")),
		"scripts":          whole(right).bytes(12, []byte("x")),
		"a block number":   whole(right).number(3, 1),
		"another kind":     whole(message(nil).number(contractKind, 2).bytes(contractParameter, parameter(body))),
		"another type's name": whole(contract(message(nil).bytes(anyType, []byte(typePrefix+triggerType)).bytes(anyValue,
			body))),
		"a type without a name":      whole(contract(message(nil).bytes(anyValue, body))),
		"more in the body":           whole(contract(parameter(append(body, message(nil).number(4, 1)...)))),
		"the body's fields repeated": whole(contract(parameter(append(body, body...)))),
		"another prefix": whole(contract(parameter(message(nil).bytes(paysOwner,
			append([]byte{0xa0}, native.Owner[:]...)).bytes(paysTo, native.Target.bytes()).number(paysAmount, 1)))),
		"a longer number":        append(whole(right), 0x90, 0x01, 0x80, 0x00),
		"another order":          append(message(nil).number(rawTimestamp, 5), whole(right)...),
		"a fixed number":         append(whole(right), 0x95, 0x01, 1, 2, 3, 4),
		"cut":                    whole(right)[:40],
		"a field without number": append(whole(right), 0x00, 0x00),
	} {
		if p, err := decodePayload(raw); err == nil {
			t.Errorf("%s: %+v, want an error", name, p)
		}
	}
}

// TestTheReservationIsTheID: the reservation, the digest and the transaction's id are equal.
func TestTheReservationIsTheID(t *testing.T) {
	t.Parallel()
	f := paying(t, 0, 0)
	c := f.open(t, nil)
	unsigned, tx := signed(t, f, c)
	if unsigned.Reservations[0] != "tx/"+tx.TxID {
		t.Fatalf("reservations %q of transaction %s, want %v", unsigned.Reservations, tx.TxID, "tx/"+tx.TxID)
	}
	if got := uint64(len(tx.Raw)) + resultSize; got != size(rawOf(t, unsigned)) {
		t.Fatalf("size %d", got)
	}
}

func rawOf(t testing.TB, unsigned chain.UnsignedTx) []byte {
	t.Helper()
	e, _, err := unpack(unsigned.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return e.Raw
}
