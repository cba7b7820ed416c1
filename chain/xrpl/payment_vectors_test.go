package xrpl

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar/chain"
)

// wantPayment compares a parsed payment with the JSON of the same transaction.
func wantPayment(t *testing.T, p payment, f vectorFields) {
	t.Helper()
	same := strconv.FormatUint(p.Amount, 10) == f.Amount && strconv.FormatUint(p.Fee, 10) == f.Fee && p.Flags == f.Flags &&
		p.Sequence == f.Sequence && p.LastLedger == f.LastLedgerSequence && p.NetworkID == f.NetworkID &&
		p.Destination.String() == f.Destination && (f.Account == "" || p.Account.String() == f.Account) &&
		(p.Tag == nil) == (f.DestinationTag == nil) && (p.Tag == nil || *p.Tag == *f.DestinationTag) &&
		(f.SigningPubKey == "" || strings.EqualFold(hex.EncodeToString(p.SigningKey[:]), f.SigningPubKey)) &&
		(f.TxnSignature == "" || strings.EqualFold(hex.EncodeToString(p.Signature), f.TxnSignature))
	if !same {
		t.Errorf("parsed %+v\nwant %+v", p, f)
	}
}

func TestPaymentsAreTheirVectorsByteForByte(t *testing.T) {
	t.Parallel()
	v := loadVectors(t)
	blobs := map[string]vectorFields{}
	for _, tx := range v.Transactions {
		blobs[tx.SignedBlob] = tx.Fields
		if got := txID(unhex(t, tx.SignedBlob)).String(); tx.TxID != "" && got != tx.TxID {
			t.Errorf("%s has id %s, want %s", tx.ID, got, tx.TxID)
		}
	}
	for _, c := range v.Codec {
		blobs[c.Binary] = c.JSON
	}
	for _, p := range v.Payments {
		blobs[p.SignedBlob] = p.JSON
	}
	for blob, fields := range blobs {
		raw := unhex(t, blob)
		p, err := parsePayment(raw)
		if err != nil {
			t.Errorf("%s: %v", blob, err)
			continue
		}
		wantPayment(t, p, fields)
		if again := p.encode(); !bytes.Equal(again, raw) {
			t.Errorf("%s\nencodes to\n%X", blob, again)
		}
		bare := p
		bare.Signature = nil
		signature, err := ecdsa.ParseDERSignature(p.Signature)
		if err != nil {
			t.Fatal(err)
		}
		key, err := btcec.ParsePubKey(p.SigningKey[:])
		if err != nil {
			t.Fatal(err)
		}
		if digest := signingHash(bare.encode()); !signature.Verify(digest[:], key) {
			t.Errorf("the signature of %s does not match its digest", blob)
		}
	}
}

// An unsigned transaction that is signed with the key of the vectors becomes exactly the bytes that xrpl.js made.
func TestAssembledTransactionsAreTheVectors(t *testing.T) {
	t.Parallel()
	key, _ := btcec.PrivKeyFromBytes(unhex(t, "1acaaedece405b2a958212629e16f2eb46b153eee94cdd350fdeff52795525b7"))
	for _, v := range loadVectors(t).Payments {
		network := Mainnet
		if v.JSON.NetworkID != 0 {
			network = Private
		}
		r := rules(t, network, v.JSON.NetworkID)
		p, err := parsePayment(unhex(t, v.SignedBlob))
		if err != nil {
			t.Fatal(err)
		}
		p.Signature = nil
		e := envelope{Key: chain.Hot("xrpl"), Since: p.LastLedger - 60, Payload: p.encode()}
		if got := strings.ToUpper("53545800" + hex.EncodeToString(e.Payload)); got != v.Signing {
			t.Errorf("signed is %s\nwant %s", got, v.Signing)
		}
		contents, err := r.Inspect(e.encode())
		if err != nil {
			t.Fatal(err)
		}
		signature := compactSignature(key, contents.Inputs[0].Digest)
		tx, err := r.Assemble(chain.UnsignedTx{Bytes: e.encode()}, [][]byte{signature})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ToUpper(hex.EncodeToString(tx.Raw)); got != v.SignedBlob || tx.TxID != v.TxID {
			t.Errorf("assembled %s\n%s\nwant %s\n%s", tx.TxID, got, v.TxID, v.SignedBlob)
		}
	}
}

func compactSignature(key *btcec.PrivateKey, digest []byte) []byte {
	compact := ecdsa.SignCompact(key, digest, true)
	return append(compact[1:], compact[0]-31)
}

func TestHeaderHashIsTheLedgers(t *testing.T) {
	t.Parallel()
	for _, raw := range loadVectors(t).Header {
		var h header
		if err := unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		if err := h.check(15202439, true); err != nil {
			t.Error(err)
		}
		h.Flags ^= 1
		if err := h.check(15202439, true); !errors.Is(err, errHeader) {
			t.Errorf("a header with another flag: %v", err)
		}
	}
}
