package solana

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// coldHarness is a cold account with a nonce account, another seed, and the hot wallet's address.
type coldHarness struct {
	*testing.T
	rules       *Rules
	keys, other *signer.Keys
	own, home   key
	wallet      bursar.ColdWallet
}

var coldNonce = key{31: 7}

func newColdHarness(t *testing.T) *coldHarness {
	t.Helper()
	rules, err := NewRules(Mainnet())
	if err != nil {
		t.Fatal(err)
	}
	b := &coldHarness{T: t, rules: rules}
	bases := [3]key{}
	for n := range byte(3) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		pub, err := keys.Public(chain.Hot(chain.FamilySolana))
		if err != nil {
			t.Fatal(err)
		}
		b.keys, b.other, bases[n] = b.other, keys, key(pub)
	}
	b.home, b.own = bases[0], bases[1]
	b.wallet = bursar.ColdWallet{Chain: bursar.Solana, Name: "vault", Kind: bursar.ColdNonce,
		Addresses: []string{b.own.String()}, NonceAccount: coldNonce.String()}
	return b
}

func (b *coldHarness) refill() signer.Refill {
	return signer.Refill{Wallet: b.wallet, MaxFee: bursar.Units(10_000),
		Payment: chain.Payment{Address: bursar.Address{Base: b.home.String()}, Amount: bursar.Units(5 * sol)}}
}

// honest is an unsigned payment, after a change.
func (b *coldHarness) honest(change func(t *coldTx)) *coldTx {
	t := &coldTx{nonce: coldNonce, message: message{format: v0, payer: b.own, blockhash: key{9}, limit: 2000, price: 100,
		transfers: []transfer{{b.home, 5 * sol}}}}
	if change != nil {
		change(t)
	}
	return t
}

func TestAColdAccountSignsARefill(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	r, data := b.refill(), b.honest(nil).bytes()
	if _, err := b.other.SignRefill(b.rules, r, b.home.String(), data); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("another seed: got %v, want ErrNoKey", err)
	}
	if _, err := b.rules.FinishCold(r.Wallet, data); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("unsigned: got %v, want ErrColdIncomplete", err)
	}
	signed, err := b.keys.SignRefill(b.rules, r, b.home.String(), data)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := r.Evaluate(b.rules, b.home.String(), signed)
	if err != nil || tx.Inputs[0].Have() != 1 || tx.Reservations[0] != coldNonce.String()+"/"+(key{9}).String() ||
		tx.Fee != bursar.Units(5001) || !tx.Ends.IsZero() {
		t.Errorf("got %+v, %v, want it signed, with its nonce and its fee", tx, err)
	}
	final, err := b.rules.FinishCold(r.Wallet, signed)
	if err != nil || !bytes.Equal(final.Raw, signed) || final.TxID != key64(signed[1:]) {
		t.Errorf("got %x, %v, want the signed transaction itself", final.Raw, err)
	}
	for name, copied := range map[string][]byte{"the transaction": signed, "its signature": signed[1:65]} {
		if joined, err := b.rules.CombineCold(r.Wallet, data, copied); err != nil || !bytes.Equal(joined, signed) {
			t.Errorf("joined with %s: got %x, %v, want %x", name, joined, err, signed)
		}
	}
	other := b.honest(func(t *coldTx) { t.price++ }).bytes()
	if _, err := b.rules.CombineCold(r.Wallet, data, other); !errors.Is(err, errCold) {
		t.Errorf("another price: got %v, want errCold", err)
	}
	spoiled := bytes.Clone(signed)
	spoiled[1] ^= 1
	if _, err := b.rules.ReadCold(r.Wallet, spoiled); !errors.Is(err, errSignature) {
		t.Errorf("a signature of nobody: got %v, want errSignature", err)
	}
	if _, _, err := opened(signed); err != nil {
		t.Errorf("to be sent: got %v, want it open", err)
	}
	if _, _, err := opened(data); err == nil {
		t.Error("unsigned, to be sent: got no error, want one")
	}
}

func key64(raw []byte) string { return signature(raw[:64]).String() }

