package evm

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// coldHarness is a cold account, and a Safe of which two of three seeds are enough; the last seed's account sends.
type coldHarness struct {
	*testing.T
	rules *Rules
	keys  []*signer.Keys
	bases []address
	home  string
}

func newColdHarness(t *testing.T) *coldHarness {
	t.Helper()
	cfg := Ethereum()
	cfg.Tokens = []Token{{Contract: fakeToken, Decimals: 6}}
	rules, err := NewRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := &coldHarness{T: t, rules: rules}
	for n := range byte(4) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		pub, err := keys.Public(chain.Hot(chain.FamilyEVM))
		if err != nil {
			t.Fatal(err)
		}
		base, err := rules.Address(pub, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			b.home = base.Base
			continue
		}
		at, err := parseAddress(base.Base)
		if err != nil {
			t.Fatal(err)
		}
		b.keys, b.bases = append(b.keys, keys), append(b.bases, at)
	}
	return b
}

// refill is one of a wallet at the given address.
func (b *coldHarness) refill(kind bursar.ColdKind, at address) signer.Refill {
	return signer.Refill{
		Wallet:  bursar.ColdWallet{Chain: bursar.Ethereum, Name: "vault", Kind: kind, Addresses: []string{at.String()}},
		Payment: chain.Payment{Address: bursar.Address{Base: b.home}, Amount: bursar.Units(5e17)},
		MaxFee:  bursar.Units(1e17), MaxRate: bursar.Units(300 * gwei)}
}

func (b *coldHarness) base(text string) address {
	b.Helper()
	at, err := parseAddress(text)
	if err != nil {
		b.Fatal(err)
	}
	return at
}

// account is an honest transaction of a cold account, after a change.
func (b *coldHarness) account(change func(p *payload)) []byte {
	b.Helper()
	p := payload{ChainID: 1, Nonce: 7, Tip: big.NewInt(gwei), MaxFee: big.NewInt(20 * gwei), Gas: plainGas,
		To: b.base(b.home), Value: big.NewInt(5e17)}
	if change != nil {
		change(&p)
	}
	data, err := p.encoded()
	if err != nil {
		b.Fatal(err)
	}
	return data
}

var safeAt = address{19: 0x5a}

// safe is an honest SafeTx, after a change.
func (b *coldHarness) safe(change func(t *safeForm)) []byte {
	b.Helper()
	t := safeForm{Version: 1, ChainID: 1, Safe: safeAt, Tx: safeTx{To: b.base(b.home), Value: big.NewInt(5e17),
		GasPrice: new(big.Int), Nonce: 3}, Owners: slices.SortedFunc(slices.Values(b.bases), compare), Threshold: 2,
		Executor: b.bases[2], Nonce: 9, Tip: big.NewInt(gwei), MaxFee: big.NewInt(20 * gwei), Gas: 300_000}
	if change != nil {
		change(&t)
	}
	data, err := t.encode()
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func TestAColdAccountSignsARefill(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r, data := b.refill(bursar.ColdAddress, b.bases[0]), b.account(nil)
	if _, err := b.keys[1].SignRefill(b.rules, r, b.home, data); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("another seed: got %v, want ErrNoKey", err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, data); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("unsigned: got %v, want ErrColdIncomplete", err)
	}
	signed, err := b.keys[0].SignRefill(b.rules, r, b.home, data)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := r.Evaluate(b.rules, b.home, signed)
	if err != nil || tx.Inputs[0].Have() != 1 || tx.Reservations[0] != b.bases[0].String()+"/7" ||
		tx.Fee != bursar.Units(20*gwei*plainGas) {
		t.Errorf("got %+v, %v, want it signed, with its nonce and its highest fee", tx, err)
	}
	final, err := b.rules.FinishCold(r.Wallet, signed)
	if err != nil || !bytes.Equal(final.Raw, signed) || final.TxID != keccak(signed).String() {
		t.Errorf("got %x, %v, want the signed transaction itself", final.Raw, err)
	}
	joined, err := b.rules.CombineCold(r.Wallet, data, signed)
	if err != nil || !bytes.Equal(joined, signed) {
		t.Errorf("joined: got %x, %v, want %x", joined, err, signed)
	}
	if _, err := b.rules.CombineCold(r.Wallet, data, b.account(func(p *payload) { p.Nonce++ })); !errors.Is(err, errCold) {
		t.Errorf("another nonce: got %v, want errCold", err)
	}
}

