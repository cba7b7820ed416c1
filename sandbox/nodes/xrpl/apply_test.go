package xrpl

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
)

// owner has a key and an account.
type owner struct {
	key     *btcec.PrivateKey
	address string
}

func newOwner(t *testing.T, n *Node, drops uint64) owner {
	t.Helper()
	key, err := btcec.NewPrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	o := owner{key, accountOf(key.PubKey().SerializeCompressed()).String()}
	if drops > 0 {
		if _, err := n.Pay(o.address, drops); err != nil {
			t.Fatal(err)
		}
		if err := n.Mine(1); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func begin(t *testing.T, cfg Config) *Node {
	t.Helper()
	n, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func call(t *testing.T, n *Node, method string, params object) (object, *refusal) {
	t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	return n.answer(method, raw)
}

// payment is a signed payment of one XRP, changed before it is signed.
func (o owner) payment(n *Node, to string, change func(values)) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, _ := parseAddress(o.address)
	v := values{"TransactionType": "Payment", "Flags": uint32(tfFullyCanonical), "Sequence": uint32(1),
		"Amount": "1000000", "Fee": "12",
		"Account": o.address, "Destination": to}
	if a := n.open.get(id); a != nil {
		v["Sequence"] = a.sequence
	}
	if change != nil {
		change(v)
	}
	return sign(v, o.key)
}

func submitted(t *testing.T, n *Node, blob []byte) string {
	t.Helper()
	answer, refused := call(t, n, "submit", object{"tx_blob": hex.EncodeToString(blob)})
	if refused != nil {
		return refused.token
	}
	return answer["engine_result"].(string)
}

// TestResults checks that each result code is returned for the real chain's reason.
func TestResults(t *testing.T) {
	t.Parallel()
	set := func(name string, value any) func(values) { return func(v values) { v[name] = value } }
	u := func(n uint32) any { return n }
	for name, test := range map[string]struct {
		change func(values)
		to     string // "": a funded external account; "new": an unfunded one
		want   string
	}{
		"plain":               {nil, "", "tesSUCCESS"},
		"to a new account":    {nil, "new", "tesSUCCESS"},
		"below the reserve":   {set("Amount", "999999"), "new", "tecNO_DST_INSUF_XRP"},
		"too much":            {set("Amount", "99000001"), "", "tecUNFUNDED_PAYMENT"},
		"all but the reserve": {set("Amount", "99000000"), "", "tesSUCCESS"},
		"nothing":             {set("Amount", "0"), "", "temBAD_AMOUNT"},
		"a later sequence":    {set("Sequence", u(1000)), "", "terPRE_SEQ"},
		"an earlier sequence": {set("Sequence", u(1)), "", "tefPAST_SEQ"},
		"its last ledger":     {set("LastLedgerSequence", u(4)), "", "tesSUCCESS"},
		"past its last":       {set("LastLedgerSequence", u(3)), "", "tefMAX_LEDGER"},
		"too low a fee":       {set("Fee", "9"), "", "telINSUF_FEE_P"},
		"too high a fee":      {set("Fee", "100000001"), "", "terINSUF_FEE_B"},
		"partial XRP":         {set("Flags", u(tfPartial)), "", "temBAD_SEND_XRP_PARTIAL"},
		"an unknown flag":     {set("Flags", u(1)), "", "temINVALID_FLAG"},
		"SendMax of XRP":      {set("SendMax", "5"), "", "temBAD_SEND_XRP_MAX"},
		"a network id":        {set("NetworkID", u(1000)), "", "telNETWORK_ID_MAKES_TX_NON_CANONICAL"},
		"to itself":           {func(v values) { v["Destination"] = v["Account"] }, "", "temREDUNDANT"},
		"to account zero":     {nil, accountID{}.String(), "temDST_NEEDED"},
		"another's account":   {set("Account", genesisID().String()), "", "tefBAD_AUTH"},
		"no account":          {set("Account", accountID{9}.String()), "", "terNO_ACCOUNT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := begin(t, Config{})
			from, to := newOwner(t, n, 100_000_000), newOwner(t, n, 5_000_000).address
			switch test.to {
			case "":
			case "new":
				to = n.NewAddress()
			default:
				to = test.to
			}
			blob := from.payment(n, to, func(v values) {
				if test.change != nil {
					test.change(v)
				}
				if v.text("Account") == genesisID().String() { // its next sequence, so that only the key is wrong
					v["Sequence"] = n.open.get(genesisID()).sequence
				}
			})
			if got := submitted(t, n, blob); got != test.want {
				t.Fatalf("result %s, want %s", got, test.want)
			}
		})
	}
}

func TestNamedNetworks(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{NetworkID: 21338})
	from := newOwner(t, n, 10_000_000)
	for want, id := range map[string]any{"telREQUIRES_NETWORK_ID": nil, "telWRONG_NETWORK": uint32(21337),
		"tesSUCCESS": uint32(21338)} {
		blob := from.payment(n, n.NewAddress(), func(v values) {
			if id != nil {
				v["NetworkID"] = id
			}
		})
		if got := submitted(t, n, blob); got != want {
			t.Errorf("network %v: %s, want %s", id, got, want)
		}
	}
}

