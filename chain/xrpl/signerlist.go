package xrpl

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar/chain"
)

// What is hashed to be signed begins with (rippled's HashPrefix.h):
const (
	singlePrefix  = "STX\x00"
	severalPrefix = "SMT\x00"
)

// listedSigner is a member of a list of signers.
type listedSigner struct {
	account accountID
	weight  uint16
}

// signerList is what a node says of an account's SignerList. It decides how many signatures are collected, and nothing
// else: the ledger has its own.
type signerList struct {
	quorum  uint32
	signers []listedSigner // in ascending order of their accounts
}

const (
	listFormat = 1
	listHead   = 1 + 4 + 1 // format, quorum, how many
	listEntry  = 20 + 2
)

// encode returns the list as it comes before a transaction; nothing for none.
func (l *signerList) encode() []byte {
	if l == nil {
		return nil
	}
	b := binary.BigEndian.AppendUint32([]byte{listFormat}, l.quorum)
	b = append(b, byte(len(l.signers)))
	for _, s := range l.signers {
		b = binary.BigEndian.AppendUint16(append(b, s.account[:]...), s.weight)
	}
	return b
}

// parseSignerList reads the output of encode, and returns what comes behind it.
func parseSignerList(data []byte) (l *signerList, rest []byte, err error) {
	if len(data) < listHead || data[0] != listFormat || len(data) < listHead+int(data[listHead-1])*listEntry {
		return nil, nil, fmt.Errorf("%w: its list of signers is malformed", errCold)
	}
	l = &signerList{quorum: binary.BigEndian.Uint32(data[1:])}
	rest = data[listHead:]
	for range data[listHead-1] {
		l.signers = append(l.signers, listedSigner{accountID(rest[:20]), binary.BigEndian.Uint16(rest[20:])})
		rest = rest[listEntry:]
	}
	return l, rest, l.check()
}

// check refuses what no account has.
func (l *signerList) check() error {
	var sum uint64
	for i, s := range l.signers {
		sum += uint64(s.weight)
		if s.weight == 0 || i > 0 && compare(l.signers[i-1].account, s.account) >= 0 {
			return fmt.Errorf("%w: %s has no weight, or its list of signers is not in ascending order", errCold, s.account)
		}
	}
	if len(l.signers) > maxSigners || l.quorum == 0 || sum < uint64(l.quorum) {
		return fmt.Errorf("%w: %d signers of a weight of %d, the quorum is %d", errCold, len(l.signers), sum, l.quorum)
	}
	return nil
}

func compare(a, b accountID) int { return bytes.Compare(a[:], b[:]) }

// most returns how many signatures reach the quorum in the worst case, where those of the least weight sign first.
func (l *signerList) most() (n int) {
	weights := make([]uint64, len(l.signers))
	for i, s := range l.signers {
		weights[i] = uint64(s.weight)
	}
	slices.Sort(weights)
	for sum := uint64(0); sum < uint64(l.quorum) && n < len(weights); n++ {
		sum += weights[n]
	}
	return n
}

// of returns the weight of an account, 0 if it is no signer.
func (l *signerList) of(account accountID) uint64 {
	at, found := slices.BinarySearchFunc(l.signers, account, func(s listedSigner, a accountID) int {
		return compare(s.account, a)
	})
	if !found {
		return 0
	}
	return uint64(l.signers[at].weight)
}

// weight returns what signatures weigh.
func (l *signerList) weight(signatures []signature) (sum uint64) {
	for _, s := range signatures {
		sum += l.of(s.Account)
	}
	return sum
}

// sound checks the signatures of a payment: by signers of the list, each once and in order, each over this payment, and
// no more than may be needed.
func (l *signerList) sound(p *payment) error {
	if len(p.SigningKey) > 0 || p.Signature != nil || l.of(p.Account) > 0 || len(p.Signers) > l.most() {
		return fmt.Errorf("%w: its own key signs it, or more signers than are needed", errCold)
	}
	for i, s := range p.Signers {
		switch {
		case l.of(s.Account) == 0 || accountOf(s.Key) != s.Account:
			return fmt.Errorf("%w: the signature is by the key of %s for %s, want a signer's own", errSignature,
				accountOf(s.Key),
				s.Account)
		case i > 0 && compare(p.Signers[i-1].Account, s.Account) >= 0:
			return fmt.Errorf("%w: its signers are not in ascending order, each once", errCold)
		}
		if err := verify(severalPrefix, p.message(s.Account), s.Key, s.Signature); err != nil {
			return err
		}
	}
	return nil
}

// message returns what one of several signers signs: the transaction without signatures, and the signer's account.
func (p *payment) message(of accountID) []byte { return append(p.signing(nil), of[:]...) }

func digestOf(prefix string, message []byte) []byte {
	digest := sha512Half(prefix, message)
	return digest[:]
}

// verify checks a signature as the ledger does: of secp256k1 over the hash, in canonical DER with a low S; of ed25519,
// which devices have, over the message itself.
func verify(prefix string, message, key, signature []byte) error {
	if len(key) == keySize && key[0] == 0xed {
		if len(signature) != ed25519.SignatureSize ||
			!ed25519.Verify(key[1:], append([]byte(prefix), message...), signature) {
			return fmt.Errorf("%w: the signature is not by the named key", errSignature)
		}
		return nil
	}
	pub, err := btcec.ParsePubKey(key)
	if err != nil || len(key) != keySize {
		return fmt.Errorf("%w: %.70x is no public key", errSignature, key)
	}
	parsed, err := ecdsa.ParseDERSignature(signature)
	if err != nil {
		return fmt.Errorf("%w: %w", errSignature, err)
	}
	s := parsed.S()
	if s.IsOverHalfOrder() || !parsed.Verify(digestOf(prefix, message), pub) {
		return fmt.Errorf("%w: the signature is not by the named key, or has a second form", errSignature)
	}
	return nil
}

// signersOf lists who may sign: nobody else once the quorum is reached. It counts signatures, and so says how many are
// needed if those of the most weight sign next.
func (r *Rules) signersOf(t *coldTx) chain.ColdInput {
	in := chain.ColdInput{Need: len(t.Signers)}
	var left []uint64
	for _, s := range t.list.signers {
		signed := slices.ContainsFunc(t.Signers, func(by signature) bool { return by.Account == s.account })
		if !signed {
			left = append(left, uint64(s.weight))
		}
		if signed || !t.whole() {
			in.Keys = append(in.Keys, r.coldKey(s.account, signed, func(chain.PublicKey) []byte {
				return digestOf(severalPrefix, t.message(s.account))
			}))
		}
	}
	slices.Sort(left)
	for sum := t.list.weight(t.Signers); sum < uint64(t.list.quorum) && len(left) > 0; in.Need++ {
		sum += left[len(left)-1]
		left = left[:len(left)-1]
	}
	return in
}