// What a core in other hands would have a cold account sign.
func TestAttacksOnAColdAccount(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	outsider := key{1: 5}
	token := mustKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	system := func(code uint32, more ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, code), more...)
	}
	first := func(data []byte) func(c *compiled) { // another instruction in place of the advance
		return func(c *compiled) { c.steps[0].data = data }
	}
	extra := func(program byte, accounts, data []byte) func(c *compiled) {
		return func(c *compiled) { c.steps = append(c.steps, step{program, accounts, data}) }
	}
	for name, a := range map[string]struct {
		change func(t *coldTx)
		bytes  func(c *compiled)
		want   signer.Reason
	}{
		"another destination":     {change: func(t *coldTx) { t.transfers[0].to = outsider }, want: signer.ReasonExternal},
		"another amount":          {change: func(t *coldTx) { t.transfers[0].lamports++ }, want: signer.ReasonExternal},
		"a high fee":              {change: func(t *coldTx) { t.price = 3_000_000 }, want: signer.ReasonFee},
		"another account":         {change: func(t *coldTx) { t.payer = outsider }, want: signer.ReasonUnreadable},
		"another nonce account":   {change: func(t *coldTx) { t.nonce = outsider }, want: signer.ReasonUnreadable},
		"a payment to itself":     {change: func(t *coldTx) { t.transfers[0].to = t.payer }, want: signer.ReasonUnreadable},
		"a payment to the nonce":  {change: func(t *coldTx) { t.transfers[0].to = t.nonce }, want: signer.ReasonUnreadable},
		"no limit of units":       {change: func(t *coldTx) { t.limit = 0 }, want: signer.ReasonUnreadable},
		"another nonce authority": {bytes: first(system(7, outsider[:]...)), want: signer.ReasonUnreadable},
		"a withdrawal of the nonce account": {bytes: first(system(5, 1, 0, 0, 0, 0, 0, 0, 0)),
			want: signer.ReasonUnreadable},
		"the account to a program": {bytes: first(system(1, token[:]...)), want: signer.ReasonUnreadable},
		"no advance":               {bytes: func(c *compiled) { c.steps = c.steps[1:] }, want: signer.ReasonUnreadable},
		"an advance at the end":    {bytes: func(c *compiled) { slices.Reverse(c.steps) }, want: signer.ReasonUnreadable},
		"a second transfer": {bytes: extra(5, []byte{0, 2}, system(2, 1, 0, 0, 0, 0, 0, 0, 0)),
			want: signer.ReasonUnreadable},
		"another program": {bytes: func(c *compiled) { c.keys[4] = token },
			want: signer.ReasonUnreadable},
		"another sysvar":    {bytes: func(c *compiled) { c.keys[3] = outsider }, want: signer.ReasonUnreadable},
		"a second signer":   {bytes: func(c *compiled) { c.signers = 2 }, want: signer.ReasonUnreadable},
		"the old format":    {bytes: func(c *compiled) { c.format = legacy }, want: signer.ReasonUnreadable},
		"the newest format": {bytes: func(c *compiled) { c.format = v1 }, want: signer.ReasonUnreadable},
		"the nonce account pays": {bytes: func(c *compiled) { c.steps[3].accounts = []byte{1, 2} },
			want: signer.ReasonUnreadable},
	} {
		tx := b.honest(a.change)
		data := tx.bytes()
		if a.bytes != nil {
			c := tx.compile()
			a.bytes(c)
			data = slices.Concat([]byte{1}, make([]byte, 64), c.encode())
		}
		_, err := b.keys.SignRefill(b.rules, b.refill(), b.home.String(), data)
		var refusal *signer.RefusalError
		if !errors.As(err, &refusal) || refusal.Reason != a.want {
			t.Errorf("%s: got %v, want a refusal for %s", name, err, a.want)
		}
	}
	table := append(b.honest(nil).bytes(), 1) // an address table behind the message
	if _, err := b.rules.ReadCold(b.wallet, table); !errors.Is(err, errCold) {
		t.Errorf("a table of addresses: got %v, want errCold", err)
	}
	for name, w := range map[string]bursar.ColdWallet{
		"no nonce account": {Chain: bursar.Solana, Kind: bursar.ColdAddress, Addresses: b.wallet.Addresses},
		"itself as its nonce account": {Chain: bursar.Solana, Kind: bursar.ColdNonce, Addresses: b.wallet.Addresses,
			NonceAccount: b.own.String()},
		"another spelling": {Chain: bursar.Solana, Kind: bursar.ColdNonce, Addresses: b.wallet.Addresses,
			NonceAccount: "1" + coldNonce.String()},
	} {
		if err := b.rules.CheckCold(w); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
}

// nonceData is the state of a nonce account.
func nonceData(version, state uint32, authority, nonce key) []byte {
	data := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, version), state)
	return binary.LittleEndian.AppendUint64(slices.Concat(data, authority[:], nonce[:]), 5000)
}

