package xrpl

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// signed returns an unsigned transaction and its signed transaction.
func signed(t testing.TB, c *Chain) (chain.UnsignedTx, chain.SignedTx) {
	t.Helper()
	unsigned, err := c.Build(t.Context(), requestOf(5_000_000, third+":7"))
	if err != nil {
		t.Fatal(err)
	}
	contents, err := c.Inspect(unsigned.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if to := contents.Payments[0].Address; to.String() != third+":7" {
		t.Fatalf("it pays %s, want %v", to, third+":7")
	}
	tx, err := c.Assemble(unsigned, [][]byte{keys().Sign(chain.Hot("xrpl"), contents.Inputs[0].Digest)})
	if err != nil {
		t.Fatal(err)
	}
	return unsigned, tx
}

var errNone = errors.New("nil is wanted")

func TestBroadcastVerdicts(t *testing.T) {
	t.Parallel()
	validated, open := object{"validated": true, "ledger_index": 100}, object{"validated": false}
	none := object{"error": "txnNotFound"}
	for _, test := range []struct {
		result string
		found  object
		want   error // errNone; nil: any error that is not one of the chain interface
	}{
		{"tesSUCCESS", none, errNone},
		{"terQUEUED", none, errNone},
		{"tefALREADY", none, errNone},
		{"tecNO_DST_INSUF_XRP", none, errNone},
		{"tecUNFUNDED_PAYMENT", none, errNone},
		{"tefPAST_SEQ", validated, errNone},
		{"tefPAST_SEQ", open, nil},
		{"tefPAST_SEQ", none, nil},
		{"tefMAX_LEDGER", none, nil},
		{"tefBAD_AUTH", none, nil},
		{"tefMASTER_DISABLED", none, nil},
		{"terPRE_SEQ", none, nil},
		{"terINSUF_FEE_B", none, nil},
		{"terNO_ACCOUNT", none, nil},
		{"telINSUF_FEE_P", none, chain.ErrUnderpriced},
		{"telCAN_NOT_QUEUE_FEE", none, chain.ErrUnderpriced},
		{"telCAN_NOT_QUEUE_FULL", none, nil},
		{"telWRONG_NETWORK", none, nil},
		{"temBAD_FEE", none, chain.ErrRejected},
		{"temREDUNDANT", none, chain.ErrRejected},
		{"temINVALID", none, chain.ErrRejected},
		{"somethingNew", none, nil},
		{"", none, nil},
	} {
		t.Run(test.result, func(t *testing.T) {
			t.Parallel()
			f := paying(t, nil, object{})
			c := f.open(t)
			_, tx := signed(t, c)
			f.script["submit"] = func(params object) object {
				if params["tx_blob"] != strings.ToUpper(hex.EncodeToString(tx.Raw)) {
					t.Errorf("sent %v", params)
				}
				return object{"engine_result": test.result, "engine_result_message": "words", "tx_json": object{"hash": tx.TxID}}
			}
			f.script["tx"] = func(object) object {
				answer := object{"hash": tx.TxID}
				for key, value := range test.found {
					answer[key] = value
				}
				return answer
			}
			wantVerdict(t, c.Broadcast(t.Context(), tx), test.want)
		})
	}
}

func wantVerdict(t *testing.T, err, want error) {
	t.Helper()
	final := errors.Is(err, chain.ErrRejected) || errors.Is(err, chain.ErrUnderpriced)
	switch {
	case want == errNone && err != nil:
		t.Fatalf("broadcast: %v", err)
	case want == nil && (err == nil || final):
		t.Fatalf("broadcast: %v, want an outcome that is unknown", err)
	case want != nil && want != errNone && !errors.Is(err, want):
		t.Fatalf("broadcast: %v, want %v", err, want)
	}
}

func TestBroadcastErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer object
		want   error
	}{
		"a wrong signature": {object{"error": "invalidTransaction",
			"error_exception": "fails local checks: Invalid signature."}, chain.ErrRejected},
		"an overload":  {object{"error": "slowDown"}, rpc.ErrUnavailable},
		"no network":   {object{"error": "noNetwork"}, rpc.ErrUnavailable},
		"another hash": {object{"engine_result": "tesSUCCESS", "tx_json": object{"hash": fakeHash("x")}}, errOtherID},
		"no hash":      {object{"engine_result": "tesSUCCESS"}, errOtherID},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := paying(t, nil, object{})
			c := f.open(t)
			_, tx := signed(t, c)
			f.script["submit"] = func(object) object { return test.answer }
			if err := c.Broadcast(t.Context(), tx); !errors.Is(err, test.want) {
				t.Fatalf("broadcast: %v, want %v", err, test.want)
			}
			tx.Raw[20] ^= 1
			if err := c.Broadcast(t.Context(), tx); !errors.Is(err, chain.ErrRejected) {
				t.Errorf("other bytes under the same id: %v, want %v", err, chain.ErrRejected)
			}
		})
	}
}
