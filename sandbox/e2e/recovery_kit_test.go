package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sandbox/drill"
	"github.com/bursar/bursar/store/storetest"
)

// TestEverythingIsLostButTheKit loses the database and the signer's machine at once, with everything that is on them,
// and begins again from the recovery kit alone, as docs/operations/backup.md says: the seed file opened by shares, the
// policy with its signatures, an export of the signer's state and a copy of the database, both older than the last
// payments. Nobody is paid twice, every window of the policy is used up until people decide, books equal the chains,
// and the service goes on.
func TestEverythingIsLostButTheKit(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the service as a process: left out by -short")
	}
	t.Parallel()
	p := build(t)
	for name, database := range map[string]func(testing.TB) string{
		"sqlite":   func(testing.TB) string { return "" },
		"postgres": storetest.ServicePostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newKitDrill(t, p, database(t)).practise()
		})
	}
}

// kitChains are a chain of UTXOs, one with nonces, and two whose transactions expire.
const kitChains = "bitcoin,bsc,solana,xrpl"

// kitDrill is a service with a signer apart, and what is kept elsewhere.
type kitDrill struct {
	*drilled
	signer *signerProcess
	book   *drill.Runbook
	kit    string // the folder of the kit, in another building
	shares []string
	keys   []ssh.Signer // of the people who sign and approve
}

func newKitDrill(t *testing.T, p programs, database string) *kitDrill {
	s := newSignedService(t, p, database, kitChains)
	k := &kitDrill{signer: s, kit: storetest.Folder(t), drilled: &drilled{harness: s.harness, held: true,
		home: map[*currency]wallet{}, other: map[*currency]wallet{}, given: map[string]bool{}}}
	k.lets = k.nothingWaits
	k.book = drill.OpenRunbook(t, "/mnt/kit/", k.kit+"/", "/dev/shm/", s.dir+"/", "/var/lib/bursar/", s.dir+"/")
	return k
}

func (k *kitDrill) practise() {
	for _, scene := range []struct {
		name string
		run  func()
	}{
		{"kept", k.keepsTheKit}, {"copied", func() { k.before(k) }}, {"forgotten", k.after},
		{"restored", func() { k.disaster(k) }}, {"recovered", k.recover},
		{"found", k.attribute}, {"decided", k.peopleDecide}, {"audit", k.auditRestored},
	} {
		began := time.Now()
		scene.run()
		k.t.Logf("%-10s %v", scene.name, time.Since(began).Round(time.Millisecond))
	}
	k.quiet()
	k.must(k.server.stop())
	k.endCleanly()
}

// runs runs a line of the page on the signer's machine, whose program is there as well as the service's.
func (k *kitDrill) runs(begins string, input ...string) string {
	k.t.Helper()
	out, err := k.tries(begins, input...)
	k.must(err)
	return out
}

func (k *kitDrill) tries(begins string, input ...string) (string, error) {
	k.t.Helper()
	line := k.book.Command(begins)
	command := exec.Command("/bin/sh", "-c", line)
	command.Dir, command.Stdin = k.dir, strings.NewReader(strings.Join(input, "\n"))
	command.Env = append(append(os.Environ(), "PATH="+filepath.Dir(k.programs.bursar)+":"+filepath.Dir(k.signer.program)+
		":"+os.Getenv("PATH")), k.environment...)
	command.Env = append(command.Env, k.opens()...)
	out, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", line, err, out)
	}
	return string(out), err
}

// opens is what opens the seed file: the shares, once they were combined.
func (k *kitDrill) opens() []string {
	if identity := filepath.Join(k.dir, "identity"); exists(identity) {
		return []string{"BURSAR_IDENTITY_FILE=" + identity}
	}
	return []string{"BURSAR_PASSPHRASE_FILE=" + filepath.Join(k.dir, "passphrase")}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// keepsTheKit has people sign a policy, makes shares that open the seed file, and puts what never changes into the kit.
func (k *kitDrill) keepsTheKit() {
	var people []roster.Person
	people, k.keys = authors(k.t)
	var status struct{ Instance string }
	k.must(json.Unmarshal([]byte(k.signer.says("status", "--json")), &status))
	now := time.Now().UTC().Truncate(time.Second)
	policy := roster.Policy{Instance: status.Instance, Network: "regtest", Version: 1, Created: now, NotBefore: now,
		Authors: 2, Destinations: 2, Hold: time.Hour, Reference: "EUR", People: people,
		Rules: []roster.Rule{
			{ID: "alone", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Each: bursar.Units(1000e6),
				Windows: []roster.Window{{Length: time.Hour, Most: bursar.Units(100_000e6)}}},
			{ID: "approved", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Need: 2, Role: roster.RoleApprover},
			{ID: "ours", For: []string{roster.KindConsolidation, roster.KindGasTopUp, roster.KindSweep}, To: roster.ToOwn},
		}}
	for _, c := range k.currencies {
		policy.Assets = append(policy.Assets, roster.Asset{Name: c.code, Chain: bursar.ChainID(c.chain),
			Decimals: c.decimals, Price: bursar.Units(1e6)})
	}
	slices.SortFunc(policy.Assets, func(a, b roster.Asset) int { return strings.Compare(a.Name, b.Name) })
	signed := k.signer.signedText("policy.txt", approval.NamespacePolicy, policy.Text(), k.keys...)
	k.signer.does("apply", signed)
	var recipient bytes.Buffer
	command := k.signer.command("seed", "shares", "make", "--need", "2", "--shares", "3")
	command.Stderr = &recipient
	out, err := command.Output()
	k.must(err)
	k.shares = strings.Split(strings.TrimSpace(string(out)), "\n")
	_, key, _ := strings.Cut(recipient.String(), "--recipient ")
	k.signer.does("seed", "recipients", "add", "recovery", "--recipient", strings.TrimSpace(key))
	k.must(errors.Join(os.Rename(signed, filepath.Join(k.kit, "policy.txt")), k.keeps("seed.age"), k.keeps("bursar.yaml")))
}

// keeps copies a file into the kit.
func (k *kitDrill) keeps(name string) error {
	content, err := os.ReadFile(filepath.Join(k.dir, name))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.kit, name), content, 0o600)
}

