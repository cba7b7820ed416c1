package clients

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/xrpl"
	"github.com/bursar/bursar/sandbox/nodes/xrpl"
	"github.com/bursar/bursar/signer"
)

// ledger is a node of the XRP Ledger with the hot wallet of the first seed.
type ledger struct {
	*testing.T
	node  *xrpl.Node
	chain *adapter.Chain
	keys  []*signer.Keys
	bases []string
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{T: t}
	var err error
	l.node, err = xrpl.Start(t.Context(), xrpl.Config{})
	l.must(err)
	t.Cleanup(func() { _ = l.node.Close() }) // it keeps nothing
	l.chain, err = adapter.New(adapter.Config{ID: bursar.XRPL, Network: adapter.Private},
		rpc.Config{URLs: []string{l.node.URL()}})
	l.must(err)
	t.Cleanup(l.chain.Close)
	for n := range byte(3) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		l.must(err)
		pub, err := keys.Public(chain.Hot(chain.FamilyXRPL))
		l.must(err)
		base, err := l.chain.Address(pub, 0)
		l.must(err)
		l.keys, l.bases = append(l.keys, keys), append(l.bases, base.Base)
	}
	l.fund(l.bases[0])
	return l
}

func (l *ledger) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *ledger) fund(bases ...string) {
	l.Helper()
	for _, base := range bases {
		_, err := l.node.Pay(base, 100_000_000)
		l.must(err)
		l.must(l.node.Mine(1))
	}
}

// submit sends bytes that the library made, and returns the node's result.
func (l *ledger) submit(blob string) string {
	l.Helper()
	body, err := json.Marshal(map[string]any{"method": "submit", "params": []any{map[string]string{"tx_blob": blob}}})
	l.must(err)
	request, err := http.NewRequestWithContext(l.Context(), http.MethodPost, l.node.URL(), bytes.NewReader(body))
	l.must(err)
	answer, err := httpClient.Do(request)
	l.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	l.must(err)
	var said struct {
		Result struct {
			Engine string `json:"engine_result"`
			Error  string `json:"error"`
		} `json:"result"`
	}
	l.must(json.Unmarshal(text, &said))
	l.must(l.node.Mine(1))
	return said.Result.Engine + said.Result.Error
}

func (l *ledger) refill(w bursar.ColdWallet, drops uint64) signer.Refill {
	return signer.Refill{Wallet: w, MaxFee: bursar.Units(1000), Payment: chain.Payment{Amount: bursar.Units(drops),
		Address: bursar.Address{Base: l.bases[0]}}}
}

func (l *ledger) build(r signer.Refill, old []byte) []byte {
	l.Helper()
	data, err := l.chain.BuildCold(l.Context(), chain.ColdRequest{Wallet: r.Wallet, Payment: r.Payment, MaxFee: r.MaxFee,
		Replaces: old})
	l.must(err)
	return data
}

// arrives sends a signed refill and compares what reached the hot wallet.
func (l *ledger) arrives(r signer.Refill, data []byte) chain.SignedTx {
	l.Helper()
	if _, err := r.Evaluate(l.chain, l.bases[0], data); err != nil {
		l.Fatal(err)
	}
	signed, err := l.chain.FinishCold(r.Wallet, data)
	l.must(err)
	before, err := l.node.Balance(l.bases[0])
	l.must(err)
	l.must(l.chain.Broadcast(l.Context(), signed))
	l.must(l.node.Mine(1))
	after, err := l.node.Balance(l.bases[0])
	l.must(err)
	if want, _ := r.Payment.Amount.Uint64(); after-before != want {
		l.Errorf("%s: got %d drops at the hot wallet, want %d", r.Wallet.Kind, after-before, want)
	}
	return signed
}

