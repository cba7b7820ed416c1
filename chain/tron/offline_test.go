package tron

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// coldHarness is a cold account of the first seed's key, and an account whose permission 2 three seeds have.
type coldHarness struct {
	*testing.T
	rules      *Rules
	keys       []*signer.Keys
	bases      []address
	permission *permission
	home       address
}

var permittedAccount = address{19: 0x5a}

const coldToken = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"

func newColdHarness(t *testing.T) *coldHarness {
	t.Helper()
	rules, err := NewRules(Mainnet())
	if err != nil {
		t.Fatal(err)
	}
	b := &coldHarness{T: t, rules: rules}
	for n := range byte(4) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		pub, err := keys.Public(chain.Hot(chain.FamilyTron))
		if err != nil {
			t.Fatal(err)
		}
		base, err := rules.Address(pub, 0)
		if err != nil {
			t.Fatal(err)
		}
		at, err := parseAddress(base.Base)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			b.home = at
			continue
		}
		b.keys, b.bases = append(b.keys, keys), append(b.bases, at)
	}
	b.permission = &permission{threshold: 3, keys: []permissionKey{{b.bases[0], 1}, {b.bases[1], 1}, {b.bases[2], 2}}}
	slices.SortFunc(b.permission.keys, func(a, b permissionKey) int { return compare(a.address, b.address) })
	return b
}

func (b *coldHarness) refill(kind bursar.ColdKind, at address) signer.Refill {
	w := bursar.ColdWallet{Chain: bursar.Tron, Name: "vault", Kind: kind, Addresses: []string{at.String()}}
	if kind == bursar.ColdPermission {
		w.PermissionID = 2
	}
	return signer.Refill{Wallet: w, MaxFee: bursar.Units(3_000_000),
		Payment: chain.Payment{Address: bursar.Address{Base: b.home.String()}, Amount: bursar.Units(5_000_000)}}
}

// honest is a payment from an account, after a change.
func (b *coldHarness) honest(from address, change func(p *payload)) *coldTx {
	p := payload{RefBytes: [2]byte{1, 2}, RefHash: [8]byte{3}, Expiration: 1_800_000_000_000, Timestamp: 1_799_999_000_000,
		Owner: from, Target: b.home, Amount: 5_000_000}
	t := new(coldTx)
	if from == permittedAccount {
		t.permission, p.Permission = b.permission, 2
	}
	if change != nil {
		change(&p)
	}
	t.payload, t.raw = p, p.encode()
	return t
}

func (b *coldHarness) sign(by int, r signer.Refill, data []byte) []byte {
	b.Helper()
	signed, err := b.keys[by].SignRefill(b.rules, r, b.home.String(), data)
	if err != nil {
		b.Fatal(err)
	}
	return signed
}

func TestAColdAccountSignsARefill(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r, tx := b.refill(bursar.ColdAddress, b.bases[0]), b.honest(b.bases[0], nil)
	data := tx.bytes()
	if _, err := b.keys[1].SignRefill(b.rules, r, b.home.String(), data); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("another seed: got %v, want ErrNoKey", err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, data); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("unsigned: got %v, want ErrColdIncomplete", err)
	}
	signed := b.sign(0, r, data)
	got, err := r.Evaluate(b.rules, b.home.String(), signed)
	final, finished := b.rules.FinishCold(r.Wallet, signed)
	if err != nil || got.Inputs[0].Have() != 1 || got.Reservations[0] != "tx/"+final.TxID ||
		!got.Ends.Equal(time.UnixMilli(1_800_000_000_000)) {
		t.Errorf("got %+v, %v, want it signed, with its id and its end", got, err)
	}
	if finished != nil || !bytes.Equal(final.Raw, signed) || got.Fee != bursar.Units(1000*size(tx.raw)) {
		t.Errorf("got %x, %v and a fee of %s, want the transaction and %d a byte", final.Raw, finished, got.Fee, 1000)
	}
	bare := signed[len(signed)-signatureSize:]
	for name, copied := range map[string][]byte{"the transaction": signed, "its signature": bare} {
		if joined, err := b.rules.CombineCold(r.Wallet, data, copied); err != nil || !bytes.Equal(joined, signed) {
			t.Errorf("joined with %s: got %x, %v, want %x", name, joined, err, signed)
		}
	}
	other := b.honest(b.bases[0], func(p *payload) { p.Timestamp++ }).bytes()
	if _, err := b.rules.CombineCold(r.Wallet, data, other); !errors.Is(err, errCold) {
		t.Errorf("another time: got %v, want errCold", err)
	}
}