// TestSignaturesAreVerified checks that a flipped bit anywhere in a transaction makes it a different one, whose
// signature is wrong, or no transaction.
func TestSignaturesAreVerified(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	from := newOwner(t, n, 10_000_000)
	blob := from.payment(n, n.NewAddress(), nil)
	for i := range blob {
		spoiled := append([]byte{}, blob...)
		spoiled[i] ^= 1
		if got := submitted(t, n, spoiled); got != "invalidTransaction" {
			t.Fatalf("byte %d flipped: %s, want %q", i, got, "invalidTransaction")
		}
	}
	if got := submitted(t, n, blob); got != "tesSUCCESS" {
		t.Errorf("the whole transaction: %s, want %q", got, "tesSUCCESS")
	}
}

func TestEd25519AccountsPay(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	prefixed := append([]byte{0xed}, pub...)
	address := accountOf(prefixed).String()
	if _, err := n.Pay(address, 10_000_000); err != nil {
		t.Fatal(err)
	}
	v := values{"TransactionType": "Payment", "Sequence": uint32(2), "Amount": "1000000", "Fee": "12", "Account": address,
		"Destination": n.NewAddress(), "SigningPubKey": strings.ToUpper(hex.EncodeToString(prefixed))}
	v["TxnSignature"] = hex.EncodeToString(ed25519.Sign(key, append([]byte("STX\x00"), encode(v)...)))
	if got := submitted(t, n, encode(v)); got != "tesSUCCESS" {
		t.Errorf("paid with %s, want %q", got, "tesSUCCESS")
	}
}

func TestFlagsOfADestination(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	from, to := newOwner(t, n, 100_000_000), newOwner(t, n, 5_000_000).address
	for _, test := range []struct {
		flags  uint32
		tagged bool
		want   string
	}{
		{lsfRequireTag, false, "tecDST_TAG_NEEDED"}, {lsfRequireTag, true, "tesSUCCESS"},
		{lsfDepositAuth, true, "tecNO_PERMISSION"}, {0, false, "tesSUCCESS"},
	} {
		if err := n.Mark(to, test.flags); err != nil {
			t.Fatal(err)
		}
		blob := from.payment(n, to, func(v values) {
			if test.tagged {
				v["DestinationTag"] = uint32(0)
			}
		})
		if got := submitted(t, n, blob); got != test.want {
			t.Errorf("%+v: %s, want %v", test, got, test.want)
		}
		if err := n.Mine(1); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Mark(n.NewAddress(), lsfRequireTag); err == nil {
		t.Error("a missing account was marked")
	}
}

// TestQueueAndHeld checks that a transaction with too low a fee for the open ledger is queued and is in the next
// ledger but one, and that one that comes before its sequence is held until then.
func TestQueueAndHeld(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	from, to := newOwner(t, n, 100_000_000), n.NewAddress()
	n.SetFees(1000, 11)
	first := from.payment(n, to, nil)
	for _, want := range []string{"terQUEUED", "tefALREADY"} {
		if got := submitted(t, n, first); got != want {
			t.Fatalf("a cheap one: %s, want %s", got, want)
		}
	}
	wantDrops(t, n, to, 0, 1_000_000)
	n.SetFees(0, 0)
	at := uint32(n.Height()) // the owner's account began in ledger 2 and has paid once
	second := from.payment(n, to, func(v values) { v["Sequence"] = v["Sequence"].(uint32) + 1; v["Amount"] = "2000000" })
	third := from.payment(n, to, func(v values) { v["Amount"] = "4000000" })
	if got := submitted(t, n, second); got != "terPRE_SEQ" {
		t.Fatalf("before its sequence at %d: %s, want %q", at, got, "terPRE_SEQ")
	}
	if got := submitted(t, n, third); got != "tesSUCCESS" {
		t.Fatalf("at its sequence: %s, want %q", got, "tesSUCCESS")
	}
	wantDrops(t, n, to, 7_000_000)
}

// wantDrops closes ledgers and compares a balance after each.
func wantDrops(t *testing.T, n *Node, address string, wanted ...uint64) {
	t.Helper()
	for i, want := range wanted {
		if err := n.Mine(1); err != nil {
			t.Fatal(err)
		}
		if got, err := n.Balance(address); err != nil || got != want {
			t.Fatalf("%d drops (%v) after %d ledgers, want %d", got, err, i+1, want)
		}
	}
}

// TestDropsAreConserved checks that no drop comes from nowhere: the balances of all accounts add up to the newest
// ledger's total.
func TestDropsAreConserved(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	from := newOwner(t, n, 100_000_000)
	for i, kind := range []Kind{PartialPayment, FailedPayment, IssuedPayment, TokenPayment, DeletedAccount, CashedCheck,
		FinishedEscrow, ClaimedChannel} {
		if _, err := n.Deliver(Delivery{Kind: kind, Address: from.address + fmt.Sprint(":", i), Drops: 2_000_000,
			Asked: 9_000_000}); err != nil {
			t.Fatal(err)
		}
		submitted(t, n, from.payment(n, n.NewAddress(), nil))
		submitted(t, n, from.payment(n, n.NewAddress(), func(v values) { v["Amount"] = "1" }))
		if err := n.Mine(1); err != nil {
			t.Fatal(err)
		}
	}
	sum := uint64(0)
	for id := range n.state {
		a, _ := n.state.at(id, n.tip().index)
		sum += a.balance
	}
	if sum != n.tip().drops || sum >= allXRP {
		t.Errorf("accounts hold %d, the ledger has %d", sum, n.tip().drops)
	}
}