// What a core in other hands would have a cold account sign.
func TestAttacksOnAColdAccount(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	for name, a := range map[string]struct {
		change func(p *payload)
		want   signer.Reason
	}{
		"another destination": {func(p *payload) { p.To = b.bases[1] }, signer.ReasonExternal},
		"another amount":      {func(p *payload) { p.Value = big.NewInt(6e17) }, signer.ReasonExternal},
		"another chain":       {func(p *payload) { p.ChainID = 137 }, signer.ReasonUnreadable},
		"an approval": {func(p *payload) {
			p.To, p.Value = b.base(fakeToken), new(big.Int)
			p.Data = slices.Concat([]byte{0x09, 0x5e, 0xa7, 0xb3}, transferData(b.base(b.home), bursar.Units(1))[4:])
		}, signer.ReasonUnreadable},
		"a creation":      {func(p *payload) { p.To = address{} }, signer.ReasonUnreadable},
		"an access list":  {func(p *payload) { p.Access = []accessEntry{{Address: b.bases[0]}} }, signer.ReasonUnreadable},
		"a high fee":      {func(p *payload) { p.Gas = 6_000_000 }, signer.ReasonFee},
		"a high gas rate": {func(p *payload) { p.MaxFee = big.NewInt(301 * gwei) }, signer.ReasonRate},
		"a token's transfer instead of the native asset": {func(p *payload) {
			p.To, p.Value, p.Data = b.base(fakeToken), new(big.Int), transferData(b.base(b.home), bursar.Units(5e17))
		}, signer.ReasonExternal},
	} {
		_, err := b.keys[0].SignRefill(b.rules, b.refill(bursar.ColdAddress, b.bases[0]), b.home, b.account(a.change))
		wantRefusal(t, name, err, a.want)
	}
	delegation := append([]byte{4}, b.account(nil)[1:]...) // EIP-7702
	_, err := b.keys[0].SignRefill(b.rules, b.refill(bursar.ColdAddress, b.bases[0]), b.home, delegation)
	wantRefusal(t, "an authorization list", err, signer.ReasonUnreadable)
}

func wantRefusal(t *testing.T, name string, err error, want signer.Reason) {
	t.Helper()
	var refusal *signer.RefusalError
	if !errors.As(err, &refusal) || refusal.Reason != want {
		t.Errorf("%s: got %v, want a refusal for %s", name, err, want)
	}
}

