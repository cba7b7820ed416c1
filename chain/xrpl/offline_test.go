package xrpl

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// coldHarness is a cold account of the first seed's key, and an account with a list of signers: three seeds and a
// device with a key of ed25519.
type coldHarness struct {
	*testing.T
	rules  *Rules
	keys   []*signer.Keys
	bases  []accountID
	device ed25519.PrivateKey
	list   *signerList
	home   string
}

var listedAccount = accountID{19: 0x5a}

func newColdHarness(t *testing.T) *coldHarness {
	t.Helper()
	b := &coldHarness{T: t, rules: rules(t, Private, 0), device: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32))}
	for n := range byte(4) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		pub, err := keys.Public(chain.Hot(chain.FamilyXRPL))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			b.home = accountOf(pub).String()
			continue
		}
		b.keys, b.bases = append(b.keys, keys), append(b.bases, accountOf(pub))
	}
	b.bases = append(b.bases, accountOf(b.deviceKey()))
	b.list = &signerList{quorum: 3, signers: []listedSigner{{b.bases[0], 1}, {b.bases[1], 1}, {b.bases[2], 2},
		{b.bases[3], 1}}}
	slices.SortFunc(b.list.signers, func(a, b listedSigner) int { return compare(a.account, b.account) })
	return b
}

func (b *coldHarness) deviceKey() []byte {
	return append([]byte{0xed}, b.device.Public().(ed25519.PublicKey)...)
}

func (b *coldHarness) refill(kind bursar.ColdKind, at accountID) signer.Refill {
	return signer.Refill{
		Wallet:  bursar.ColdWallet{Chain: bursar.XRPL, Name: "vault", Kind: kind, Addresses: []string{at.String()}},
		Payment: chain.Payment{Address: bursar.Address{Base: b.home}, Amount: bursar.Units(5_000_000)},
		MaxFee:  bursar.Units(1000)}
}

// honest is a payment from an account, after a change.
func (b *coldHarness) honest(from accountID, change func(p *payment)) *coldTx {
	b.Helper()
	home, err := parseClassic(b.home)
	if err != nil {
		b.Fatal(err)
	}
	t := &coldTx{payment: payment{Flags: fullyCanonical, Sequence: 7, LastLedger: 300_000, Amount: 5_000_000, Fee: 48,
		Account: from, Destination: home}}
	if from == listedAccount {
		t.list = b.list
	}
	if change != nil {
		change(&t.payment)
	}
	return t
}

func (b *coldHarness) sign(by int, r signer.Refill, data []byte) []byte {
	b.Helper()
	signed, err := b.keys[by].SignRefill(b.rules, r, b.home, data)
	if err != nil {
		b.Fatal(err)
	}
	return signed
}

func TestAColdAccountSignsARefill(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r, data := b.refill(bursar.ColdAddress, b.bases[0]), b.honest(b.bases[0], nil).bytes()
	if _, err := b.keys[1].SignRefill(b.rules, r, b.home, data); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("another seed: got %v, want ErrNoKey", err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, data); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("unsigned: got %v, want ErrColdIncomplete", err)
	}
	signed := b.sign(0, r, data)
	tx, err := r.Evaluate(b.rules, b.home, signed)
	if err != nil || tx.Inputs[0].Have() != 1 || tx.Reservations[0] != b.bases[0].String()+"/7" ||
		tx.Fee != bursar.Units(48) {
		t.Errorf("got %+v, %v, want it signed, with its sequence and fee", tx, err)
	}
	final, err := b.rules.FinishCold(r.Wallet, signed)
	if err != nil || !bytes.Equal(final.Raw, signed) || final.TxID != txID(signed).String() {
		t.Errorf("got %X, %v, want the signed transaction itself", final.Raw, err)
	}
	joined, err := b.rules.CombineCold(r.Wallet, data, signed)
	if err != nil || !bytes.Equal(joined, signed) {
		t.Errorf("joined: got %X, %v, want %X", joined, err, signed)
	}
	other := b.honest(b.bases[0], func(p *payment) { p.Sequence++ }).bytes()
	if _, err := b.rules.CombineCold(r.Wallet, data, other); !errors.Is(err, errCold) {
		t.Errorf("another sequence: got %v, want errCold", err)
	}
}