// blobOf is the ledger's serialization of a transaction, as it is shown to other programs.
func (l *ledger) blobOf(w bursar.ColdWallet, data []byte) string {
	l.Helper()
	tx, err := l.chain.ReadCold(w, data)
	l.must(err)
	for _, note := range tx.Notes {
		if note.Name == "transaction" {
			return note.Text
		}
	}
	l.Fatal("the transaction is not shown")
	return ""
}

func cold(kind bursar.ColdKind, base string) bursar.ColdWallet {
	return bursar.ColdWallet{Chain: bursar.XRPL, Name: "vault", Kind: kind, Addresses: []string{base}}
}

// xrpl.js 4.6.0 makes an account with a list of signers whose master key is disabled, as an operator would, and signs
// as a device of it and of an account of one key. It verifies what our seeds signed, reads in it what we meant, and
// joins signatures to the same bytes as we do. The sandbox's ledger, which checks signatures, quorum and fee, pays.
func TestXRPLColdAccountsRefill(t *testing.T) {
	t.Parallel()
	folder, err := Folder()
	if testing.Short() {
		t.Skip("needs Node.js and the client libraries")
	}
	l := newLedger(t)
	l.must(err)
	question := map[string]any{"account": strings.Repeat("11", 16), "device": strings.Repeat("22", 16),
		"signers": l.bases[1:], "quorum": 3}
	var made struct{ Account, Device, List, Disable string }
	l.fund(l.bases[1])
	question["sequence"] = l.node.Height() + 1 // the first of an account that the next ledger makes
	readBy(t, folder, "xrplcold.mjs", question, &made)
	l.fund(made.Account)
	listed := l.submit(made.List)
	otherWays(t, l.chain, cold(bursar.ColdSignerList, made.Account), "the master key alone may pay")
	if got := []string{listed, l.submit(made.Disable)}; got[0] != "tesSUCCESS" || got[1] != got[0] {
		t.Fatalf("%s: the node takes the list and the end of the master key with %v, want tesSUCCESS", made.Account, got)
	}
	l.fund(made.Device)
	otherWays(t, l.chain, cold(bursar.ColdSignerList, made.Account))
	otherWays(t, l.chain, cold(bursar.ColdAddress, made.Device))
	otherWays(t, l.chain, cold(bursar.ColdSignerList, made.Device), "there is no list of signers")
	otherWays(t, l.chain, cold(bursar.ColdAddress, made.Account), "a list of signers may pay as well")
	several := l.refill(cold(bursar.ColdSignerList, made.Account), 5_000_000)
	single := l.refill(cold(bursar.ColdAddress, made.Device), 6_000_000)
	seeds := l.refill(cold(bursar.ColdAddress, l.bases[1]), 7_000_000)
	if _, err := l.chain.BuildCold(t.Context(), chain.ColdRequest{Wallet: cold(bursar.ColdAddress, made.Account),
		Payment: several.Payment, MaxFee: several.MaxFee}); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("a disabled master key: got %v, want a refusal", err)
	}
	unsigned, alone := l.build(several, nil), l.build(single, nil)
	ours, err := l.keys[1].SignRefill(l.chain, several, l.bases[0], unsigned)
	l.must(err)
	seed, err := l.keys[1].SignRefill(l.chain, seeds, l.bases[0], l.build(seeds, nil))
	l.must(err)
	var said struct {
		BySeveral, Together, Hash, Type, Amount, Fee, Destination, Alone string
		Checks                                                           []bool
		Same, Seed                                                       bool
	}
	readBy(t, folder, "xrplcold.mjs", map[string]any{"device": question["device"],
		"unsigned": l.blobOf(several.Wallet, unsigned), "ours": l.blobOf(several.Wallet, ours),
		"single": l.blobOf(single.Wallet, alone), "seed": l.blobOf(seeds.Wallet, seed)}, &said)
	if len(said.Checks) != 1 || !said.Checks[0] || !said.Same || !said.Seed || said.Type != "Payment" ||
		said.Amount != "5000000" || said.Destination != l.bases[0] || said.Fee != "48" {
		t.Errorf("xrpl.js reads %+v, want a payment of 5000000 to %s with our signature", said, l.bases[0])
	}
	other, err := hex.DecodeString(said.BySeveral)
	l.must(err)
	both, err := l.chain.CombineCold(several.Wallet, ours, other)
	l.must(err)
	if got := l.blobOf(several.Wallet, both); got != said.Together {
		t.Errorf("joined: got %s, want %s as xrpl.js has it", got, said.Together)
	}
	if signed := l.arrives(several, both); signed.TxID != said.Hash {
		t.Errorf("got transaction %s, want %s", signed.TxID, said.Hash)
	}
	other, err = hex.DecodeString(said.Alone)
	l.must(err)
	alone, err = l.chain.CombineCold(single.Wallet, alone, other)
	l.must(err)
	l.arrives(single, alone)
	l.arrives(seeds, seed)
}