// Two owners of three sign, in either order or apart; who sends it signs last, and is one of them here.
func TestOwnersOfASafeSignARefill(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r, data := b.refill(bursar.ColdSafe, safeAt), b.safe(nil)
	one, err := b.keys[0].SignRefill(b.rules, r, b.home, data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.keys[0].SignRefill(b.rules, r, b.home, one); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("an owner signs twice: got %v, want ErrNoKey", err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, one); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("one of two: got %v, want ErrColdIncomplete", err)
	}
	both, err := b.keys[2].SignRefill(b.rules, r, b.home, one) // as an owner, then as the executor
	if err != nil {
		t.Fatal(err)
	}
	final, err := b.rules.FinishCold(r.Wallet, both)
	if err != nil {
		t.Fatal(err)
	}
	apart, err := b.keys[2].SignRefill(b.rules, r, b.home, data)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := b.rules.CombineCold(r.Wallet, apart, one)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := b.keys[2].SignRefill(b.rules, r, b.home, joined)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.rules.FinishCold(r.Wallet, sent); err != nil || !bytes.Equal(again.Raw, final.Raw) {
		t.Errorf("joined: got %x, %v, want %x", again.Raw, err, final.Raw)
	}
	if _, err := b.keys[1].SignRefill(b.rules, r, b.home, both); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("a third owner signs: got %v, want ErrNoKey", err)
	}
	if got, err := b.rules.CombineCold(r.Wallet, data, both); err != nil || !bytes.Equal(got, both) {
		t.Errorf("a complete copy: got %x, %v, want it", got, err)
	}
	for name, bad := range map[string][]byte{
		"another SafeTx":        b.safe(func(t *safeForm) { t.Tx.Nonce++ }),
		"a signature of nobody": append(bytes.Repeat([]byte{1}, 64), 27),
	} {
		if _, err := b.rules.CombineCold(r.Wallet, data, bad); err == nil {
			t.Errorf("%s is joined: got no error, want one", name)
		}
	}
}

// What a core in other hands would have the owners of a Safe sign: Bybit's were shown a transfer, and signed an
// operation of 1.
func TestAttacksOnASafe(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	huge := new(big.Int).Lsh(big.NewInt(1), 300)
	swap := slices.Concat([]byte{0xe3, 0x18, 0xb5, 0x2b}, make([]byte, 96)) // swapOwner(address,address,address)
	for name, a := range map[string]struct {
		change func(t *safeForm)
		want   signer.Reason
	}{
		"DELEGATECALL":             {func(t *safeForm) { t.Tx.Operation = 1 }, signer.ReasonUnreadable},
		"another destination":      {func(t *safeForm) { t.Tx.To = b.bases[1] }, signer.ReasonExternal},
		"another amount":           {func(t *safeForm) { t.Tx.Value = big.NewInt(6e17) }, signer.ReasonExternal},
		"another chain":            {func(t *safeForm) { t.ChainID = 137 }, signer.ReasonUnreadable},
		"another Safe":             {func(t *safeForm) { t.Safe = b.bases[1] }, signer.ReasonUnreadable},
		"a change of owners":       {func(t *safeForm) { t.Tx.To, t.Tx.Data = safeAt, swap }, signer.ReasonUnreadable},
		"data for the hot wallet":  {func(t *safeForm) { t.Tx.Data = []byte{1} }, signer.ReasonUnreadable},
		"a refund of gas":          {func(t *safeForm) { t.Tx.GasPrice = big.NewInt(gwei) }, signer.ReasonUnreadable},
		"base gas":                 {func(t *safeForm) { t.Tx.BaseGas = 1 }, signer.ReasonUnreadable},
		"safe gas":                 {func(t *safeForm) { t.Tx.SafeGas = 1 }, signer.ReasonUnreadable},
		"a refund in tokens":       {func(t *safeForm) { t.Tx.GasToken = b.base(fakeToken) }, signer.ReasonUnreadable},
		"a refund receiver":        {func(t *safeForm) { t.Tx.Refunds = b.bases[1] }, signer.ReasonUnreadable},
		"a high fee":               {func(t *safeForm) { t.Gas = 6_000_000 }, signer.ReasonFee},
		"no threshold":             {func(t *safeForm) { t.Threshold = 0 }, signer.ReasonUnreadable},
		"an owner twice":           {func(t *safeForm) { t.Owners[1] = t.Owners[0] }, signer.ReasonUnreadable},
		"a huge value":             {func(t *safeForm) { t.Tx.Value = huge }, signer.ReasonUnreadable},
		"sent before it is signed": {func(t *safeForm) { t.Sent = make([]byte, 65) }, signer.ReasonUnreadable},
	} {
		_, err := b.keys[2].SignRefill(b.rules, b.refill(bursar.ColdSafe, safeAt), b.home, b.safe(a.change))
		wantRefusal(t, name, err, a.want)
	}
}
