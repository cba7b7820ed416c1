package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/sshsig"
)

// TestAThiefOfTheAuthorsKeysThawsNothingForAnHour has every key of the policy's authors, on mainnet: the thaw waits,
// across a restart, while the signer says when it begins; one person who sees it ends it. The thaw that nobody ends
// begins by itself.
func TestAThiefOfTheAuthorsKeysThawsNothingForAnHour(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.approves(nil)
	c.want0(c.freezing("freeze", false, annsKey)...)
	c.want("frozen by ann", c.approved(nil, annsKey, bobsKey), signer.ReasonFrozen)
	said, says, code := c.run(c.freezing("thaw", true, annsKey, bobsKey)...)
	if code != 0 || !strings.Contains(said, "The signer thaws at ") {
		t.Fatalf("the thaw exits with %d: %s%s, want when it begins", code, said, says)
	}
	c.want("the thaw was signed", c.approved(nil, annsKey, bobsKey), signer.ReasonFrozen)
	c.stop(syscall.SIGKILL)
	c.start()
	c.want("after a restart", c.approved(nil, annsKey, bobsKey), signer.ReasonFrozen)
	c.hears("thaws at ")
	if left := time.Until(c.client.ThawsAt()); left < 50*time.Minute || left > time.Hour {
		t.Errorf("the service hears of a thaw in %v, want within an hour", left)
	}
	if out, _, _ := c.run("status"); !strings.Contains(out, "thaw: thaws at ") {
		t.Errorf("the status says %s, want when it thaws", out)
	}
	c.want0(c.freezing("again", false, bobsKey)...)
	c.hears("by bob")
	if _, says, code = c.run("apply", "thaw"); code == 0 {
		t.Errorf("the thaw of before exits with %d: %s, want it refused", code, says)
	}
	c.want0(c.freezing("new", true, annsKey, bobsKey)...)
	c.hears("thaws at ")
	c.pretend("UPDATE waiting_thaw SET at = at - 3600000") // an hour passes
	c.hears("")
	c.want("after the thaw", c.approved(nil, annsKey, bobsKey), "")
}

// freezing writes a freeze or a thaw, signed with keys, and returns the arguments that apply it.
func (c *lyingService) freezing(file string, thaw bool, keys ...byte) (args []string) {
	c.t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	text := approval.Freeze{Instance: c.instance(), Thaw: thaw, Why: "the keys are gone", Created: now,
		Expires: now.Add(time.Hour), Nonce: approval.NewNonce()}.Text()
	content := text
	for _, key := range keys {
		by, err := ssh.NewSignerFromKey(clientKey(key))
		c.must(err)
		signature, err := sshsig.Sign(by, approval.NamespaceFreeze, []byte(text))
		c.must(err)
		content += signature
	}
	c.write(file, content)
	return []string{"apply", file}
}

// hears asks the signer, as a service does, until it says why it is frozen; "": until it is not.
func (c *lyingService) hears(says string) {
	c.t.Helper()
	end := time.Now().Add(time.Minute)
	for {
		c.resume()
		why, err := c.client.Frozen()
		c.must(err)
		if says != "" && strings.Contains(why, says) || says == "" && why == "" {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("it says %q, want %q in it", why, says)
		}
	}
}

// pretend changes the state beside the running signer.
func (c *lyingService) pretend(statement string) {
	c.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.folder, "seed.age.state")+"?_pragma=busy_timeout(10000)")
	c.must(err)
	_, err = db.ExecContext(c.t.Context(), statement)
	c.must(err)
	c.must(db.Close())
}