// The weights decide, and nobody signs more than the fee is for; that has the network's price of several signatures.
func TestKeysOfAPermissionSignARefill(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r, tx := b.refill(bursar.ColdPermission, permittedAccount), b.honest(permittedAccount, nil)
	data := tx.bytes()
	first, second, heavy := b.sign(0, r, data), b.sign(1, r, data), b.sign(2, r, data)
	two, err := b.rules.CombineCold(r.Wallet, second, first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, two); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("a weight of 2 of 3: got %v, want ErrColdIncomplete", err)
	}
	if _, err := b.keys[0].SignRefill(b.rules, r, b.home.String(), two); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("signed twice: got %v, want ErrNoKey", err)
	}
	enough := b.sign(2, r, first)
	got, err := r.Evaluate(b.rules, b.home.String(), enough)
	want := bursar.Units(1000*(size(tx.raw)+2*67) + severalFee)
	if err != nil || got.Inputs[0].Have() != 2 || got.Inputs[0].Need != 2 || got.Fee != want {
		t.Errorf("got %+v with a fee of %s, %v, want two signatures of two for %s", got.Inputs, got.Fee, err, want)
	}
	if _, err := b.keys[1].SignRefill(b.rules, r, b.home.String(), enough); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("more than enough: got %v, want ErrNoKey", err)
	}
	joined, err := b.rules.CombineCold(r.Wallet, heavy, first)
	if err != nil || !bytes.Equal(joined, enough) {
		t.Errorf("joined: got %x, %v, want %x", joined, err, enough)
	}
	if final, err := b.rules.FinishCold(r.Wallet, enough); err != nil || !bytes.HasSuffix(enough, final.Raw) {
		t.Errorf("got %x, %v, want the transaction behind the permission", final.Raw, err)
	}
}

