package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A service whose signer comes back without the policy notifies it that there was one, raises an alarm, keeps the text,
// and closes the alarm once the policy is there again.
func TestASignerThatLostItsPolicyIsNotified(t *testing.T) {
	t.Parallel()
	url := storetest.Reused(t)
	start := func(keeper memory.Keeper) *service.Service {
		t.Helper()
		keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := service.New(service.Parts{DB: open(t, url), Keys: keys, Registry: registry, Pace: 10 * time.Millisecond,
			Holder: "a", Memory: keeper, Chains: []service.ChainPart{{
				Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"}), MaxFee: bursar.Units(1)}}})
		if err != nil {
			t.Fatal(err)
		}
		run(t, s)
		return s
	}
	keeper, text := installed(t)
	s := start(keeper)
	settings := func() (p store.PolicyText, c store.PolicyClaim, alarm string) {
		err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
			if p, err = tx.Settings().Policy(ctx); err != nil {
				return err
			}
			if c, err = tx.Settings().PolicyClaim(ctx); err != nil {
				return err
			}
			alarms, err := tx.Alarms().List(ctx, 100)
			for _, a := range alarms {
				if a.Kind == "signer_policy_lost" {
					alarm = a.Message
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return p, c, alarm
	}
	eventually(t, "the policy is noted", func() bool {
		p, c, _ := settings()
		return p.Text == text && c.Version == 1
	})
	lost := memory.NewRAM()
	start(lost)
	eventually(t, "the alarm is raised", func() bool {
		_, _, alarm := settings()
		return strings.Contains(alarm, "version 1, sha256:")
	})
	p, _, _ := settings()
	if p.Text != text {
		t.Errorf("got %q noted, want the policy that was lost", p.Text)
	}
	// Its text alone restores it: the signer knows the hash.
	if _, err := people.Install(ctx, lost, p.Text, nil, people.Here{Network: "testnet", Clock: time.Now()}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the alarm is closed", func() bool {
		_, _, alarm := settings()
		return alarm == ""
	})
}
