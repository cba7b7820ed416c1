package chain

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Software is the program that a node runs, as the node reports it.
type Software struct {
	Name    string // in lower case: "geth", "satoshi", "java-tron"
	Version Version
}

// Version is up to four numbers, the most significant first; missing ones are zero.
type Version [4]uint32

// V returns the version with these numbers.
func V(numbers ...uint32) (v Version) {
	copy(v[:], numbers)
	return v
}

// Compare returns -1, 0 or +1 as v is older than, the same as or newer than other.
func (v Version) Compare(other Version) int { return slices.Compare(v[:], other[:]) }

// String writes the version without zeros at its end, but with at least two numbers.
func (v Version) String() string {
	parts := []string{}
	for i, n := range v {
		if i < 2 || slices.ContainsFunc(v[i:], func(n uint32) bool { return n > 0 }) {
			parts = append(parts, strconv.FormatUint(uint64(n), 10))
		}
	}
	return strings.Join(parts, ".")
}

// softwareForm matches a name and a version in any of the forms that nodes use:
// "Geth/v1.17.4-stable-…/linux-amd64/go1.25", "/Satoshi:31.0.0/", "/LitecoinCore:0.21.5.8/", "java-tron
// GreatVoyage-v4.8.2", "xrpld 3.4.1", "solana-core 4.2.2".
var softwareForm = regexp.MustCompile(`^/?([A-Za-z][A-Za-z-]{0,31})[/: ](?:[A-Za-z]{1,20}-)?` +
	`v?([0-9]{1,9}(?:\.[0-9]{1,9}){1,3})`)

// ParseSoftware reads how a node names its software, as in web3_clientVersion, the subversion of getnetworkinfo, or a
// program's name before its version. It returns false for a text without a version.
func ParseSoftware(text string) (Software, bool) {
	found := softwareForm.FindStringSubmatch(text)
	if found == nil {
		return Software{}, false
	}
	s := Software{Name: strings.ToLower(found[1])}
	for i, digits := range strings.Split(found[2], ".") {
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			return Software{}, false
		}
		s.Version[i] = uint32(n)
	}
	return s, true
}

// ParseSoftware is the function of this name, with the names of the chain's programs that report another one.
func (d Definition) ParseSoftware(text string) (Software, bool) {
	software, ok := ParseSoftware(text)
	if ok && d.Program != nil {
		software.Name = cmp.Or(d.Program(software), software.Name)
	}
	return software, ok
}
