package passkey_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/passkey/passkeytest"
)

const (
	namespace = "approval@bursar"
	text      = "bursar-test/1\nunits: 1500000\n"
)

func origin(t *testing.T) passkey.Origin {
	t.Helper()
	o, err := passkey.ParseOrigin(passkeytest.Origin)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWhatAPasskeySignsVerifies(t *testing.T) {
	t.Parallel()
	for _, seed := range []byte{1, 2} {
		a := passkeytest.New(t, seed)
		made := a.Assert(t, namespace, text, func(touch *passkeytest.Touch) { touch.Counter = 7 })
		if said, err := passkey.Verify(made.Text(), origin(t), namespace, text); err != nil || said.Key != a.Key() ||
			said.Counter != 7 {
			t.Errorf("seed %d: got %v, %v, want the key %v and counter 7", seed, said, err, a.Key())
		}
	}
}

// The attacks: an assertion that was made for something else, or somewhere else, or that nobody meant.
func TestWhatAPasskeySignedOtherwiseIsRefused(t *testing.T) {
	t.Parallel()
	type touch = passkeytest.Touch
	for name, test := range map[string]struct {
		change func(*touch)
		want   error
	}{
		"nobody was present":         {func(o *touch) { o.Flags = passkeytest.Verified }, passkey.ErrAbsent},
		"nobody was verified":        {func(o *touch) { o.Flags = passkeytest.Present }, passkey.ErrUnverified},
		"neither":                    {func(o *touch) { o.Flags = 0 }, passkey.ErrAbsent},
		"at another origin":          {func(o *touch) { o.Origin = "https://console.example.com:8443" }, passkey.ErrSite},
		"at an origin below":         {func(o *touch) { o.Origin = "https://a.console.example.com" }, passkey.ErrSite},
		"in plain HTTP":              {func(o *touch) { o.Origin = "http://console.example.com" }, passkey.ErrSite},
		"in other letters":           {func(o *touch) { o.Origin = "https://Console.example.com" }, passkey.ErrSite},
		"for another relying party":  {func(o *touch) { o.Site = "example.com" }, passkey.ErrSite},
		"over another challenge":     {func(o *touch) { o.Challenge = "AAAA" }, passkey.ErrOther},
		"over one in other base64":   {func(o *touch) { o.Challenge += "=" }, passkey.ErrOther},
		"of a registration":          {func(o *touch) { o.Kind = "webauthn.create" }, passkey.ErrOther},
		"of a payment's extension":   {func(o *touch) { o.Kind = "payment.get" }, passkey.ErrOther},
		"in a frame":                 {func(o *touch) { o.More = `,"crossOrigin":true` }, passkey.ErrSite},
		"in a frame, as a text":      {func(o *touch) { o.More = `,"crossOrigin":"false"` }, passkey.ErrSite},
		"with the frame's origin":    {func(o *touch) { o.More = `,"topOrigin":"https://evil.example"` }, passkey.ErrSite},
		"with a key behind it":       {func(o *touch) { o.Flags |= 0x40; o.Data = []byte{0xa0} }, passkey.ErrMalformed},
		"with extensions behind it":  {func(o *touch) { o.Flags |= 0x80; o.Data = []byte{0xa0} }, passkey.ErrMalformed},
		"with a flag of extensions":  {func(o *touch) { o.Flags |= 0x80 }, passkey.ErrMalformed},
		"with a byte behind it":      {func(o *touch) { o.Data = []byte{0} }, passkey.ErrMalformed},
		"backed up, but not able":    {func(o *touch) { o.Flags |= 0x10 }, passkey.ErrMalformed},
		"a member twice":             {func(o *touch) { o.More = `,"origin":"https://evil.example"` }, passkey.ErrMalformed},
		"twice, in another spelling": {func(o *touch) { o.More = `,"ori\u0067in":"x"` }, passkey.ErrMalformed},
		"two objects":                {func(o *touch) { o.More = `}{"a":1` }, passkey.ErrMalformed},
		"a list":                     {func(o *touch) { o.Client = []byte(`[]`) }, passkey.ErrMalformed},
		"no members":                 {func(o *touch) { o.Client = []byte(`{}`) }, passkey.ErrMalformed},
		"other letters of a member":  {func(o *touch) { o.Client = []byte(`{"Type":"webauthn.get"}`) }, passkey.ErrMalformed},
		"nothing":                    {func(o *touch) { o.Client = []byte{} }, passkey.ErrMalformed},
		"no UTF-8":                   {func(o *touch) { o.More = ",\"a\":\"\xff\"" }, passkey.ErrMalformed},
		"a member nobody knows": {
			func(o *touch) { o.More = `,"crossOrigin":false,"other_keys_can_be_added_here":{"a":[1]}` }, nil},
		"no word of frames":       {func(o *touch) { o.More = "" }, nil},
		"of a key that is synced": {func(o *touch) { o.Flags |= 0x18 }, nil},
	} {
		made := passkeytest.New(t, 2).Assert(t, namespace, text, test.change)
		if _, err := passkey.Verify(made.Text(), origin(t), namespace, text); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}

func TestAnAssertionIsOfOneTextAndPurpose(t *testing.T) {
	t.Parallel()
	made := passkeytest.New(t, 2).Assert(t, namespace, text).Text()
	elsewhere, err := passkey.ParseOrigin("https://console.example.net")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		origin          passkey.Origin
		namespace, text string
		want            error
	}{
		"another text":    {origin(t), namespace, text + "x", passkey.ErrOther},
		"another purpose": {origin(t), "proposal@bursar", text, passkey.ErrOther},
		"no purpose":      {origin(t), "", namespace + "\x00" + text, passkey.ErrOther},
		"another site":    {elsewhere, namespace, text, passkey.ErrSite},
		"no site":         {passkey.Origin{}, namespace, text, passkey.ErrSite},
	} {
		if _, err := passkey.Verify(made, test.origin, test.namespace, test.text); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}

// The attack: parts of one assertion are put together with those of another.
func TestPartsOfOtherAssertionsDoNotVerify(t *testing.T) {
	t.Parallel()
	weak := func(o *passkeytest.Touch) { o.Flags = passkeytest.Present }
	base := passkeytest.New(t, 2).Assert(t, namespace, text, weak)
	raised := base
	raised.AuthenticatorData = passkeytest.New(t, 2).Assert(t, namespace, text).AuthenticatorData
	counted := base
	counted.AuthenticatorData = passkeytest.New(t, 2).Assert(t, namespace, text, weak,
		func(o *passkeytest.Touch) { o.Counter = 9 }).AuthenticatorData
	other := base
	other.Key = passkeytest.New(t, 4).Key()
	algorithm := base
	algorithm.Key = passkeytest.New(t, 1).Key()
	trailing := base
	trailing.Signature = append(append([]byte{}, base.Signature...), 0)
	none := base
	none.Signature = nil
	for name, a := range map[string]passkey.Assertion{"raised flags": raised, "another counter": counted,
		"another's key": other, "a key of another algorithm": algorithm, "bytes behind the signature": trailing,
		"no signature": none} {
		if said, err := passkey.Verify(a.Text(), origin(t), namespace, text); !errors.Is(err, passkey.ErrInvalid) ||
			said.Key != a.Key {
			t.Errorf("%s: got %v, %v, want %v of the key that is named", name, said, err, passkey.ErrInvalid)
		}
	}
}

// The other signature that ECDSA has for each counts too: authenticators make both, and nothing is learned by it.
func TestTheOtherSignatureCounts(t *testing.T) {
	t.Parallel()
	a := passkeytest.New(t, 2).Assert(t, namespace, text)
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(a.Signature, &pair); err != nil {
		t.Fatal(err)
	}
	pair.S.Sub(elliptic.P256().Params().N, pair.S)
	var err error
	if a.Signature, err = asn1.Marshal(pair); err != nil {
		t.Fatal(err)
	}
	if _, err := passkey.Verify(a.Text(), origin(t), namespace, text); err != nil {
		t.Errorf("got %v, want none", err)
	}
}

func TestAnAssertionHasOneSpelling(t *testing.T) {
	t.Parallel()
	whole := passkeytest.New(t, 2).Assert(t, namespace, text).Text()
	lines := strings.SplitAfter(whole, "\n")
	for name, changed := range map[string]string{
		"nothing":               "",
		"text before":           "\n" + whole,
		"text behind":           whole + "\n",
		"two":                   whole + whole,
		"other line ends":       strings.ReplaceAll(whole, "\n", "\r\n"),
		"other lengths of line": strings.Replace(whole, lines[1], lines[1][:8]+"\n"+lines[1][8:], 1),
		"too long":              strings.Replace(whole, lines[1], strings.Repeat(lines[1], 60), 1),
		"no armor":              strings.Join(lines[1:len(lines)-2], ""),
		"an SSH signature":      strings.ReplaceAll(whole, "PASSKEY ASSERTION", "SSH SIGNATURE"),
		"cut off":               strings.Replace(whole, lines[4], "", 1),
	} {
		if _, err := passkey.Parse(changed); !errors.Is(err, passkey.ErrMalformed) && !errors.Is(err, passkey.ErrKey) {
			t.Errorf("%s: got %v, want %v", name, err, passkey.ErrMalformed)
		}
	}
}

func TestAPasskeysKeyHasOneSpelling(t *testing.T) {
	t.Parallel()
	for _, seed := range []byte{1, 2} {
		a := passkeytest.New(t, seed)
		der, err := x509.MarshalPKIXPublicKey(a.Public())
		if err != nil {
			t.Fatal(err)
		}
		block := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		for _, content := range []string{block, a.Key().String() + "\n"} {
			if got, err := passkey.ReadKey(content); err != nil || got != a.Key() {
				t.Errorf("of %q: got %v, %v, want %v", content, got, err, a.Key())
			}
		}
		text := a.Key().String()
		for _, other := range []string{"", text + " ann", " " + text, strings.Replace(text, " ", "  ", 1), text + "=",
			strings.Replace(text, "passkey-", "ssh-", 1), text[:len(text)-4], block + block} {
			if _, err := passkey.ReadKey("x" + other); !errors.Is(err, passkey.ErrKey) {
				t.Errorf("of %q: got %v, want %v", "x"+other, err, passkey.ErrKey)
			}
			if _, err := passkey.ParseKey(other); !errors.Is(err, passkey.ErrKey) {
				t.Errorf("%q: got %v, want %v", other, err, passkey.ErrKey)
			}
		}
	}
	off := append([]byte{4}, make([]byte, 64)...) // no point of the curve
	if _, err := passkey.ParseKey("passkey-p256 " + base64.StdEncoding.EncodeToString(off)); !errors.Is(err,
		passkey.ErrKey) {
		t.Errorf("off the curve: got %v, want %v", err, passkey.ErrKey)
	}
	private, err := ecdsa.GenerateKey(elliptic.P384(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, public := range []any{private.Public(), "text", ed25519.PublicKey{1}} {
		if _, err := passkey.NewKey(public); !errors.Is(err, passkey.ErrKey) {
			t.Errorf("%T: got %v, want %v", public, err, passkey.ErrKey)
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	for text, host := range map[string]string{"https://console.example.com": "console.example.com",
		"https://console.example.com:8443": "console.example.com", "http://localhost:8081": "localhost"} {
		if o, err := passkey.ParseOrigin(text); err != nil || o.String() != text || o.Host() != host {
			t.Errorf("%s: got %v, %q, %v, want host %q", text, o, o.Host(), err, host)
		}
	}
	for _, text := range []string{"", "console.example.com", "https://", "http://console.example.com",
		"https://console.example.com/", "https://Console.example.com", "https://console.example.com:443",
		"http://localhost:80", "https://a@console.example.com", "https://console.example.com?a", "ftp://localhost",
		"https://console.example.com:", "https://bücher.example"} {
		if o, err := passkey.ParseOrigin(text); err == nil {
			t.Errorf("%q: got %v, want a refusal", text, o)
		}
	}
}
