package slip39

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// The official vectors of SLIP-0039 (python-shamir-mnemonic, commit 17fcce14), all of them.
func TestVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors [][]any
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) != 45 {
		t.Fatalf("read %d vectors, %v, want 45", len(vectors), err)
	}
	for _, v := range vectors {
		name, want := v[0].(string), v[2].(string)
		var lines []string
		for _, line := range v[1].([]any) {
			lines = append(lines, line.(string))
		}
		var secret []byte
		shares, err := ParseAll(strings.Join(lines, "\n"))
		if err == nil {
			secret, err = Combine(shares, "TREZOR")
		}
		if got := hex.EncodeToString(secret); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
		for i, s := range shares {
			if got := s.words(); got != strings.Join(strings.Fields(lines[i]), " ") {
				t.Errorf("%s: share %d is written as %q, want %q", name, i+1, got, lines[i])
			}
		}
	}
}

// random is the same each time.
func random() *rand.ChaCha8 { return rand.NewChaCha8([32]byte{1}) }

func shares(t *testing.T, secret []byte, need, of int) []string {
	t.Helper()
	list, err := Split(random(), secret, need, of)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func combine(lines ...string) ([]byte, error) {
	list, err := ParseAll(strings.Join(lines, "\n"))
	if err != nil {
		return nil, err
	}
	return Combine(list, "")
}

// Any two of three shares give the secret, and so do all.
func TestAnyEnoughSharesGiveTheSecret(t *testing.T) {
	t.Parallel()
	secret := []byte("0123456789abcdef0123456789ABCDEF")
	list := shares(t, secret, 2, 3)
	for _, some := range [][]int{{0, 1}, {1, 0}, {0, 2}, {1, 2}, {0, 1, 2}} {
		var lines []string
		for _, i := range some {
			lines = append(lines, strings.ToUpper(list[i])+" \r")
		}
		if got, err := combine(lines...); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("shares %v give %q, %v, want %q", some, got, err, secret)
		}
	}
	for _, line := range list {
		if n := len(strings.Fields(line)); n != 33 {
			t.Errorf("a share has %d words, want 33", n)
		}
	}
	first, err := Parse(list[0])
	if err != nil || first.Number() != 1 || first.Need() != 2 || len(first.Set()) != 4 {
		t.Errorf("the first share is number %d, needs %d, of set %s, %v, want 1 and 2", first.Number(), first.Need(),
			first.Set(), err)
	}
}

func TestCombineRefuses(t *testing.T) {
	t.Parallel()
	secret := []byte("0123456789abcdef0123456789ABCDEF")
	list := shares(t, secret, 3, 5)
	other, err := Split(rand.NewChaCha8([32]byte{2}), secret, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(list[0])
	changed := func(at int, word string) string {
		w := slices.Clone(words)
		w[at] = word
		return strings.Join(w, " ")
	}
	external, err := Parse(list[2])
	if err != nil {
		t.Fatal(err)
	}
	external.value = bytes.Clone(external.value)
	external.value[7] ^= 1
	swapped := slices.Clone(words)
	swapped[8], swapped[9] = swapped[9], swapped[8]
	for name, test := range map[string]struct {
		lines []string
		want  error
		says  string
	}{
		"none":    {nil, ErrTooFew, "none is given"},
		"too few": {list[:2], ErrTooFew, "2 of 3"},
		"twice":   {[]string{list[0], list[1], list[1]}, ErrTwice, "share 3 is number 2"},
		"mixed":   {[]string{list[0], list[1], other[2]}, ErrMixed, "share 3 is of set"},
		"an unknown word": {[]string{list[1], changed(5, "bitcoin")}, ErrWord,
			"line 2: read a share: the word is not in the list: word 6"},
		"another word":     {[]string{changed(5, "zero")}, ErrChecksum, "line 1"},
		"words swapped":    {[]string{strings.Join(swapped, " ")}, ErrChecksum, "line 1"},
		"a word less":      {[]string{strings.Join(words[:32], " ")}, ErrChecksum, ""},
		"a few words":      {[]string{strings.Join(words[:6], " ")}, ErrLength, "6"},
		"made up":          {[]string{list[0], list[1], external.words()}, ErrDigest, "not of the set"},
		"made up as extra": {[]string{list[0], list[1], list[3], external.words()}, ErrDigest, "not of the set"},
	} {
		got, err := combine(test.lines...)
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || got != nil {
			t.Errorf("%s: %q, %v, want %v with %q", name, got, err, test.want, test.says)
		}
		if err != nil && strings.Contains(err.Error(), words[6]+" ") {
			t.Errorf("%s: the error quotes a word: %v", name, err)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	t.Parallel()
	secret := make([]byte, 32)
	for _, n := range [][2]int{{1, 1}, {1, 3}, {0, 3}, {4, 3}, {2, 17}, {-1, 2}} {
		if list, err := Split(random(), secret, n[0], n[1]); !errors.Is(err, ErrSplit) || list != nil {
			t.Errorf("%d of %d: %v, want %v", n[0], n[1], err, ErrSplit)
		}
	}
	for _, size := range []int{0, 14, 17, 66} {
		if list, err := Split(random(), make([]byte, size), 2, 3); !errors.Is(err, ErrSecret) || list != nil {
			t.Errorf("%d bytes: %v, want %v", size, err, ErrSecret)
		}
	}
	if _, err := Split(bytes.NewReader(make([]byte, 20)), secret, 3, 5); err == nil {
		t.Error("too few random bytes are enough, want an error")
	}
}

// Everything that is not zero has an inverse, and the table of Rijndael's field holds (FIPS 197, section 4.2).
func TestTheField(t *testing.T) {
	t.Parallel()
	if got := times(0x57, 0x83); got != 0xc1 {
		t.Errorf("0x57 times 0x83 is %#x, want 0xc1", got)
	}
	for a := 1; a < 256; a++ {
		if got := times(byte(a), inverse(byte(a))); got != 1 {
			t.Errorf("%d times its inverse is %d, want 1", a, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	list, err := Split(random(), make([]byte, 16), 2, 2)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(list[0])
	f.Add("academic academic")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err == nil && s.words() != strings.Join(strings.Fields(strings.ToLower(text)), " ") {
			t.Errorf("%q is written as %q", text, s.words())
		}
	})
}
