package host

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// signerFiles are the files of a signer with the seeds of two epochs.
type signerFiles struct {
	*testing.T
	cfg   config.Config
	seeds []byte
}

func newSignerFiles(t *testing.T) *signerFiles {
	t.Parallel()
	v := &signerFiles{T: t, cfg: config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")},
		seeds: make([]byte, 2*SeedBytes)}
	v.seeds[SeedBytes] = 1
	return v
}

func (v *signerFiles) keys() *signer.Keys {
	v.Helper()
	keys, err := KeysOfSeeds(v.cfg, v.seeds)
	if err != nil {
		v.Fatal(err)
	}
	return keys
}

// started returns the epoch in which a signer starts, and the error with which it does not.
func (v *signerFiles) started() (epoch uint32, err error) {
	v.Helper()
	keys, err := KeysOfSeeds(v.cfg, v.seeds)
	if err != nil {
		return 0, err
	}
	log := slog.New(slog.DiscardHandler)
	file, err := OpenMemory(v.Context(), v.cfg, keys.Fingerprint(), log)
	if err != nil {
		return 0, err
	}
	err = AgreeEpochs(v.Context(), v.cfg, file, keys, log)
	return uint32(keys.Epoch()), errors.Join(err, file.Close())
}

func (v *signerFiles) begin(number uint32) error {
	v.Helper()
	keys := v.keys()
	file, err := OpenMemory(v.Context(), v.cfg, keys.Fingerprint(), slog.New(slog.DiscardHandler))
	if err != nil {
		v.Fatal(err)
	}
	err = BeginEpoch(v.Context(), v.cfg, file, keys, chain.Epoch(number), "ann", "a test")
	return errors.Join(err, file.Close())
}

func (v *signerFiles) wantEpoch(want uint32) {
	v.Helper()
	if got, err := v.started(); err != nil || got != want {
		v.Errorf("the signer starts in epoch %d, %v; want %d", got, err, want)
	}
}

// An epoch begins by the act alone, whatever is lost after it: the state, or the file beside the seed.
func TestAnEpochBeginsOnceAndStays(t *testing.T) {
	v := newSignerFiles(t)
	v.wantEpoch(0)
	for _, number := range []uint32{0, 2} {
		if err := v.begin(number); !errors.Is(err, ErrEpochMissing) {
			t.Errorf("epoch %d: got %v, want %v", number, err, ErrEpochMissing)
		}
	}
	for range 2 { // repeated after a crash
		if err := v.begin(1); err != nil {
			t.Fatal(err)
		}
		v.wantEpoch(1)
	}
	for _, lost := range []string{EpochsFile(v.cfg), StateFile(v.cfg)} {
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
		v.wantEpoch(1)
		v.wantEpoch(1)
	}
}

func TestAnEpochKeepsItsSeed(t *testing.T) {
	v := newSignerFiles(t)
	if err := v.begin(1); err != nil {
		t.Fatal(err)
	}
	both := v.seeds
	v.seeds = both[:SeedBytes]
	if _, err := v.started(); !errors.Is(err, ErrEpochMissing) {
		t.Errorf("without its seed: got %v, want %v", err, ErrEpochMissing)
	}
	v.seeds = append(append([]byte(nil), both[:SeedBytes]...), make([]byte, SeedBytes)...)
	v.seeds[SeedBytes] = 9
	if _, err := v.started(); !errors.Is(err, ErrEpochOther) {
		t.Errorf("with another seed: got %v, want %v", err, ErrEpochOther)
	}
}

// An epoch begins on mainnet as anywhere else: it was proven with both programs on every chain, in random histories,
// and with programs that are killed (sandbox/e2e, simulation). It is one of the seed, so the policy is asked under
// whatever network the command is given.
func TestAnEpochBeginsOnMainnet(t *testing.T) {
	v := newSignerFiles(t)
	v.cfg.Network = config.Mainnet
	if err := v.begin(1); err != nil {
		t.Fatal(err)
	}
	v.wantEpoch(1)
	if err := os.Remove(EpochsFile(v.cfg)); err != nil {
		t.Fatal(err)
	}
	v.wantEpoch(1)
}

