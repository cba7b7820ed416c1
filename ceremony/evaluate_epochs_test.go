package ceremony_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// A machine whose seed was followed by another one prints the key of the epoch in force for new cold wallets, and signs
// for wallets of either; a seed that is only prepared signs nothing.
func TestACeremonyKnowsTheEpochsOfItsSeeds(t *testing.T) {
	t.Parallel()
	b := newHarness(t, oneKey) // of the first epoch
	rotated := func(begun chain.Epoch) *signer.Keys {
		keys := keysOf(t, 2)
		if err := errors.Join(keys.Add(keysOf(t, 5)), keys.Begin(begun)); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	b.keys[0] = rotated(1)
	completes := func(which string) {
		t.Helper()
		tx, err := b.rules.FinishCold(b.wallet, b.sign(b.bundle(b.packet()), 0).Bytes)
		if err != nil {
			t.Fatalf("a wallet of the %s epoch: %v", which, err)
		}
		b.run(tx.Raw)
	}
	completes("first")
	expression, err := b.keys[0].KeyExpression(chain.FamilyBitcoin)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := keysOf(t, 5).KeyExpression(chain.FamilyBitcoin); err != nil || expression != want {
		t.Errorf("for a new wallet it prints %s, want %s, %v", expression, want, err)
	}
	b.found(fmt.Sprintf(oneKey, expression))
	completes("second")
	if _, err := b.own.Sign(b.bundle(b.packet()), rotated(0), now); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("a seed that has not begun: got %v, want %v", err, signer.ErrNoKey)
	}
}

// A machine with the hot wallet's keys from before a rotation refuses a refill to the present hot wallet, and says
// which epoch it knows. The attack: a service in other hands asks for one to the old hot wallet, whose seed a thief
// has. That machine cannot know; what the person reads before the signature names the epoch.
func TestAMachineSaysWhichEpochItKnows(t *testing.T) {
	t.Parallel()
	b := newHarness(t, oneKey)
	bundle := b.bundle(b.packet())
	tx, err := b.own.Evaluate(bundle, now)
	if err != nil {
		t.Fatal(err)
	}
	text := b.own.Describe(bundle, tx)
	if !strings.Contains(text, "the hot wallet of epoch 0 by this machine's own copy") ||
		!strings.Contains(text, "if another epoch of the seed has begun since that copy, this is an old hot wallet") {
		t.Errorf("the person reads %q, want the epoch, and what to compare", text)
	}
	stale := b.own
	stale.Home, stale.Epoch = "the hot wallet of an epoch before", 3
	if _, err := stale.Evaluate(bundle, now); err == nil ||
		!strings.Contains(err.Error(), "this machine knows that of epoch 3: if another has begun") {
		t.Errorf("a refill to another hot wallet is refused with %v, want the epoch that is known", err)
	}
}