// The weights decide: two signers of weight 1 are not enough, with the one of weight 2 they are, and nobody signs more
// than the fee is for. Copies are joined in any order, and the order in the transaction is the ledger's.
func TestSignersSignARefill(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r, data := b.refill(bursar.ColdSignerList, listedAccount), b.honest(listedAccount, nil).bytes()
	first, second, heavy := b.sign(0, r, data), b.sign(1, r, data), b.sign(2, r, data)
	two, err := b.rules.CombineCold(r.Wallet, second, first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, two); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("a weight of 2 of 3: got %v, want ErrColdIncomplete", err)
	}
	if _, err := b.keys[0].SignRefill(b.rules, r, b.home, two); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("signed twice: got %v, want ErrNoKey", err)
	}
	enough := b.sign(2, r, first)
	tx, err := r.Evaluate(b.rules, b.home, enough)
	if err != nil || tx.Inputs[0].Have() != 2 || tx.Inputs[0].Need != 2 {
		t.Errorf("got %+v, %v, want two signatures of two", tx.Inputs, err)
	}
	if _, err := b.keys[1].SignRefill(b.rules, r, b.home, enough); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("more than enough: got %v, want ErrNoKey", err)
	}
	joined, err := b.rules.CombineCold(r.Wallet, heavy, first)
	if err != nil || !bytes.Equal(joined, enough) {
		t.Errorf("joined: got %X, %v, want %X", joined, err, enough)
	}
	final, err := b.rules.FinishCold(r.Wallet, enough)
	if err != nil || !bytes.HasSuffix(enough, final.Raw) || final.TxID != txID(final.Raw).String() {
		t.Errorf("got %X, %v, want the transaction behind the list", final.Raw, err)
	}
	device := b.honest(listedAccount, nil)
	s := signature{Account: b.bases[3], Key: b.deviceKey()}
	s.Signature = ed25519.Sign(b.device, append([]byte(severalPrefix), device.message(s.Account)...))
	device.Signers = []signature{s}
	joined, err = b.rules.CombineCold(r.Wallet, heavy, device.encode()) // as a device returns it: without the list
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, joined); err != nil {
		t.Errorf("with a device of ed25519: got %v, want it complete", err)
	}
}

// What a core in other hands would have a cold account sign. Fields of other types of transactions stand where the
// ledger's serialization has them.
func TestAttacksOnAColdAccount(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	tag, regular := uint32(5), append([]byte{0x88, 20}, make([]byte, 20)...)
	nobody := make([]byte, 70)
	kind := func(n byte) func([]byte) []byte {
		return func(body []byte) []byte { return slices.Concat([]byte{fieldType, 0, n}, body[3:]) }
	}
	behind := func(more ...byte) func([]byte) []byte { // a field behind all others
		return func(body []byte) []byte { return append(body, more...) }
	}
	for name, a := range map[string]struct {
		change func(p *payment)
		bytes  func(body []byte) []byte
		want   signer.Reason
	}{
		"another destination":     {change: func(p *payment) { p.Destination = b.bases[1] }, want: signer.ReasonExternal},
		"a destination's tag":     {change: func(p *payment) { p.Tag = &tag }, want: signer.ReasonExternal},
		"another amount":          {change: func(p *payment) { p.Amount++ }, want: signer.ReasonExternal},
		"a high fee":              {change: func(p *payment) { p.Fee = 1001 }, want: signer.ReasonFee},
		"a partial payment":       {change: func(p *payment) { p.Flags |= 0x0002_0000 }, want: signer.ReasonUnreadable},
		"no last ledger":          {change: func(p *payment) { p.LastLedger = 0 }, want: signer.ReasonUnreadable},
		"another network":         {change: func(p *payment) { p.NetworkID = 21_338 }, want: signer.ReasonUnreadable},
		"another account":         {change: func(p *payment) { p.Account = b.bases[1] }, want: signer.ReasonUnreadable},
		"a payment to itself":     {change: func(p *payment) { p.Destination = p.Account }, want: signer.ReasonUnreadable},
		"a ticket's sequence":     {change: func(p *payment) { p.Sequence = 0 }, want: signer.ReasonUnreadable},
		"AccountSet":              {bytes: kind(3), want: signer.ReasonUnreadable},
		"SetRegularKey":           {bytes: kind(5), want: signer.ReasonUnreadable},
		"SignerListSet":           {bytes: kind(12), want: signer.ReasonUnreadable},
		"AccountDelete":           {bytes: kind(21), want: signer.ReasonUnreadable},
		"a regular key":           {bytes: behind(regular...), want: signer.ReasonUnreadable},
		"paths":                   {bytes: behind(0x01, 0x12, 0x00), want: signer.ReasonUnreadable},
		"a memo":                  {bytes: behind(0xf9, 0xea, 0x7d, 1, 'x', 0xe1, 0xf1), want: signer.ReasonUnreadable},
		"a signature of nobody":   {change: func(p *payment) { p.Signature = nobody }, want: signer.ReasonUnreadable},
		"signers of a single key": {change: func(p *payment) { p.Signers = []signature{{}} }, want: signer.ReasonUnreadable},
	} {
		for at, wallet := range map[accountID]bursar.ColdKind{b.bases[0]: bursar.ColdAddress,
			listedAccount: bursar.ColdSignerList} {
			tx := b.honest(at, a.change)
			data := tx.bytes()
			if a.bytes != nil {
				data = slices.Concat(tx.list.encode(), a.bytes(tx.encode()))
			}
			_, err := b.keys[0].SignRefill(b.rules, b.refill(wallet, at), b.home, data)
			var refusal *signer.RefusalError
			if !errors.As(err, &refusal) || refusal.Reason != a.want {
				t.Errorf("%s of kind %s: got %v, want a refusal for %s", name, wallet, err, a.want)
			}
		}
	}
}

