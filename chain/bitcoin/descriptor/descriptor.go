// Package descriptor reads the output descriptors of cold wallets: one key, or some of several keys.
//
// It owns which descriptors a cold wallet may have (BIP 380 to 383, 389): wpkh(KEY) and wsh(sortedmulti(k,KEY,…)) with
// extended public keys that say where they come from, and a checksum. Its invariants: a descriptor has one spelling and
// no private key; whatever it gives, scripts and derivations, depends on the text alone. It knows no network.
package descriptor

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/txscript/v2"
)

// MaxKeys is how many keys a multisig may have: more than the standard scripts before segwit had is no use here.
const MaxKeys = 15

// ErrDescriptor is wrapped by errors of texts that are no descriptor of a cold wallet.
var ErrDescriptor = errors.New("not a descriptor of a cold wallet")

// Descriptor is a wallet whose addresses are numbered. It is immutable.
type Descriptor struct {
	text     string // with the checksum
	need     int    // signatures; 0: one key, without a script of its own
	keys     []key
	branches int // 2 where the keys have <a;b>, the second for change; otherwise 1
}

// Parse reads a descriptor with its checksum. Hardened steps are written with h, or with an apostrophe: both are as
// they were for the checksum.
func Parse(text string) (*Descriptor, error) {
	d, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDescriptor, err)
	}
	return d, nil
}

func parse(text string) (*Descriptor, error) {
	body, given, found := strings.Cut(text, "#")
	sum, err := Checksum(body)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, errors.New("no checksum: # and 8 characters at the end")
	case given != sum:
		return nil, fmt.Errorf("the descriptor's checksum is %.20q, want %q: the descriptor was changed or copied wrongly",
			given, sum)
	}
	d := &Descriptor{text: text}
	if inner, is := within(body, "wpkh("); is {
		return d, d.add([]string{inner})
	}
	script, isScript := within(body, "wsh(")
	inner, isMulti := within(script, "sortedmulti(")
	if !isScript || !isMulti {
		return nil, errors.New("the descriptor is neither wpkh(KEY) nor wsh(sortedmulti(k,KEY,…))")
	}
	parts := strings.Split(inner, ",")
	need, err := strconv.Atoi(parts[0])
	if n := len(parts) - 1; err != nil || parts[0] != strconv.Itoa(need) || need < 1 || need > n || n > MaxKeys {
		return nil, fmt.Errorf("%.20q of %d keys: 1 to all of at most %d keys are needed", parts[0], n, MaxKeys)
	}
	d.need = need
	return d, d.add(parts[1:])
}

// within returns what stands between a name with its parenthesis and the last one.
func within(text, name string) (string, bool) {
	inner, begins := strings.CutPrefix(text, name)
	inner, ends := strings.CutSuffix(inner, ")")
	return inner, begins && ends
}

func (d *Descriptor) add(texts []string) error {
	for i, text := range texts {
		k, err := parseKey(text)
		if err != nil {
			return fmt.Errorf("key %d: %w", i+1, err)
		}
		if d.branches = len(k.branches); i > 0 && d.branches != len(d.keys[0].branches) {
			return fmt.Errorf("key %d has %d paths, and the first key %d", i+1, d.branches, len(d.keys[0].branches))
		}
		for _, other := range d.keys {
			if other.account.String() == k.account.String() {
				return fmt.Errorf("key %d occurs twice", i+1)
			}
		}
		d.keys = append(d.keys, k)
	}
	return nil
}

// String returns the text, with its checksum.
func (d *Descriptor) String() string { return d.text }

// Need returns how many signatures an output needs.
func (d *Descriptor) Need() int { return max(d.need, 1) }

// Keys returns how many keys there are.
func (d *Descriptor) Keys() int { return len(d.keys) }

// Scripted reports whether outputs pay a script, and not a key's hash.
func (d *Descriptor) Scripted() bool { return d.need > 0 }

// Branches returns how many branches of addresses there are: one, or a second one for change.
func (d *Descriptor) Branches() int { return d.branches }

// Branch returns a descriptor with one branch of addresses, for nodes that know no others, with its checksum.
func (d *Descriptor) Branch(branch int) string {
	body, _, _ := strings.Cut(d.text, "#")
	for _, k := range d.keys {
		if len(k.branches) > 1 {
			several := fmt.Sprintf("<%d;%d>", k.branches[0], k.branches[1])
			body = strings.Replace(body, several, strconv.FormatUint(uint64(k.branches[branch]), 10), 1)
		}
	}
	sum, _ := Checksum(body) // the characters were checked with the text
	return body + "#" + sum
}

// Output is one address of a wallet: its script, and what signers need for it.
type Output struct {
	Script  []byte // of the output
	Witness []byte // the script that the output commits to; nil: it pays a key's hash
	Keys    []OutputKey
}

// OutputKey is one of the keys of an output.
type OutputKey struct {
	Public      []byte   // 33 bytes
	Fingerprint [4]byte  // of the master key
	Path        []uint32 // from the master key
	Steps       []uint32 // from the extended key: all but the first are of the last two
}

// At returns an address by its branch and number.
func (d *Descriptor) At(branch int, index uint32) (Output, error) {
	if branch < 0 || branch >= d.branches || index >= hardened {
		return Output{}, fmt.Errorf("%w: the descriptor has no address %d in branch %d", ErrDescriptor, index, branch)
	}
	var out Output
	for _, k := range d.keys {
		public, steps, err := k.at(branch, index)
		if err != nil {
			return Output{}, fmt.Errorf("%w: %w", ErrDescriptor, err)
		}
		out.Keys = append(out.Keys, OutputKey{Public: public, Fingerprint: k.fingerprint,
			Path: append(slices.Clone(k.origin), steps...), Steps: steps})
	}
	if d.need == 0 {
		out.Script = keyHashScript(out.Keys[0].Public)
		return out, nil
	}
	slices.SortFunc(out.Keys, func(a, b OutputKey) int { return bytes.Compare(a.Public, b.Public) })
	b := txscript.NewScriptBuilder().AddInt64(int64(d.need))
	for _, k := range out.Keys {
		b.AddData(k.Public)
	}
	var err error
	out.Witness, err = b.AddInt64(int64(len(out.Keys))).AddOp(txscript.OP_CHECKMULTISIG).Script()
	out.Script = scriptHashScript(out.Witness)
	return out, err
}
