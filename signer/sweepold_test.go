package signer

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// The attacks: a service in other hands has customers, or itself, paid by keys that the operator has given up, brings
// money back to the address that a rotation empties, or moves the hot wallet to an epoch that nobody began.
func TestKeysOfAnEarlierEpochPayOnlyHome(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) { p.Cold = []string{"cold"} })
	b.rotate()
	utxos := func() request { return b.home(b.withUTXOs(), 1) }
	nonce := b.withNonce
	b.wantRefusals([]refusalTest{
		{"a customer, from old outputs", ReasonSweepOld, utxos, func(*request) {}},
		{"a customer, from one old output among new ones", ReasonSweepOld, utxos, func(r *request) {
			r.contents.Inputs[1] = spent(in(b.hotIn(chain.FamilyBitcoin, 1), digest(2)), "b:1", 400)
		}},
		{"a customer, with change to the old hot wallet", ReasonSweepOld, b.withUTXOs, func(r *request) {
			for i, outpoint := range []string{"a:0", "b:1"} {
				r.contents.Inputs[i] = spent(in(b.hotIn(chain.FamilyBitcoin, 1), digest(byte(i+1))), outpoint,
					[]uint64{750, 400}[i])
			}
		}},
		{"a customer, from the old hot wallet", ReasonSweepOld, nonce, func(*request) {}},
		{"the old hot wallet, from an old address", ReasonSweepOld, b.sweep, func(*request) {}},
		{"the old hot wallet, from old outputs", ReasonSweepOld, b.consolidation, func(*request) {}},
		{"gas from the old hot wallet", ReasonSweepOld, b.topUp, func(*request) {}},
		{"a thief, as a sweep", ReasonRequest, b.sweep, func(r *request) {
			r.request.Payments[0].Address.Base, r.contents.Payments[0].Address.Base = "mallory", "mallory"
		}},
		{"a thief, as a cold wallet", ReasonColdWallet, nonce, func(r *request) {
			r.request.Kind, r.request.Payments = chain.KindToCold, []chain.Payment{pay("mallory", 9)}
			r.contents.Payments = r.request.Payments
		}},
		{"the hot wallet of an epoch that has not begun", ReasonEpoch, utxos, func(r *request) {
			r.request.Change.Key = r.request.Change.Key.In(2)
		}},
		{"from a key of an epoch that does not exist", ReasonEpoch, nonce, func(r *request) {
			r.request.From.Key = r.request.From.Key.In(7)
		}},
		{"from an input of an epoch that has not begun", ReasonEpoch, utxos, func(r *request) {
			r.contents.Inputs[0].Source.Key = r.contents.Inputs[0].Source.Key.In(2)
		}},
		{"from an old address that is said to be new", ReasonSource, nonce, func(r *request) {
			r.request.From.Key = r.request.From.Key.In(1)
		}},
	})
}

func TestKeysOfAnEarlierEpochPayAllHome(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) { p.Cold = []string{"cold"} })
	b.rotate()
	b.wantReason(b.home(b.sweep(), 1), "")
	b.wantReason(b.home(b.consolidation(), 1), "")
	sweep := b.home(b.sweep(), 1) // of the old hot wallet
	sweep.request.From = b.hotIn(chain.FamilyEVM, 0)
	sweep.contents.Inputs[0] = in(sweep.request.From, digest(9))
	b.wantReason(sweep, "")
	gas := b.topUp() // for it: its tokens go first
	gas.request.From, gas.request.Change = b.hotIn(chain.FamilyEVM, 1), b.hotIn(chain.FamilyEVM, 0)
	gas.contents.Inputs[0] = in(gas.request.From, digest(8))
	gas.request.Payments = []chain.Payment{pay(gas.request.Change.Base, 30)}
	gas.contents.Payments = gas.request.Payments
	b.wantReason(gas, "")
	cold := b.withNonce()
	cold.request.Kind, cold.request.Payments = chain.KindToCold, []chain.Payment{pay("cold", 9)}
	cold.contents.Payments = cold.request.Payments
	b.wantReason(cold, "")
	paid := b.withNonce() // the new hot wallet pays as the old one did
	paid.request.From = b.hotIn(chain.FamilyEVM, 1)
	paid.contents.Inputs[0] = in(paid.request.From, digest(7))
	b.wantReason(paid, "")
}

