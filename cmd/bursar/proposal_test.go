package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/sshsig"
	"github.com/bursar/bursar/store"
)

// proposes adds two people and what the first proposed, and returns it.
func (d *harness) proposes() store.Proposal {
	d.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{URL: "sqlite:" + d.dir + "/bursar.db"})
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	p := store.Proposal{ID: bursar.ID{5}, Verb: "withdrawal.approve", Object: bursar.ID{7}.String(), Currency: "BTC",
		Amount: bursar.Units(150_000_000), Destination: "there", Reason: "it is due", Need: 1, PersonID: bursar.ID{1},
		Person: "Ann", Token: bursar.ID{6}, Status: store.ProposalPending}
	err = db.Do(ctx, func(tx *store.Tx) error {
		for i, name := range []string{"Ann", "Bob"} {
			person := store.Person{ID: bursar.ID{byte(i + 1)}, Name: name, Roles: []string{"approver"}}
			if err := tx.People().Insert(ctx, person); err != nil {
				return err
			}
		}
		p.CreatedAt = tx.Now().UTC().Truncate(time.Second)
		p.ExpiresAt = p.CreatedAt.Add(proposal.Life)
		hash := proposal.Hash(p)
		p.Hash = hash[:]
		return tx.Proposals().Insert(ctx, p)
	})
	if err != nil {
		d.Fatal(err)
	}
	return p
}

// signs writes a signature of a key over a text, and returns the file's path.
func (d *harness) signs(key ssh.Signer, text string) string {
	d.Helper()
	signature, err := sshsig.Sign(key, proposal.Namespace, []byte(text))
	if err != nil {
		d.Fatal(err)
	}
	path := filepath.Join(d.dir, "proposal.txt.sig")
	if err := os.WriteFile(path, []byte(signature), 0o600); err != nil {
		d.Fatal(err)
	}
	return path
}

func sshSigner(t *testing.T, seed byte) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProposalsAreApprovedWithSSHKeys(t *testing.T) {
	t.Parallel()
	line := func(s ssh.Signer) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey()))) }
	anns, bobs, others := sshSigner(t, 1), sshSigner(t, 2), sshSigner(t, 3)
	d := newSeededHarness(t, "console: {url: 'https://bursar.example', ssh_keys: ['"+line(anns)+" Ann', '"+
		line(bobs)+" Bob']}")
	p := d.proposes()
	id := p.ID.String()
	listed := parse[[]listedProposal](d, "proposal", "list", "--status", "pending", "--json")
	if len(listed) != 1 || listed[0].ID != p.ID || *listed[0].Amount != "1.50000000" || listed[0].AccountID != nil ||
		listed[0].Approved == nil || len(listed[0].Approved) != 0 || listed[0].Person != "Ann" {
		t.Errorf("listed are %+v, want Ann's of 1.5 BTC", listed)
	}
	if table := d.ok("proposal", "list", "--status", "executed"); strings.Contains(table, id) {
		t.Errorf("what is executed is\n%s, want nothing", table)
	}
	text := d.ok("proposal", "show", "--text", id)
	if want := proposal.SignedText(p, "https://bursar.example"); text != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
	if shown := d.ok("proposal", "show", id); !strings.Contains(shown, "1.50000000 BTC") {
		t.Errorf("shown is\n%s, want the amount", shown)
	}
	approve := func(file string) []string { return []string{"proposal", "approve", id, "--signature", file} }
	d.fails(exitFailed, "who proposed it cannot approve it", approve(d.signs(anns, text))...)
	d.fails(exitFailed, "names nobody with the key SHA256:", approve(d.signs(others, text))...)
	d.fails(exitFailed, "print the text with", approve(d.signs(bobs, strings.TrimSpace(text)))...)
	d.fails(exitFailed, "print the text with", approve(d.signs(bobs, proposal.Text(p)))...)
	d.fails(exitFailed, "read the signature", approve(filepath.Join(d.dir, "none"))...)
	if said := d.ok(approve(d.signs(bobs, text))...); !strings.Contains(said, "Bob approved proposal "+id) {
		t.Errorf("approving says %q, want who approved what", said)
	}
	one := parse[listedProposal](d, "proposal", "show", "--json", id)
	if one.Status != store.ProposalApproved || len(one.Approved) != 1 || one.Approved[0] != "Bob" {
		t.Errorf("it is %s, approved by %v, want approved by Bob", one.Status, one.Approved)
	}
	if said := d.ok("proposal", "reject", id, "--reason", "a mistake"); !strings.Contains(said, "rejected") {
		t.Errorf("rejecting says %q, want that it is rejected", said)
	}
	d.fails(exitFailed, "the proposal has ended", "proposal", "reject", id, "--reason", "again")
	for _, verb := range []string{"show", "reject", "approve"} {
		args := map[string][]string{"show": {}, "reject": {"--reason", "r"}, "approve": {"--signature", d.signs(bobs, text)}}
		d.fails(exitFailed, "there is no proposal", append([]string{"proposal", verb, bursar.ID{8}.String()},
			args[verb]...)...)
	}
	acts := parse[[]listedAct](d, "audit", "acts", "list", "--object", "proposal "+id, "--json")
	if len(acts) != 2 || acts[1].Actor != "Bob" || acts[1].After != "approved" || acts[0].After != "rejected" ||
		!strings.Contains(acts[0].Actor, "@") {
		t.Errorf("the log of acts has %+v, want Bob's approval and the end by who has the host", acts)
	}
}