// A refill has the nonce that the node shows, and begins only where the cold account is its authority.
func TestBuildFromANonce(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	ready := nonceData(1, 1, b.own, key{8})
	for name, a := range map[string]struct {
		held  uint64
		owner string
		data  []byte
		limit uint64
		says  string
	}{
		"enough":            {held: 6 * sol, data: ready},
		"not enough":        {held: 5 * sol, data: ready, says: "more are needed"},
		"no nonce account":  {held: 6 * sol, says: "does not exist"},
		"another authority": {held: 6 * sol, data: nonceData(1, 1, b.home, key{8}), says: "authority"},
		"an old version":    {held: 6 * sol, data: nonceData(0, 1, b.own, key{8}), says: "no nonce account"},
		"not initialized":   {held: 6 * sol, data: nonceData(1, 0, b.own, key{8}), says: "no nonce account"},
		"another program's": {held: 6 * sol, owner: outsider, data: ready, says: "no nonce account"},
		"a low bound":       {held: 6 * sol, data: ready, limit: 4999, says: "fee"},
	} {
		f := newFake(t)
		f.accounts[b.own.String()] = plainAccount(a.held)
		f.respond("getAccountInfo", func([]any) (any, error) {
			answer := object{"context": object{"slot": 100}, "value": nil}
			if a.data != nil {
				owner := systemProgram.String()
				if a.owner != "" {
					owner = a.owner
				}
				answer["value"] = object{"owner": owner, "lamports": 1_500_000,
					"data": []any{base64.StdEncoding.EncodeToString(a.data), "base64"}}
			}
			return answer, nil
		})
		r := b.refill()
		request := chain.ColdRequest{Wallet: b.wallet, Payment: r.Payment, MaxFee: r.MaxFee}
		if a.limit > 0 {
			request.MaxFee = bursar.Units(a.limit)
		}
		data, err := f.open(t, nil).BuildCold(t.Context(), request)
		if a.says != "" {
			if err == nil || !strings.Contains(err.Error(), a.says) {
				t.Errorf("%s: got %v, want an error that says %q", name, err, a.says)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		tx, err := r.Evaluate(b.rules, b.home.String(), data)
		if err != nil || tx.Reservations[0] != coldNonce.String()+"/"+(key{8}).String() {
			t.Errorf("%s: got %v, %v, want its nonce", name, tx.Reservations, err)
		}
	}
}

// A nonce that has another value, or is not the wallet's any more, is used up for ever; one whose state no node shows
// is not.
func TestANonceIsUsedUpByTheFinalState(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	at := func(authority, value key) object {
		data := slices.Concat([]byte{1, 0, 0, 0, 1, 0, 0, 0}, authority[:], value[:], make([]byte, 8))
		return object{"owner": systemProgram.String(), "lamports": 1_500_000,
			"data": []any{base64.StdEncoding.EncodeToString(data), "base64"}}
	}
	for name, test := range map[string]struct {
		value any
		want  bool
		fails bool
	}{
		"as it was":          {value: at(b.own, key{9})},
		"advanced":           {value: at(b.own, key{8}), want: true},
		"of another":         {value: at(key{7}, key{9}), want: true},
		"closed":             {want: true},
		"without any answer": {fails: true},
	} {
		f := newFake(t)
		f.respond("getAccountInfo", func(params []any) (any, error) {
			if test.fails {
				return nil, errors.New("no answer")
			}
			if level := params[1].(map[string]any)["commitment"]; level != "finalized" {
				t.Errorf("%s: got the state at %v, want finalized", name, level)
			}
			return object{"context": object{"slot": 100}, "value": test.value}, nil
		})
		c, data := f.open(t, nil), b.honest(nil).bytes()
		for _, since := range []uint64{0, 101} { // by a node that lags behind, or of a refill from before it was noted
			if used, _, err := c.UsedUp(t.Context(), b.wallet, data, since); used || (err != nil) != test.fails {
				t.Errorf("%s, as of a slot before %d: got %v, %v, want false", name, since, used, err)
			}
		}
		used, slot, err := c.UsedUp(t.Context(), b.wallet, data, 100)
		if used != test.want || (err != nil) != test.fails || !test.fails && slot != 100 {
			t.Errorf("%s: got %v at slot %d, %v, want %v at slot 100", name, used, slot, err, test.want)
		}
	}
}