// A top-up home uses up a nonce of the old hot wallet, and moves little. The attacks: a service in other hands has it
// go to somebody else, to another address of ours than home, from a key that is no hot wallet's, or bring much.
func TestAnOldHotWalletUsesUpANonceByATopUpHome(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.rotate()
	home := func() request {
		r := b.topUp()
		r.request.From, r.request.Change = b.hotIn(chain.FamilyEVM, 0), b.hotIn(chain.FamilyEVM, 1)
		r.contents.Inputs[0] = in(r.request.From, digest(21))
		r.request.Payments = []chain.Payment{pay(r.request.Change.Base, 1)}
		r.contents.Payments = r.request.Payments
		return r
	}
	payee := func(r *request, base string) {
		r.request.Payments = []chain.Payment{pay(base, 1)}
		r.contents.Payments = r.request.Payments
	}
	b.wantRefusals([]refusalTest{
		{"to somebody else", ReasonRequest, home, func(r *request) { payee(r, "mallory") }},
		{"to somebody else, by the bytes", ReasonUnpaid, home, func(r *request) {
			r.contents.Payments = []chain.Payment{pay("mallory", 1)}
		}},
		{"to a deposit address", ReasonSweepOld, home, func(r *request) {
			r.request.Change = b.source(chain.FamilyEVM, chain.DepositBranch, 3)
			payee(r, r.request.Change.Base)
		}},
		{"to itself", ReasonRequest, home, func(r *request) {
			r.request.Change = r.request.From
			payee(r, r.request.From.Base)
		}},
		{"from an old deposit address", ReasonRequest, home, func(r *request) {
			r.request.From = b.source(chain.FamilyEVM, chain.DepositBranch, 3)
			r.contents.Inputs[0] = in(r.request.From, digest(22))
		}},
		{"from the present hot wallet to itself", ReasonRequest, home, func(r *request) {
			r.request.From = r.request.Change
			r.contents.Inputs[0] = in(r.request.From, digest(23))
		}},
		{"of a token", ReasonRequest, home, func(r *request) {
			r.request.Payments = []chain.Payment{token(r.request.Change.Base, 1)}
			r.contents.Payments = r.request.Payments
		}},
		{"of more than a sweep needs", ReasonTopUp, home, func(r *request) {
			r.request.Payments = []chain.Payment{pay(r.request.Change.Base, 2001)}
			r.contents.Payments = r.request.Payments
		}},
	})
	b.wantReason(home(), "")
}

// The attack: a small payment that was signed before the epoch began is replaced by one that also spends what the hot
// wallet in force has, and whose rest goes to the old one.
func TestAReplacementBringsNothingNewToTheOldHotWallet(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	r := b.withUTXOs()
	r.contents.Reservations = []string{"a:0", "b:1"}
	b.wantReason(r, "")
	b.rotate()
	b.reopen(path)
	r = b.withUTXOs()
	r.contents.Reservations = []string{"a:0", "b:1", "c:0"}
	r.contents.Inputs = append(r.contents.Inputs, spent(in(b.hotIn(chain.FamilyBitcoin, 1), digest(3)), "c:0", 9000))
	r.unsigned.Reservations = append(r.unsigned.Reservations, "c:0")
	r.contents.Payments[2].Amount = bursar.Units(9050)
	b.wantReason(r, ReasonSweepOld)
	r.contents.Inputs[2] = spent(in(b.hotIn(chain.FamilyBitcoin, 0), digest(3)), "c:0", 9000) // one of the same epoch
	b.wantReason(r, "")
}

