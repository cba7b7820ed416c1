package solana_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	adapter "github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/sandbox/litesvm"
	"github.com/bursar/bursar/sandbox/nodes/solana"
)

var keys = chaintest.Keys{Curve: chain.Ed25519}

// hot is the hot wallet address of these tests, with 20 SOL.
func hot(t *testing.T, n *solana.Node, c *adapter.Chain) chain.Source {
	t.Helper()
	address, err := c.Address(keys.Public(chain.Hot("solana")), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Pay(address.Base, 20*sol); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 1)
	finalize(t, n)
	return chain.Source{Key: chain.Hot("solana"), Base: address.Base}
}

func finalize(t *testing.T, n *solana.Node) {
	t.Helper()
	if err := n.Finalize(); err != nil {
		t.Fatal(err)
	}
}

// sign builds and signs a withdrawal of one SOL.
func sign(t *testing.T, c *adapter.Chain, from chain.Source, to string) (chain.UnsignedTx, chain.SignedTx) {
	t.Helper()
	unsigned, err := c.Build(t.Context(), chain.TxRequest{Kind: chain.KindWithdrawal, From: from,
		MaxFee:   bursar.Units(100_000),
		Payments: []chain.Payment{{Address: bursar.Address{Base: to}, Amount: bursar.Units(sol)}}})
	if err != nil {
		t.Fatal(err)
	}
	contents, err := c.Inspect(unsigned.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := c.Assemble(unsigned, [][]byte{keys.Sign(from.Key, contents.Inputs[0].Digest)})
	if err != nil {
		t.Fatal(err)
	}
	return unsigned, tx
}

// TestTheRealMachineTakesEveryFormat checks that the real machine, its parser and its signature check accept what the
// adapter writes in every format, at the fee of the unsigned transaction, and nothing else.
func TestTheRealMachineTakesEveryFormat(t *testing.T) {
	t.Parallel()
	vm := startVM(t)
	// A byte of the signature and one of the amount.
	for format, places := range map[string]func(size int) []int{
		"legacy": func(size int) []int { return []int{5, size - 4} },
		"v0":     func(size int) []int { return []int{5, size - 5} },
		"v1":     func(size int) []int { return []int{size - 5, size - 68} },
	} {
		n := start(t, solana.Config{})
		config := adapter.Private()
		config.Format = format
		c := connect(t, n, config)
		from := hot(t, n, c)
		unsigned, tx := sign(t, c, from, n.NewAddress())
		payer := litesvm.Account{Key: keys.Public(from.Key), Lamports: 5 * sol, Owner: make([]byte, 32)}
		for _, i := range places(len(tx.Raw)) {
			spoilt := append([]byte{}, tx.Raw...)
			spoilt[i] ^= 1
			verdict, err := vm.Send(litesvm.Order{Raw: spoilt, Accounts: []litesvm.Account{payer}, Read: [][]byte{payer.Key}})
			if err != nil || verdict.Err != "SignatureFailure" {
				t.Fatalf("%s, byte %d: %v, %v, want %q", format, i, verdict.Err, err, "SignatureFailure")
			}
		}
		verdict, err := vm.Send(litesvm.Order{Raw: tx.Raw, Accounts: []litesvm.Account{payer}, Read: [][]byte{payer.Key}})
		if err != nil || verdict.Err != nil {
			t.Fatalf("%s: %v, %v, want nil", format, verdict.Err, err)
		}
		paid := bursar.Units(5*sol - verdict.Accounts[0].Lamports)
		if want, _ := unsigned.Fee.Add(bursar.Units(sol)); paid != want {
			t.Fatalf("%s: it cost %s, want %s", format, paid, want)
		}
	}
}

// TestTheFormatFollowsTheNode checks that the node's answers about formats decide which one is signed: the first that
// it accepts, found before anything is signed.
func TestTheFormatFollowsTheNode(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	c := connect(t, n, adapter.Private())
	from := hot(t, n, c)
	for i, step := range []struct {
		refused []int
		first   byte // of the signed bytes
		second  byte // of the message, in the old formats
	}{
		{nil, 1, 1},
		{[]int{1}, 1, 1},
		{[]int{solana.Legacy, 1}, 1, 0x80},
		{[]int{1}, 1, 0x80}, // the format that was accepted last is tried first
		{[]int{solana.Legacy, 0}, 0x81, 2},
	} {
		n.Refuse(step.refused...)
		_, tx := sign(t, c, from, n.NewAddress())
		if tx.Raw[0] != step.first || step.first == 1 && tx.Raw[65] != step.second {
			t.Fatalf("step %d: the transaction begins with %x, its message with %x", i, tx.Raw[0], tx.Raw[65])
		}
		if err := c.Broadcast(t.Context(), tx); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		mine(t, n, 1)
		finalize(t, n)
		if _, err := c.Find(t.Context(), tx.TxID); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	n.Refuse(solana.Legacy, 0, 1)
	if _, err := c.Build(t.Context(), chain.TxRequest{Kind: chain.KindWithdrawal, From: from,
		MaxFee:   bursar.Units(100_000),
		Payments: []chain.Payment{{Address: bursar.Address{Base: n.NewAddress()}, Amount: bursar.Units(sol)}}}); err == nil {
		t.Fatal("a transaction was built that no node accepts")
	}
}

// TestAFormatThatIsGivenUpNeverPaysTwice has a cluster drop a format between signing and sending: the bytes are not
// rejected, because another node may accept them. They expire with their blockhash, and only then another transaction
// pays, in another format, once.
func TestAFormatThatIsGivenUpNeverPaysTwice(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	c := connect(t, n, adapter.Private())
	from := hot(t, n, c)
	to := n.NewAddress()
	unsigned, tx := sign(t, c, from, to)
	n.Refuse(solana.Legacy)
	if err := c.Broadcast(t.Context(), tx); err == nil || errors.Is(err, chain.ErrRejected) {
		t.Fatalf("the outcome is reported as known: %v", err)
	}
	for range 15 {
		if dead, err := c.Expired(t.Context(), unsigned, tx.TxID); dead || err != nil {
			t.Fatalf("it expired while a node could still accept it: %v, %v", dead, err)
		}
		mine(t, n, 10)
		finalize(t, n)
	}
	mine(t, n, 5)
	finalize(t, n)
	if dead, err := c.Expired(t.Context(), unsigned, tx.TxID); !dead || err != nil {
		t.Fatalf("it has not expired: %v, %v", dead, err)
	}
	n.Refuse() // all formats are accepted again, and the old bytes have expired all the same
	if err := c.Broadcast(t.Context(), tx); err == nil {
		t.Fatal("expired bytes were accepted, want an error")
	}
	_, again := sign(t, c, from, to)
	if again.Raw[65] != 0x80 {
		t.Fatalf("it was signed again in the format that was refused: %x, want 0x80", again.Raw[65])
	}
	if err := c.Broadcast(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 3)
	if got := balance(t, n, to); got != sol {
		t.Fatalf("%d lamports were paid, want %v", got, sol)
	}
}

// TestAConfiguredFormatIsKept checks that a configured format is the only one that is used.
func TestAConfiguredFormatIsKept(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	config := adapter.Private()
	config.Format = "legacy"
	c := connect(t, n, config)
	from := hot(t, n, c)
	n.Refuse(solana.Legacy)
	_, err := c.Build(t.Context(), chain.TxRequest{Kind: chain.KindWithdrawal, From: from, MaxFee: bursar.Units(100_000),
		Payments: []chain.Payment{{Address: bursar.Address{Base: n.NewAddress()}, Amount: bursar.Units(sol)}}})
	if err == nil || !strings.Contains(err.Error(), "does not accept transactions of this format") {
		t.Fatal(err)
	}
	for _, wrong := range []string{"v2", "Legacy", "0"} {
		config.Format = wrong
		if _, err := adapter.NewRules(config); err == nil {
			t.Fatalf("format %q was accepted, want an error", wrong)
		}
	}
}
