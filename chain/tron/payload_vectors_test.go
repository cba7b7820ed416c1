package tron

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar/chain"
)

// payloadOf returns a vector's transaction as a payload.
func payloadOf(t testing.TB, v transactionVector) payload {
	t.Helper()
	p := payload{Timestamp: v.Timestamp, Expiration: v.Expiration, FeeLimit: v.FeeLimit, Owner: addressFrom(t, v.Owner)}
	if v.Header != nil { // the vector contains the referenced block
		header := message(nil).number(1, v.Timestamp).bytes(2, unhex(t, v.Header.Root)).bytes(3, unhex(t, v.Header.Parent)).
			number(7, v.Header.Number).bytes(9, unhex(t, "4167e39013be3cdd3814bed152d7439fb5b6791409")).number(10, 30)
		h := header32(header, v.Header.Number)
		p.refer(&h)
	} else {
		copy(p.RefBytes[:], unhex(t, v.RefBytes))
		copy(p.RefHash[:], unhex(t, v.RefHash))
	}
	if v.Data == "" {
		p.Target, p.Amount = addressFrom(t, v.To), v.AmountSun
		return p
	}
	p.Target, p.Data = addressFrom(t, v.Contract), unhex(t, v.Data)
	return p
}

// header32 returns a header with the id of its bytes.
func header32(raw []byte, number uint64) (h header) {
	h.ID = sha256.Sum256(raw)
	for i := range 8 {
		h.ID[i] = byte(number >> (56 - 8*i))
	}
	h.Header.Raw.Number = int64(number)
	return h
}

// TestTransactionVectors compares bytes, ids and signatures with other wallets'. The vector with a memo is assembled
// with it: our payments have none.
func TestTransactionVectors(t *testing.T) {
	t.Parallel()
	for _, v := range loadVectors(t).Transactions {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			p := payloadOf(t, v)
			raw := p.encode()
			if v.Memo != "" {
				raw = withMemo(t, raw, v.Memo)
			} else if hex.EncodeToString(raw) != v.Raw {
				t.Fatalf("encoded\n%x, want\n%s", raw, v.Raw)
			}
			id := sha256.Sum256(raw)
			if hex.EncodeToString(id[:]) != v.TxID {
				t.Fatalf("id %x, want %s", id, v.TxID)
			}
			want := unhex(t, v.Signature)
			if want[64] >= recoveryOffset {
				want[64] -= recoveryOffset
			}
			if err := checkSignature(id, want, p.Owner); err != nil {
				t.Fatalf("the vector's signature: %v", err)
			}
			if v.PrivateKey != "" {
				key, err := crypto.ToECDSA(unhex(t, v.PrivateKey))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := crypto.Sign(id[:], key); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("signature %x, %v, want %x", got, err, want)
				}
			}
			again, err := decodePayload(raw)
			if v.Memo != "" {
				if err == nil {
					t.Fatal("a transaction with a memo was accepted as a payment, want an error")
				}
			} else if err != nil || !bytes.Equal(again.encode(), raw) {
				t.Fatalf("decoded into %+v, %v, want %x", again, err, raw)
			}
		})
	}
}

// withMemo inserts field 10 before the contract.
func withMemo(t testing.TB, raw []byte, memo string) []byte {
	t.Helper()
	f, err := readFields(raw)
	if err != nil {
		t.Fatal(err)
	}
	return message(nil).bytes(rawRefBytes, f.strings[rawRefBytes]).bytes(rawRefHash, f.strings[rawRefHash]).
		number(rawExpiration, f.numbers[rawExpiration]).bytes(10, []byte(memo)).bytes(rawContract, f.strings[rawContract]).
		number(rawTimestamp, f.numbers[rawTimestamp]).number(rawFeeLimit, f.numbers[rawFeeLimit])
}

// TestInspectVectors reads vectors as unsigned transactions: a plain payment and a token transfer are accepted.
// Approvals, and receivers with a leading 41 in call data, which the contract would mask, are not.
func TestInspectVectors(t *testing.T) {
	t.Parallel()
	pays := map[string]string{"tx-062": "18123456", "tx-066": "20690000"}
	for _, v := range loadVectors(t).Transactions {
		if v.Memo != "" {
			continue
		}
		p := payloadOf(t, v)
		var tokens []string
		if v.Contract != "" {
			tokens = append(tokens, v.Contract)
		}
		unsigned, err := pack(&p, chain.Hot(chain.FamilyTron))
		if err != nil {
			t.Fatal(err)
		}
		contents, err := rulesOf(t, tokens...).Inspect(unsigned)
		amount, sound := pays[v.ID]
		if (err == nil) != sound {
			t.Errorf("%s (%s): %+v, %v, want %v", v.ID, v.Kind, contents, err, sound)
		}
		if !sound || err != nil {
			continue
		}
		payment := contents.Payments[0]
		if payment.Amount.String() != amount || (payment.Contract == "") != (v.Contract == "") ||
			hex.EncodeToString(contents.Inputs[0].Digest) != v.TxID || contents.Inputs[0].Source.Base != p.Owner.String() {
			t.Errorf("%s pays %+v by %+v, want %s", v.ID, payment, contents.Inputs, amount)
		}
		if _, err := rulesOf(t).Inspect(unsigned); v.Contract != "" && err == nil {
			t.Errorf("%s: a token that is not listed was accepted", v.ID)
		}
	}
}
