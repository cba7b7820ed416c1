package descriptor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/txscript/v2"
)

const hardened = uint32(1) << 31

// key is a key expression: where an extended public key comes from, the key, and the steps below it.
type key struct {
	fingerprint [4]byte
	origin      []uint32
	account     *hdkeychain.ExtendedKey
	steps       []uint32 // before the branch
	branches    []uint32 // one step, or two of which the second is for change; none: the number comes first
}

// parseKey reads [fingerprint/path]xpub/steps/*, where the last step before * may be <a;b>.
func parseKey(text string) (k key, err error) {
	origin, rest, found := strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !found || !strings.HasPrefix(text, "[") {
		return k, errors.New("the key has no origin: [fingerprint/path] before the extended key")
	}
	fingerprint, path, _ := strings.Cut(origin, "/")
	raw, err := hex.DecodeString(fingerprint)
	if err != nil || len(raw) != len(k.fingerprint) || strings.ToLower(fingerprint) != fingerprint {
		return k, fmt.Errorf("the key's fingerprint is %.20q, want 8 hexadecimal digits", fingerprint)
	}
	k.fingerprint = [4]byte(raw)
	if path != "" || strings.HasSuffix(origin, "/") {
		if k.origin, err = parsePath(path, true); err != nil {
			return k, err
		}
	}
	xpub, below, _ := strings.Cut(rest, "/")
	if k.account, err = hdkeychain.NewKeyFromString(xpub); err != nil {
		return k, errors.New("the key is not an extended public key: xpub or tpub") // the text may be a private key
	}
	if k.account.IsPrivate() {
		k.account.Zero()
		return k, errors.New("the key is private and must not be here: anyone who reads it can spend")
	}
	if prefix := xpub[:min(4, len(xpub))]; prefix != "xpub" && prefix != "tpub" {
		return k, fmt.Errorf("the key begins with %q: write it as xpub, or tpub on test networks", prefix)
	}
	return k, k.below(below)
}

// below reads the steps below the extended key.
func (k *key) below(text string) (err error) {
	steps, found := strings.CutSuffix("/"+text, "/*")
	if !found {
		return errors.New("the key does not end with /*")
	}
	steps = strings.TrimPrefix(steps, "/")
	last := steps[strings.LastIndexByte(steps, '/')+1:]
	if several, is := strings.CutPrefix(last, "<"); is {
		one, two, _ := strings.Cut(strings.TrimSuffix(several, ">"), ";")
		branches, err := parsePath(one+"/"+two, false)
		if err != nil || last != fmt.Sprintf("<%s;%s>", one, two) || branches[0] == branches[1] {
			return fmt.Errorf("%.30q is not <a;b> with two numbers", last)
		}
		k.branches = branches
		steps = strings.TrimSuffix(strings.TrimSuffix(steps, last), "/")
	}
	if steps != "" {
		if k.steps, err = parsePath(steps, false); err != nil {
			return err
		}
	}
	if n := len(k.steps); len(k.branches) == 0 && n > 0 {
		k.steps, k.branches = k.steps[:n-1], k.steps[n-1:]
	}
	if len(k.branches) == 0 {
		return errors.New("a step is missing before /*: write /0/* or /<0;1>/*")
	}
	return nil
}

// parsePath reads numbers between slashes, each in its one spelling.
func parsePath(text string, mayHarden bool) (path []uint32, err error) {
	for _, step := range strings.Split(text, "/") {
		number, add := step, uint32(0)
		if plain := strings.TrimRight(step, "h'"); len(step)-len(plain) == 1 {
			number, add = plain, hardened
		}
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil || strconv.FormatUint(n, 10) != number || add > 0 && !mayHarden {
			return nil, fmt.Errorf("%.20q is not a step of its path", step)
		}
		path = append(path, uint32(n)+add)
	}
	return path, nil
}

// at returns a public key and the steps to it from the extended key.
func (k key) at(branch int, index uint32) (public []byte, steps []uint32, err error) {
	steps = append(append(append(steps, k.steps...), k.branches[branch]), index)
	child := k.account
	for _, step := range steps {
		if child, err = child.Derive(step); err != nil {
			return nil, nil, err
		}
	}
	point, err := child.ECPubKey()
	if err != nil {
		return nil, nil, err
	}
	return point.SerializeCompressed(), steps, nil
}

func keyHashScript(public []byte) []byte {
	return append([]byte{txscript.OP_0, 20}, address.Hash160(public)...)
}

func scriptHashScript(witness []byte) []byte {
	sum := sha256.Sum256(witness)
	return append([]byte{txscript.OP_0, 32}, sum[:]...)
}
