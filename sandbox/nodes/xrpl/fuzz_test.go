package xrpl

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// FuzzSubmit submits any bytes: the node neither panics nor accepts a transaction that is not signed.
func FuzzSubmit(f *testing.F) {
	n, err := Start(context.Background(), Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { n.Close() })
	v := values{"TransactionType": "Payment", "Flags": uint32(0), "Sequence": uint32(1), "DestinationTag": uint32(0),
		"Amount": "1000000",
		"Fee":    "12", "Account": genesisID().String(), "Destination": accountID{5}.String()}
	signed := sign(v, n.key)
	f.Add(signed)
	f.Add(signable(v))
	f.Fuzz(func(t *testing.T, blob []byte) {
		fields, err := decode(blob)
		if err != nil || string(blob) == string(signed) {
			return
		}
		if verify(fields, blob) == nil && fields.text("Account") == genesisID().String() &&
			fields.text("TransactionType") == "Payment" {
			t.Fatalf("%X is accepted as signed", blob)
		}
		raw, err := json.Marshal(object{"tx_blob": hex.EncodeToString(blob)})
		if err != nil {
			t.Fatal(err)
		}
		n.answer("submit", raw)
	})
}