// A refill that waits in the queue is revoked: the one that revokes it has its sequence at a fee that the queue takes,
// and the other can be in no ledger any more.
func TestAnXRPLRefillIsRevoked(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.fund(l.bases[1])
	first := l.refill(cold(bursar.ColdAddress, l.bases[1]), 5_000_000)
	second := l.refill(cold(bursar.ColdAddress, l.bases[1]), 6_000_000)
	old := l.build(first, nil)
	next := l.build(second, old)
	one, err := first.Evaluate(l.chain, l.bases[0], old)
	l.must(err)
	two, err := second.Evaluate(l.chain, l.bases[0], next)
	l.must(err)
	if one.Reservations[0] != two.Reservations[0] || two.Fee != bursar.Units(16) {
		t.Errorf("got %v with a fee of %s after one of %s, want the same sequence above 125%%", two.Reservations, two.Fee,
			one.Fee)
	}
	signed, err := l.keys[1].SignRefill(l.chain, second, l.bases[0], next)
	l.must(err)
	l.arrives(second, signed)
	late, err := l.keys[1].SignRefill(l.chain, first, l.bases[0], old)
	l.must(err)
	tx, err := l.chain.FinishCold(first.Wallet, late)
	l.must(err)
	if err := l.chain.Broadcast(t.Context(), tx); err == nil || !strings.Contains(err.Error(), "tefPAST_SEQ") {
		t.Errorf("the other: got %v, want tefPAST_SEQ", err)
	}
	if after := l.build(first, nil); bytes.Equal(after, old) {
		t.Errorf("got the same sequence again, want the next")
	}
}

// What cannot become a refill is refused before anything is given out.
func TestRefillsOfXRPLThatCannotBegin(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.fund(l.bases[1])
	for name, a := range map[string]struct {
		wallet bursar.ColdWallet
		drops  uint64
		limit  uint64
		says   string
	}{
		"no account":             {cold(bursar.ColdAddress, l.bases[2]), 1, 1000, "does not exist"},
		"no list of signers":     {cold(bursar.ColdSignerList, l.bases[1]), 1, 1000, "no list of signers"},
		"the reserve":            {cold(bursar.ColdAddress, l.bases[1]), 99_000_000, 1000, "12"},
		"a low bound of fees":    {cold(bursar.ColdAddress, l.bases[1]), 1, 9, "fee"},
		"nothing":                {cold(bursar.ColdAddress, l.bases[1]), 0, 1000, "smallest"},
		"another kind of wallet": {cold(bursar.ColdSafe, l.bases[1]), 1, 1000, "want one address"},
	} {
		_, err := l.chain.BuildCold(t.Context(), chain.ColdRequest{Wallet: a.wallet, MaxFee: bursar.Units(a.limit),
			Payment: chain.Payment{Address: bursar.Address{Base: l.bases[0]}, Amount: bursar.Units(a.drops)}})
		if err == nil || !strings.Contains(err.Error(), a.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, a.says)
		}
	}
}