// What no account's list of signers can be, and signatures that the ledger would refuse.
func TestListsAndSignaturesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r := b.refill(bursar.ColdSignerList, listedAccount)
	good := b.sign(0, r, b.honest(listedAccount, nil).bytes())
	outsider := b.honest(listedAccount, nil)
	outsider.Signers = []signature{{accountOf(b.deviceKey()), b.deviceKey(), make([]byte, 64)}}
	for name, change := range map[string]func(t *coldTx){
		"no quorum":             func(t *coldTx) { t.list.quorum = 0 },
		"a quorum out of reach": func(t *coldTx) { t.list.quorum = 6 },
		"a weight of nothing":   func(t *coldTx) { t.list.signers[0].weight = 0 },
		"a signer twice":        func(t *coldTx) { t.list.signers[1] = t.list.signers[0] },
		"the account itself":    func(t *coldTx) { t.list.signers = []listedSigner{{listedAccount, 3}} },
		"an order of its own":   func(t *coldTx) { slices.Reverse(t.list.signers) },
		"no signer's signature": func(t *coldTx) {
			t.list.signers = slices.DeleteFunc(t.list.signers, func(s listedSigner) bool { return s.account == b.bases[0] })
		},
		"a signature that fits nothing": func(t *coldTx) { t.Signers[0].Signature[9] ^= 1 },
		"another's key":                 func(t *coldTx) { t.Signers[0].Key = b.deviceKey() },
		"a signature twice":             func(t *coldTx) { t.Signers = append(t.Signers, t.Signers[0]) },
	} {
		tx, err := b.rules.coldOf(r.Wallet, good)
		if err != nil {
			t.Fatal(err)
		}
		change(tx)
		if _, err := b.rules.ReadCold(r.Wallet, tx.bytes()); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	if _, err := b.rules.ReadCold(r.Wallet, outsider.bytes()); !errors.Is(err, errSignature) {
		t.Errorf("a device's signature of nothing: got %v, want errSignature", err)
	}
	if err := b.rules.CheckCold(bursar.ColdWallet{Chain: bursar.XRPL, Kind: bursar.ColdAddress,
		Addresses: []string{strings.ToUpper(b.home)}}); !errors.Is(err, bursar.ErrBadAddress) {
		t.Errorf("an address of another spelling: got %v, want ErrBadAddress", err)
	}
}

// As many signatures as may be needed are paid for: those of the least weight may sign first.
func TestTheFeeIsForTheWorstCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quorum  uint32
		weights []uint16
		want    int
	}{
		{3, []uint16{1, 1, 2, 1}, 3},
		{3, []uint16{3, 1, 1}, 3},
		{1, []uint16{1}, 1},
		{5, []uint16{2, 2, 1, 5}, 3},
		{2, []uint16{1, 1, 1, 1}, 2},
	} {
		l := signerList{quorum: c.quorum}
		for i, w := range c.weights {
			l.signers = append(l.signers, listedSigner{accountID{byte(i)}, w})
		}
		if got := l.most(); got != c.want {
			t.Errorf("%d of %v: got %d signatures, want %d", c.quorum, c.weights, got, c.want)
		}
	}
}