// What a core in other hands would have a cold account sign.
func TestAttacksOnAColdAccount(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	token, err := parseAddress(coldToken)
	if err != nil {
		t.Fatal(err)
	}
	calls := func(contract address, data []byte) func(p *payload) {
		return func(p *payload) { p.Target, p.Amount, p.Data, p.FeeLimit = contract, 0, data, 1_000_000 }
	}
	five := transferData(b.home, bursar.Units(5_000_000))
	approve := slices.Concat([]byte{0x09, 0x5e, 0xa7, 0xb3}, transferData(b.home, bursar.Units(5))[4:])
	contract := func(kind uint64, name string) func(p payload) []byte {
		return func(p payload) []byte { // another kind of contract with the same fields
			body := message(nil).bytes(1, p.Owner.bytes()).bytes(2, p.Target.bytes()).number(3, p.Amount)
			parameter := message(nil).bytes(anyType, []byte(typePrefix+name)).bytes(anyValue, body)
			of := message(nil).number(contractKind, kind).bytes(contractParameter, parameter).number(contractPermission,
				p.Permission)
			return message(nil).bytes(rawRefBytes, p.RefBytes[:]).bytes(rawRefHash, p.RefHash[:]).number(rawExpiration,
				p.Expiration).bytes(rawContract, of).number(rawTimestamp, p.Timestamp)
		}
	}
	for name, a := range map[string]struct {
		change func(p *payload)
		raw    func(p payload) []byte
		want   signer.Reason
	}{
		"another destination": {change: func(p *payload) { p.Target = b.bases[1] }, want: signer.ReasonExternal},
		"another amount":      {change: func(p *payload) { p.Amount++ }, want: signer.ReasonExternal},
		"another permission":  {change: func(p *payload) { p.Permission = 3 }, want: signer.ReasonUnreadable},
		"another account":     {change: func(p *payload) { p.Owner = b.bases[1] }, want: signer.ReasonUnreadable},
		"a payment to itself": {change: func(p *payload) { p.Target = p.Owner }, want: signer.ReasonUnreadable},
		"no end":              {change: func(p *payload) { p.Expiration = 0 }, want: signer.ReasonUnreadable},
		"a high fee limit":    {change: func(p *payload) { p.FeeLimit = 3_000_000 }, want: signer.ReasonFee},
		"an approval":         {change: calls(token, approve), want: signer.ReasonUnreadable},
		"another contract":    {change: calls(b.bases[1], five), want: signer.ReasonUnreadable},
		"tokens for TRX":      {change: calls(token, five), want: signer.ReasonExternal},
		"other permissions":   {raw: contract(46, "AccountPermissionUpdateContract"), want: signer.ReasonUnreadable},
		"a stake":             {raw: contract(54, "FreezeBalanceV2Contract"), want: signer.ReasonUnreadable},
		"lent energy":         {raw: contract(57, "DelegateResourceContract"), want: signer.ReasonUnreadable},
		"a memo": {raw: func(p payload) []byte { return append(p.encode(), message(nil).bytes(10, []byte("x"))...) },
			want: signer.ReasonUnreadable},
		"two contracts": {raw: func(p payload) []byte {
			return append(p.encode(), message(nil).bytes(rawContract, []byte{8, 1})...)
		}, want: signer.ReasonUnreadable},
	} {
		for at, kind := range map[address]bursar.ColdKind{b.bases[0]: bursar.ColdAddress,
			permittedAccount: bursar.ColdPermission} {
			tx := b.honest(at, a.change)
			if a.raw != nil {
				tx.raw = a.raw(tx.payload)
			}
			r := b.refill(kind, at)
			if kind == bursar.ColdPermission {
				r.MaxFee = bursar.Units(4_400_000)
			}
			_, err := b.keys[0].SignRefill(b.rules, r, b.home.String(), tx.bytes())
			var refusal *signer.RefusalError
			if !errors.As(err, &refusal) || refusal.Reason != a.want {
				t.Errorf("%s of kind %s: got %v, want a refusal for %s", name, kind, err, a.want)
			}
		}
	}
}

// What no permission can be, and signatures that the chain would refuse.
func TestPermissionsAndSignaturesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r := b.refill(bursar.ColdPermission, permittedAccount)
	good := b.sign(0, r, b.honest(permittedAccount, nil).bytes())
	for name, change := range map[string]func(t *coldTx){
		"no threshold":             func(t *coldTx) { t.permission.threshold = 0 },
		"a threshold out of reach": func(t *coldTx) { t.permission.threshold = 5 },
		"a weight of nothing":      func(t *coldTx) { t.permission.keys[0].weight = 0 },
		"weights beyond counting": func(t *coldTx) {
			t.permission.keys[0].weight, t.permission.keys[1].weight = 1<<63, 1<<63
		},
		"a key twice":         func(t *coldTx) { t.permission.keys[1] = t.permission.keys[0] },
		"an order of its own": func(t *coldTx) { slices.Reverse(t.permission.keys) },
		"no key's signature": func(t *coldTx) {
			t.permission.keys = slices.DeleteFunc(t.permission.keys, func(k permissionKey) bool {
				return k.address == b.bases[0]
			})
		},
		"a signature twice":             func(t *coldTx) { t.signatures = append(t.signatures, t.signatures[0]) },
		"a signature of another form":   func(t *coldTx) { t.signatures[0].bytes[64] -= 27 },
		"a signature that fits nothing": func(t *coldTx) { t.signatures[0].bytes[5] ^= 1 },
		"a signature cut short":         func(t *coldTx) { t.signatures[0].bytes = t.signatures[0].bytes[:64] },
	} {
		tx, err := b.rules.coldOf(r.Wallet, bytes.Clone(good))
		if err != nil {
			t.Fatal(err)
		}
		change(tx)
		if _, err := b.rules.ReadCold(r.Wallet, tx.bytes()); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	if err := b.rules.CheckCold(bursar.ColdWallet{Chain: bursar.Tron, Kind: bursar.ColdAddress,
		Addresses: []string{b.home.hex()}}); err == nil {
		t.Error("an address of another spelling: got no error, want one")
	}
}
