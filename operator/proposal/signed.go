package proposal

import (
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

// SignedBy returns the key that signed the text of a proposal for Namespace, as `ssh-keygen -Y sign` does. Whose key it
// is, and whether it counts, the caller decides. The error is ErrEvidence where the signature is of anything else.
func SignedBy(p store.Proposal, evidence string) (sshsig.Key, error) {
	key, err := sshsig.Verify(evidence, Namespace, []byte(Text(p)))
	if err != nil {
		return sshsig.Key{}, ErrEvidence
	}
	return key, nil
}
