package proposal

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar/store"
)

// Namespace is what assertions over the text of a proposal are made in.
const Namespace = "proposal@bursar"

// Text returns the canonical text of a proposal: what approvers approve, whole, one "name: value" on a line, ASCII.
// What people wrote is quoted, so that it can never look like another line.
func Text(p store.Proposal) string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, value) }
	b.WriteString("bursar-proposal/1\n")
	line("proposal", p.ID.String())
	line("verb", p.Verb)
	line("object", strconv.QuoteToASCII(p.Object))
	line("account", p.AccountID.String())
	line("currency", strconv.QuoteToASCII(string(p.Currency)))
	line("units", p.Amount.String())
	line("destination", strconv.QuoteToASCII(p.Destination))
	line("detail", strconv.QuoteToASCII(p.Detail))
	line("reason", strconv.QuoteToASCII(p.Reason))
	line("need", strconv.Itoa(p.Need))
	line("proposer", p.PersonID.String())
	line("created", moment(p.CreatedAt))
	line("expires", moment(p.ExpiresAt))
	return b.String()
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Hash returns the SHA-256 of the text of a proposal.
func Hash(p store.Proposal) [sha256.Size]byte { return sha256.Sum256([]byte(Text(p))) }

// Challenge returns what a passkey signs to approve a proposal: SHA-256 of the namespace, a zero byte and the text.
func Challenge(p store.Proposal) [sha256.Size]byte {
	return sha256.Sum256([]byte(Namespace + "\x00" + Text(p)))
}