// What was signed before the epoch began goes on: the same again, or with another fee, and with nothing else changed.
func TestPaymentsInProgressEndWithTheirOldKeys(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	numbered := func(r request, resource string, fee uint64) request {
		r.contents.Reservations, r.contents.Fee, r.unsigned.Fee = []string{resource}, bursar.Units(fee), bursar.Units(fee)
		return r
	}
	paid := func(fee uint64) request { return numbered(b.withNonce(), "hot/0", fee) }
	b.wantReason(paid(8), "")
	b.wantReason(b.withUTXOs(), "")
	b.rotate()
	b.reopen(path)
	b.wantReason(paid(8), "")
	b.wantReason(paid(9), "")
	b.wantReason(b.withUTXOs(), "")
	for name, change := range map[string]func(r *request){
		"to another": func(r *request) {
			r.request.Payments = []chain.Payment{token("mallory", 7)}
			r.contents.Payments = r.request.Payments
		},
		"of another amount": func(r *request) {
			r.request.Payments = []chain.Payment{token("alice", 8)}
			r.contents.Payments = r.request.Payments
		},
		"as another payment":   func(r *request) { r.request.ID = bursar.ID{9} },
		"with another nonce":   func(r *request) { r.contents.Reservations = []string{"hot/1"} },
		"with nothing used up": func(r *request) { r.contents.Reservations = nil },
	} {
		r := paid(10)
		change(&r)
		var refused *RefusalError
		if _, err := b.sign(r); !errors.As(err, &refused) || refused.Reason != ReasonSweepOld {
			t.Errorf("%s: got %v, want it refused for %s", name, err, ReasonSweepOld)
		}
	}
}

func TestEpochsFollowEachOther(t *testing.T) {
	t.Parallel()
	keys, second := seedOf(t, 1), seedOf(t, 2)
	if err := keys.Begin(1); !errors.Is(err, ErrNoEpoch) {
		t.Errorf("an epoch without a seed begins: %v", err)
	}
	for name, next := range map[string]*Keys{"the same seed": seedOf(t, 1), "another network's": mainnetSeed(t)} {
		if err := keys.Add(next); !errors.Is(err, ErrEpoch) {
			t.Errorf("%s: got %v, want %v", name, err, ErrEpoch)
		}
	}
	if err := errors.Join(keys.Add(second), keys.Begin(1)); err != nil {
		t.Fatal(err)
	}
	if err := keys.Begin(0); !errors.Is(err, ErrEpoch) {
		t.Errorf("an epoch goes back: %v", err)
	}
	want, err := second.Public(chain.Hot(chain.FamilyEVM))
	if err != nil {
		t.Fatal(err)
	}
	for family, ref := range map[bursar.Family]chain.KeyRef{"own": chain.Hot(chain.FamilyEVM).In(1)} {
		if got, err := keys.Public(ref); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the hot key of epoch 1 is %x, %v; want its own seed's %x", family, got, err, want)
		}
	}
}

func mainnetSeed(t *testing.T) *Keys {
	t.Helper()
	keys, err := KeysFromSeed(bytes.Repeat([]byte{3}, 32), Mainnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// What a service without a seed is given has the keys of every epoch, and says which is in force.
func TestKeysOfEveryEpochAreExported(t *testing.T) {
	t.Parallel()
	keys := seedOf(t, 1)
	if err := errors.Join(keys.Add(seedOf(t, 2)), keys.Begin(1)); err != nil {
		t.Fatal(err)
	}
	file, err := keys.ExportWatchOnly(2)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadWatchOnly(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(keys.ExportPublic())
	if err != nil {
		t.Fatal(err)
	}
	var exported PublicKeys
	if err := json.Unmarshal(text, &exported); err != nil {
		t.Fatal(err)
	}
	public, err := FromPublic(exported)
	if err != nil || public.Epoch() != 1 || read.Epoch() != 1 {
		t.Fatalf("the epoch is %d, %d, %v; want 1", public.Epoch(), read.Epoch(), err)
	}
	for _, ref := range []chain.KeyRef{
		chain.Hot(chain.FamilyEVM), chain.Hot(chain.FamilyEVM).In(1), chain.Hot(chain.FamilySolana).In(1),
		{Family: chain.FamilyBitcoin, Index: chain.EpochIndexes + 5}, {Family: chain.FamilySolana, Index: chain.EpochIndexes},
	} {
		want, err := keys.Public(ref)
		if got, gotErr := read.Public(ref); err != nil || gotErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: got %x, %v; want %x, %v", ref, got, gotErr, want, err)
		}
	}
	if _, err := read.Public(chain.KeyRef{Family: chain.FamilySolana, Index: chain.EpochIndexes + 2}); !errors.Is(err,
		ErrNeedsSeed) {
		t.Errorf("a key that is not listed: %v, want %v", err, ErrNeedsSeed)
	}
	if n := len(read.Digests()); n != 2*len(seedOf(t, 1).Digests()) {
		t.Errorf("%d digests of public keys, want those of both epochs", n)
	}
}