// The attack: anyone who may run the command, and not change the policy, gives it another network by its environment.
func TestAnotherNetworkAsksThePolicyToo(t *testing.T) {
	for _, network := range []config.Network{config.Mainnet, config.Testnet, config.Regtest} {
		t.Run(string(network), func(t *testing.T) {
			v := newSignerFiles(t)
			keys, keeper := v.keys(), memory.NewRAM()
			err := keeper.Do(t.Context(), func(tx memory.Tx) error {
				return tx.AddPolicy(t.Context(), memory.Policy{Version: 1, NotBefore: time.Unix(1, 0), Text: policyText(t, "")})
			})
			if err != nil {
				t.Fatal(err)
			}
			v.cfg.Network = network
			if err := BeginEpoch(t.Context(), v.cfg, keeper, keys, 1, "ann", "x"); !errors.Is(err, ErrEpochRule) {
				t.Errorf("got %v, want %v", err, ErrEpochRule)
			}
		})
	}
}

// Where people signed a policy, that must name the epoch and its seed.
func TestAPolicyNamesTheEpoch(t *testing.T) {
	v := newSignerFiles(t)
	keys, keeper := v.keys(), memory.NewRAM()
	err := keeper.Do(t.Context(), func(tx memory.Tx) error {
		return tx.AddPolicy(t.Context(), memory.Policy{Version: 1, NotBefore: time.Unix(1, 0), Text: policyText(t, "")})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := BeginEpoch(t.Context(), v.cfg, keeper, keys, 1, "ann", "x"); !errors.Is(err, ErrEpochRule) {
		t.Errorf("a policy without the line: got %v, want %v", err, ErrEpochRule)
	}
	fingerprint, err := keys.FingerprintOf(1)
	if err != nil {
		t.Fatal(err)
	}
	err = keeper.Do(t.Context(), func(tx memory.Tx) error {
		return tx.AddPolicy(t.Context(), memory.Policy{Version: 2, NotBefore: time.Unix(2, 0),
			Text: policyText(t, fingerprint)})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := BeginEpoch(t.Context(), v.cfg, keeper, keys, 1, "ann", "x"); err != nil {
		t.Errorf("a policy with the line: %v", err)
	}
}

// The attack: anyone who may run the commands of the signer, and not change the policy, removes the state, makes
// another one with `bursar signer init`, in which there never was a policy, and begins an epoch of a seed of their
// own.
func TestANewStateDoesNotBeginAnEpochWithoutThePolicy(t *testing.T) {
	v := newSignerFiles(t)
	if err := NotePolicy(v.cfg, memory.KnownPolicy{Version: 1, Hash: "sha256:ab"}); err != nil {
		t.Fatal(err)
	}
	keys := v.keys()
	init := memory.Init{Fingerprint: keys.Fingerprint(), At: time.Now()}
	if err := memory.Create(t.Context(), StateFile(v.cfg), init); err != nil {
		t.Fatal(err)
	}
	file, err := memory.Open(t.Context(), StateFile(v.cfg), keys.Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := BeginEpoch(t.Context(), v.cfg, file, keys, 1, "ann", "x"); !errors.Is(err, people.ErrLost) {
		t.Errorf("got %v, want %v", err, people.ErrLost)
	}
	if begun, err := NotedEpochs(v.cfg); err != nil || len(begun) > 0 {
		t.Errorf("epochs are noted: %+v, %v; want none", begun, err)
	}
}

// The attack: who can write beside the seed, and not change the policy, puts a seed of their own there and says that
// its epoch has begun.
func TestAFileBesideTheSeedDoesNotOverruleThePolicy(t *testing.T) {
	v := newSignerFiles(t)
	fingerprint, err := v.keys().FingerprintOf(1)
	if err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]error{"": ErrEpochRule, fingerprint: nil} {
		keeper := memory.NewRAM()
		err := keeper.Do(t.Context(), func(tx memory.Tx) error {
			return tx.AddPolicy(t.Context(), memory.Policy{Version: 1, NotBefore: time.Unix(1, 0), Text: policyText(t, named)})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := noteEpochs(v.cfg, v.keys(), []memory.Epoch{{Number: 1, Fingerprint: fingerprint}}); err != nil {
			t.Fatal(err)
		}
		err = AgreeEpochs(t.Context(), v.cfg, keeper, v.keys(), slog.New(slog.DiscardHandler))
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("a policy that names %q: got %v, want %v", named, err, want)
		}
	}
}

// The attack: who can write beside the seed puts a seed of their own there, sealed for the same recipients, says that
// its epoch has begun, and raises the version of the policy that was in force, so that it seems lost with the state.
func TestEpochsThatTheSeedDidNotSignAreNotBelieved(t *testing.T) {
	list := `[{"number": 1, "fingerprint": %q, "begun": "2026-01-01T00:00:00Z"}]`
	for name, note := range map[string]string{
		"unsigned":                     list,
		"signed by the seed of theirs": `{"epochs": ` + list + `, "signature": "their signature"}`,
		"signed with nothing":          `{"epochs": ` + list + `, "signature": "00"}`,
	} {
		t.Run(name, func(t *testing.T) {
			v := newSignerFiles(t)
			v.wantEpoch(0)
			theirs, err := signer.KeysFromSeed(v.seeds[SeedBytes:], signer.Testnet)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			signature := theirs.SignEpochs(epochsNote{Epochs: []memory.Epoch{
				{Number: 1, Fingerprint: theirs.Fingerprint(), Begun: begun}}}.text())
			text := strings.ReplaceAll(fmt.Sprintf(note, theirs.Fingerprint()), "their signature", hex.EncodeToString(signature))
			if err := os.WriteFile(EpochsFile(v.cfg), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := NotePolicy(v.cfg, memory.KnownPolicy{Version: 1000, Hash: "sha256:ab"}); err != nil {
				t.Fatal(err)
			}
			if epoch, err := v.started(); !errors.Is(err, ErrEpochForged) || epoch != 0 {
				t.Errorf("the signer starts in epoch %d, %v; want %v", epoch, err, ErrEpochForged)
			}
			if keys, err := KeysOfSeeds(v.cfg, v.seeds); err == nil && keys.Epoch() != 0 {
				t.Errorf("its keys are exported in epoch %d, want 0", keys.Epoch())
			}
		})
	}
}

// What an earlier release noted is signed with the first start, where the state has it too.
func TestEpochsOfAnEarlierReleaseAreSigned(t *testing.T) {
	v := newSignerFiles(t)
	if err := v.begin(1); err != nil {
		t.Fatal(err)
	}
	list, err := NotedEpochs(v.cfg)
	if err != nil || len(list) != 1 {
		t.Fatalf("epochs are noted: %+v, %v; want one", list, err)
	}
	text, err := json.Marshal(list)
	if err == nil {
		err = os.WriteFile(EpochsFile(v.cfg), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	v.wantEpoch(1)
	if note, err := readEpochs(v.cfg); err != nil || note.Signature == "" {
		t.Errorf("the note is %+v, %v, want it signed", note, err)
	}
	if err := os.Remove(StateFile(v.cfg)); err != nil {
		t.Fatal(err)
	}
	v.wantEpoch(1)
}

// policyText is a policy that names epoch 1 with a fingerprint, or no epoch for "".
func policyText(t *testing.T, fingerprint string) string {
	t.Helper()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := roster.Policy{Instance: "ABC", Network: "regtest", Version: 1, Created: begun, NotBefore: begun, Authors: 1,
		Destinations: 1, Hold: time.Hour, Reference: "EUR"}
	if fingerprint != "" {
		p.Epoch = roster.Epoch{Number: 1, Fingerprint: fingerprint}
	}
	text := p.Text()
	if read, err := roster.Read(text); err != nil || read.Epoch != p.Epoch {
		t.Fatalf("the policy reads as epoch %q, %v; want %q", read.Epoch, err, p.Epoch)
	}
	return text
}
