package proposal

import (
	"strconv"
	"strings"

	"github.com/bursar/bursar/sshsig"
	"github.com/bursar/bursar/store"
)

// PersonKey is an SSH key that is known to be of a person of the console.
type PersonKey struct {
	Person string // their name
	Key    sshsig.Key
}

// Signed reports whether evidence is a signature of an SSH key. No assertion of a passkey looks like one.
func Signed(evidence string) bool {
	return strings.HasPrefix(strings.TrimSpace(evidence), "-----BEGIN SSH SIGNATURE-----")
}

// SignedText returns what an SSH key signs to approve a proposal of the console at a URL: the text, and the URL. A
// passkey is bound to its console; an SSH key is not, and a copy of the database has the same proposals and people.
func SignedText(p store.Proposal, console string) string {
	return Text(p) + "console: " + strconv.QuoteToASCII(console) + "\n"
}

// SignedBy returns the key that signed SignedText for Namespace, as `ssh-keygen -Y sign` does. Whose key it is, and
// whether it counts, the caller decides. The error is ErrEvidence where the signature is of anything else.
func SignedBy(p store.Proposal, console, evidence string) (sshsig.Key, error) {
	key, err := sshsig.Verify(evidence, Namespace, []byte(SignedText(p, console)))
	if err != nil {
		return sshsig.Key{}, ErrEvidence
	}
	return key, nil
}
