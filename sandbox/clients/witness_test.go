package clients

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	formats "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/bursar/bursar/signer/proof"
)

// Cosignatures are those of c2sp.org/tlog-cosignature, as github.com/transparency-dev/formats v0.1.1 verifies and makes
// them.
func TestCosignaturesOfAWitness(t *testing.T) {
	t.Parallel()
	log := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	name := proof.Name("seed")
	logKey, err := proof.Key(name, log.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	root := base64.StdEncoding.EncodeToString(make([]byte, 32))
	checkpoint := signedBy(t, log, logKey, name+"\n3\n"+root+"\n")

	private := ed25519.NewKeyFromSeed(append(make([]byte, 31), 1))
	key := proof.WitnessKey("witness.example.com", private.Public().(ed25519.PublicKey))
	at := time.Unix(1_800_000_000, 0)
	both, err := proof.Witness{Name: "witness.example.com", Private: private, LogKey: logKey}.Cosign(checkpoint,
		proof.Seen{Log: name, Size: 3, At: at})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := formats.NewVerifierForCosignatureV1(key)
	if err != nil {
		t.Fatalf("the key %q: %v", key, err)
	}
	opened, err := note.Open([]byte(both), note.VerifierList(verifier))
	if err != nil {
		t.Fatalf("our cosignature is refused: %v\n%s", err, both)
	}
	if said, err := formats.CoSigV1Timestamp(opened.Sigs[0]); err != nil || !said.Equal(at) {
		t.Errorf("our cosignature is of %v, %v, want %v", said, err, at)
	}

	secret, public, err := note.GenerateKey(nil, "other.example.com")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := formats.NewSignerForCosignatureV1(secret)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := note.Sign(&note.Note{Text: opened.Text}, signer)
	if err != nil {
		t.Fatal(err)
	}
	if public, err = formats.VKeyToCosignatureV1(public); err != nil {
		t.Fatal(err)
	}
	said, err := proof.Witnessed(string(theirs), public)
	if now := time.Now(); err != nil || said.After(now) || now.Sub(said) > time.Hour {
		t.Errorf("their cosignature is of %v, %v, want the present", said, err)
	}
	if _, err := proof.Witnessed(strings.Replace(string(theirs), "\n3\n", "\n4\n", 1), public); err == nil {
		t.Error("their cosignature of another size was accepted, want it refused")
	}
}

// signedBy signs a checkpoint with the key of a log.
func signedBy(t *testing.T, log ed25519.PrivateKey, key, text string) string {
	t.Helper()
	hash := strings.Split(key, "+")[1]
	skey := fmt.Sprintf("PRIVATE+KEY+%s+%s+%s", strings.Split(key, "+")[0], hash,
		base64.StdEncoding.EncodeToString(append([]byte{1}, log.Seed()...)))
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}
