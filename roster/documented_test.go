package roster

import (
	"bytes"
	"encoding/base64"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar/passkey/passkeytest"
)

// textOf returns the text of a document's one block that begins so.
func textOf(t *testing.T, document, begins string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/operations/" + document)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```\n *(" + begins + "\n.*?) *```").FindSubmatch(page)
	if block == nil {
		t.Fatalf("%s has no text that begins with %q, want one", document, begins)
	}
	return regexp.MustCompile(`(?m)^ +`).ReplaceAllString(string(block[1]), "")
}

// documentedPolicy is that of the document, with keys where it has dots.
func documentedPolicy(t *testing.T) string {
	t.Helper()
	hardware := ssh.Marshal(struct {
		Kind string
		Key  []byte
		Site string
	}{"sk-ssh-ed25519@openssh.com", bytes.Repeat([]byte{7}, 32), "ssh:"})
	return strings.NewReplacer(
		"sk-ssh-ed25519@openssh.com AAAA...", "sk-ssh-ed25519@openssh.com "+base64.StdEncoding.EncodeToString(hardware),
		"key: ssh-ed25519 AAAA...", "key: "+keyOf(2).String(),
		"passkey-p256 BAAA...", passkeytest.New(t, 2).Key().String(),
	).Replace(textOf(t, "approvals.md", "bursar-policy/1"))
}

// The policy of docs/operations/approvals.md is one that is read and sound, spelled as the program spells it.
func TestTheDocumentedPolicyIsRead(t *testing.T) {
	t.Parallel()
	text := documentedPolicy(t)
	p, err := Parse(text)
	if err != nil || p.Text() != text {
		t.Fatalf("got %v, %v, want\n%s", p.Text(), err, text)
	}
	if err := p.sound(); err != nil || len(p.Rules) != 4 || len(p.People) != 2 {
		t.Errorf("it has %d rules and %d people and is %v, want 4, 2 and sound", len(p.Rules), len(p.People), err)
	}
}

// The lines that docs/operations/cold.md adds are those of a rule.
func TestTheDocumentedRuleOfMovesToColdIsRead(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(textOf(t, "cold.md", "allow: chill")), "\n")
	if len(lines) != 3 {
		t.Fatalf("the page has the lines %q, want three", lines)
	}
	rule := lines[0] + "\n" + lines[1] + "\nassets: *\n" + lines[2] + "\neach: -\nneed: -\nhold: -\nhours: -\n"
	text := strings.Replace(documentedPolicy(t), "allow: ours\n", rule+"allow: ours\n", 1)
	p, err := Parse(text)
	if err != nil || len(p.Rules) != 5 || p.Rules[2].For[0] != KindToCold || p.Rules[2].To != ToOwn {
		t.Errorf("the policy is read as %+v, %v, want a rule for moves to cold", p.Rules, err)
	}
}