func (k *kitDrill) database() string { return k.harness.database }
func (k *kitDrill) begin(*harness)   {}

// copy is the nightly run: a copy of the database, a checkpoint of the signer's log and an export of its state.
func (k *kitDrill) copy(*harness) {
	k.run("backup", filepath.Join(k.kit, "bursar.db"))
	k.runs("bursar-signer audit checkpoint")
	k.runs("bursar-signer export")
}

// reaches compares what an import says with the checkpoint, as the page does.
func (k *kitDrill) reaches(imported string) {
	checkpoint, err := os.ReadFile(filepath.Join(k.kit, "checkpoint.txt"))
	k.must(err)
	_, number, _ := strings.Cut(imported, "up to entry ")
	number, _, _ = strings.Cut(number, ":")
	entry, err := strconv.Atoi(number)
	k.must(err)
	size, err := strconv.Atoi(strings.Split(string(checkpoint), "\n")[1])
	k.must(err)
	if entry < size {
		k.t.Errorf("the export reaches entry %d, want at least %d, as the checkpoint says", entry, size)
	}
}

// lose loses the database, and the signer with everything beside its seed file.
func (k *kitDrill) lose(*harness) {
	k.server.kill()
	k.signer.process.kill()
	for _, pattern := range []string{"bursar.db*", "seed.age*", "passphrase"} {
		found, err := filepath.Glob(filepath.Join(k.dir, pattern))
		k.must(err)
		for _, path := range found {
			k.must(os.RemoveAll(path))
		}
	}
}

// restore begins again from the kit alone. The signer comes first: the service asks it for its marks.
func (k *kitDrill) restore(*harness) {
	if k.harness.database != "" {
		k.environment = append(k.environment, "BURSAR_DATABASE="+storetest.EmptyPostgres(k.t))
	}
	k.runs("cp /mnt/kit/seed.age")
	k.runs("umask 077 && ", k.shares[2], k.shares[0])
	k.signer.opens = k.opens()
	k.runs("bursar-signer seed check")
	k.runs("bursar-signer init")
	k.reaches(k.runs("bursar-signer import"))
	k.runs("bursar-signer apply")
	if says := k.runs("bursar-signer status"); !strings.Contains(says, "cold start") {
		k.t.Errorf("the new state says %s, want a cold start", says)
	}
	k.signer.begin()
	k.runs("bursar restore /mnt/kit/")
	k.eventually("the signer answers", func() error {
		_, err := k.tries("bursar recovery begin --ahead 20000")
		return err
	})
}

// nothingWaits ends the wait of the chains, whose journal is lost with the marks: those whose transactions expire by
// their blocks, the others by a person who sees in their own nodes that nothing waits.
func (k *kitDrill) nothingWaits() {
	k.mine(200)
	var waiting []string
	k.must(rpc(k.rpc(k.currencies[0].network), "getrawmempool", &waiting))
	if len(waiting) > 0 {
		k.t.Errorf("in the mempool wait %v, want nothing", waiting)
	}
	for _, chain := range []string{"bitcoin", "bsc"} {
		k.run("recovery", "release", chain)
	}
}

// peopleDecide requests payments that the policy would have allowed without people: the signer, which does not know
// what was signed before, refuses them until its windows have passed. Two people approve them, and they are paid.
func (k *kitDrill) peopleDecide() {
	requests := k.toExternal("2.25", 1)
	k.must(placeAll(requests, func() {}, (*withdrawalRequest).place))
	waiting := struct {
		Instance, Policy string
		Orders           []struct{ Text, Reason string }
	}{}
	refused := map[string]bool{} // the texts of orders: one whose payment is tried again is not listed meanwhile
	k.eventually("the signer refuses every payment", func() error {
		k.mine(1) // what is on its way home holds the UTXOs that the payment of Bitcoin needs
		k.must(json.Unmarshal(k.run("approval", "list", "--json"), &waiting))
		for _, o := range waiting.Orders {
			if !strings.Contains(o.Reason, "is not known, so each window counts as used up") {
				return fmt.Errorf("an order waits because of %q, want a window that counts as used up", o.Reason)
			}
			refused[o.Text] = true
		}
		if len(refused) != len(requests) {
			return fmt.Errorf("%d orders wait, want %d: %+v", len(refused), len(requests), waiting)
		}
		return nil
	})
	policy, err := roster.Read(waiting.Policy)
	k.must(err)
	for i, text := range slices.Sorted(maps.Keys(refused)) {
		k.approve(fmt.Sprintf("approval-%d.txt", i), waiting.Instance, policy, text)
	}
	k.blocks("auto")
	k.paid(requests)
}

// approve has each person approve an order.
func (k *kitDrill) approve(name, instance string, policy roster.Policy, text string) {
	order, err := approval.ParseOrder(text)
	k.must(err)
	now := time.Now().UTC().Truncate(time.Second)
	for i, key := range k.keys {
		yes := approval.Approval{Instance: instance, Decision: approval.Yes, Payment: 1, Role: roster.RoleApprover,
			Version: policy.Version, Policy: policy.Hash(), Created: now, Expires: now.Add(time.Hour),
			Nonce: approval.NewNonce(), Order: order}
		k.run("approval", "add", k.signer.signedText(fmt.Sprint(i, name), approval.NamespaceApproval, yes.Text(), key))
	}
}
