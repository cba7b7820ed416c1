package descriptor

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
)

// The extended keys of the test vectors of BIP 380 and 383.
const (
	one = "xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL"
	two = "xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y"
)

func with(t *testing.T, body string) string {
	t.Helper()
	sum, err := Checksum(body)
	if err != nil {
		t.Fatal(err)
	}
	return body + "#" + sum
}

func TestTheChecksumOfTheBIP(t *testing.T) {
	t.Parallel()
	if got, err := Checksum("raw(deadbeef)"); err != nil || got != "89f8spxm" {
		t.Errorf("got %s, %v, want 89f8spxm", got, err)
	}
	if _, err := Checksum("raw(Ü)"); err == nil {
		t.Error("a character that descriptors do not have: got no error, want one")
	}
	whole := with(t, "wpkh([deadbeef/84h/0h/0h]"+one+"/0/*)")
	for _, bad := range []string{strings.Split(whole, "#")[0], whole[:len(whole)-8], whole + "x", whole[:len(whole)-1],
		strings.Replace(whole, "deadbeef", "deedbeef", 1), strings.Replace(whole, "#", "##", 1)} {
		if _, err := Parse(bad); !errors.Is(err, ErrDescriptor) {
			t.Errorf("%s: got %v, want an ErrDescriptor", bad, err)
		}
	}
}

// The second vector of BIP 383 has the keys one/* and two/0/0/*. A cold wallet's keys have a step before the number, so
// two/0/0/* alone is of that form: its keys are the ones in the scripts that the vector lists.
func TestTheKeysOfTheBIP(t *testing.T) {
	t.Parallel()
	d, err := Parse(with(t, "wsh(sortedmulti(2,[00000000]"+two+"/0/0/*,[00000000/1h]"+one+"/0/*))"))
	if err != nil {
		t.Fatal(err)
	}
	for index, script := range []string{
		"5221025d5fc65ebb8d44a5274b53bac21ff8307fec2334a32df05553459f8b1f7fe1b62102fbd47cc8034098f0e6a94c6aeee8528abf0a2153a5d8e46d325b7284c046784652ae",
		"52210264fd4d1f5dea8ded94c61e9641309349b62f27fbffe807291f664e286bfbe6472103f4ece6dfccfa37b211eb3d0af4d0c61dba9ef698622dc17eecdf764beeb005a652ae",
		"5221022ccabda84c30bad578b13c89eb3b9544ce149787e5b538175b1d1ba259cbb83321024d902e1a2fc7a8755ab5b694c575fce742c48d9ff192e63df5193e4c7afe1f9c52ae",
	} {
		out, err := d.At(0, uint32(index))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(out.Keys,
			func(k OutputKey) bool { return slices.Equal(k.Steps, []uint32{0, 0, uint32(index)}) })
		if got := hex.EncodeToString(out.Keys[i].Public); !strings.Contains(script, got) {
			t.Errorf("address %d: got key %s, want one of %s", index, got, script)
		}
		if w := hex.EncodeToString(out.Witness); len(w) != len(script) || w[:4] != script[:4] ||
			!strings.HasSuffix(w, "52ae") ||
			bytes.Compare(out.Keys[0].Public, out.Keys[1].Public) >= 0 {
			t.Errorf("address %d: got %s, want a script as %s", index, w, script)
		}
	}
}

// BIP 389: <0;1> are two descriptors, one for change.
func TestTwoBranchesAreTwoDescriptors(t *testing.T) {
	t.Parallel()
	d, err := Parse(with(t, "wpkh([deadbeef/84h/0h/0h]"+one+"/<0;1>/*)"))
	if err != nil {
		t.Fatal(err)
	}
	for branch, step := range []string{"/0/*", "/1/*"} {
		single := with(t, "wpkh([deadbeef/84h/0h/0h]"+one+step+")")
		if got := d.Branch(branch); got != single {
			t.Errorf("branch %d: got %s, want %s", branch, got, single)
		}
		alone, err := Parse(single)
		if err != nil {
			t.Fatal(err)
		}
		a, err1 := d.At(branch, 7)
		b, err2 := alone.At(0, 7)
		if err := errors.Join(err1, err2); err != nil || hex.EncodeToString(a.Script) != hex.EncodeToString(b.Script) {
			t.Errorf("branch %d: got %x, want %x (%v)", branch, a.Script, b.Script, err)
		}
	}
	if _, err := d.At(2, 0); err == nil {
		t.Error("a third branch: got no error, want one")
	}
}

func TestOtherDescriptorsAreRefused(t *testing.T) {
	t.Parallel()
	origin := "[deadbeef/84h/0h/0h]"
	for name, body := range map[string]string{
		"no origin":          "wpkh(" + one + "/0/*)",
		"short fingerprint":  "wpkh([deadbef/0h]" + one + "/0/*)",
		"no hexadecimal":     "wpkh([gaaaaaaa/0h]" + one + "/0/*)",
		"slash after origin": "wpkh([deadbeef/0h/]" + one + "/0/*)",
		"star in origin":     "wpkh([deadbeef/0h/*]" + one + "/0/*)",
		"two origins":        "wpkh([aaaaaaaa][aaaaaaaa]" + one + "/0/*)",
		"hardened below":     "wpkh(" + origin + one + "/3h/*)",
		"hardened number":    "wpkh(" + origin + one + "/0/*h)",
		"step out of range":  "wpkh(" + origin + one + "/2147483648/*)",
		"step with zeros":    "wpkh(" + origin + one + "/00/*)",
		"no star":            "wpkh(" + origin + one + "/0)",
		"no step":            "wpkh(" + origin + one + "/*)",
		"three branches":     "wpkh(" + origin + one + "/<0;1;2>/*)",
		"equal branches":     "wpkh(" + origin + one + "/<0;0>/*)",
		"a private key": "wpkh(" + origin +
			"xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U/0/*)",
		"unsorted":              "wsh(multi(1," + origin + one + "/0/*))",
		"in a script hash":      "sh(wsh(sortedmulti(1," + origin + one + "/0/*)))",
		"without a script":      "sortedmulti(1," + origin + one + "/0/*))",
		"more needed than keys": "wsh(sortedmulti(2," + origin + one + "/0/*))",
		"none needed":           "wsh(sortedmulti(0," + origin + one + "/0/*))",
		"need in letters":       "wsh(sortedmulti(a," + origin + one + "/0/*))",
		"one key twice":         "wsh(sortedmulti(1," + origin + one + "/0/*," + origin + one + "/1/*))",
		"branches of one key":   "wsh(sortedmulti(1," + origin + one + "/<0;1>/*," + origin + two + "/0/*))",
		"no wsh":                "sortedmulti(1," + origin + one + "/0/*))",
		"another function":      "sh(sortedmulti(1," + origin + one + "/0/*))",
		"nothing":               "",
	} {
		if _, err := Parse(with(t, body)); !errors.Is(err, ErrDescriptor) {
			t.Errorf("%s: got %v, want an ErrDescriptor", name, err)
		} else if strings.Contains(err.Error(), "xprv") {
			t.Errorf("%s: the error names a private key, want no %q", name, "xprv")
		}
	}
}
