package approval

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
)

var update = flag.Bool("update", false, "write the golden files again")

const instance = "K7QJ3ZL2M5XW4RT6P8YN9VBHCD"

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func id(n byte) bursar.ID { return bursar.ID{0: 1, 15: n} }

func order() Order {
	return Order{Instance: instance, Account: id(1), ID: id(2), Chain: "bitcoin",
		To: bursar.Address{Base: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}, Units: bursar.Units(1500000),
		Created: noon, Expires: noon.Add(30 * 24 * time.Hour)}
}

func refund() Order {
	o := order()
	o.Account, o.Chain, o.Contract, o.Requester = bursar.ID{}, "xrpl", "USD.rvYAfWj5gh67oV6fW32ZzP3Aw4Eubs59B", "ann"
	o.To, o.MaxFee = bursar.Address{Base: "rDTXLQ7ZKZVKz33zJbHjgVShjsBnqMBhmN", Memo: 0, HasMemo: true}, bursar.Units(50)
	return o
}

func approval(o Order) Approval {
	return Approval{Instance: instance, Decision: Yes, Payment: 1, Role: "approver", Version: 7, Policy: HashOf("policy"),
		Created: noon, Expires: noon.Add(Longest), Nonce: Nonce{15: 9}, Order: o}
}

func destination() Destination {
	return Destination{Instance: instance, Account: id(1), Chain: "bitcoin", To: order().To, Created: noon,
		Expires: noon.Add(time.Hour), Until: noon.AddDate(1, 0, 0), Nonce: Nonce{1}}
}

// everybodys is a destination that is removed.
func everybodys() Destination {
	d := destination()
	d.Remove, d.Any, d.Account, d.Chain, d.To = true, true, bursar.ID{}, "xrpl", refund().To
	return d
}

func freeze() Freeze {
	return Freeze{Instance: instance, Why: "the service may be in other hands", Created: noon,
		Expires: noon.Add(time.Hour), Nonce: Nonce{2}}
}

func orderKey() OrderKey {
	return OrderKey{Instance: instance, Account: id(1), ID: "0123456789abcdef0123456789abcdef", Key: "MCowBQYDK2Vw+/=",
		Name: "shop", Created: noon, Expires: noon.Add(time.Hour), Nonce: Nonce{3}}
}

func revokedKey() OrderKey {
	k := orderKey()
	k.Revoke, k.Key, k.Name = true, "", ""
	return k
}

// parse reads a text of any kind and writes it again.
func parse(text string) (string, error) {
	kind, _, _ := strings.Cut(text, "\n")
	var value Texter
	var err error
	switch kind {
	case KindApproval:
		value, err = ParseApproval(text)
	case KindDestination:
		value, err = ParseDestination(text)
	case KindFreeze:
		value, err = ParseFreeze(text)
	case KindOrderKey:
		value, err = ParseOrderKey(text)
	case KindCompromise:
		value, err = ParseCompromise(text)
	default:
		value, err = ParseOrder(text)
	}
	if err != nil {
		return "", err
	}
	return value.Text(), nil
}

func texts() map[string]string {
	thaw := freeze()
	thaw.Thaw = true
	no := approval(refund())
	no.Decision = No
	return map[string]string{
		"order": order().Text(), "refund": refund().Text(), "approval": approval(order()).Text(), "no": no.Text(),
		"destination": destination().Text(), "everybodys": everybodys().Text(), "freeze": freeze().Text(),
		"thaw": thaw.Text(), "orderkey": orderKey().Text(), "revoked": revokedKey().Text(),
		"compromise": compromise().Text(),
	}
}

// What was signed once must be readable for ever: a golden file never changes.
func TestTextsAreAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil || string(golden) != text {
			t.Errorf("%s: got\n%s, want\n%s (%v)", name, text, golden, err)
		}
		if got, err := parse(text); err != nil || got != text {
			t.Errorf("%s: read as\n%s, %v, want\n%s", name, got, err, text)
		}
	}
}

func TestAnOrderIsReadWhole(t *testing.T) {
	t.Parallel()
	for _, want := range []Order{order(), refund()} {
		if got, err := ParseOrder(want.Text()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		a, err := ParseApproval(approval(want).Text())
		if err != nil || a != approval(want) {
			t.Errorf("got %+v, %v, want %+v", a, err, approval(want))
		}
	}
	for _, want := range []Destination{destination(), everybodys()} {
		if got, err := ParseDestination(want.Text()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

// replaced is a text with one part changed.
func replaced(t *testing.T, text, old, by string) string {
	t.Helper()
	changed := strings.Replace(text, old, by, 1)
	if changed == text {
		t.Fatalf("%q is not in\n%s", old, text)
	}
	return changed
}

func TestOtherSpellingsAreRefused(t *testing.T) {
	t.Parallel()
	text := order().Text()
	for name, other := range map[string]string{
		"a leading zero":        replaced(t, text, "units: 1", "units: 01"),
		"a sign":                replaced(t, text, "units: 1", "units: +1"),
		"nothing":               replaced(t, text, "units: 1500000", "units: 0"),
		"a decimal":             replaced(t, text, "units: 1500000", "units: 1.5"),
		"too much":              replaced(t, text, "units: 1500000", "units: "+strings.Repeat("9", 40)),
		"two spaces":            replaced(t, text, "units: ", "units:  "),
		"no space":              replaced(t, text, "units: ", "units:"),
		"a space behind":        replaced(t, text, "1500000\n", "1500000 \n"),
		"another line end":      strings.ReplaceAll(text, "\n", "\r\n"),
		"no last line end":      strings.TrimSuffix(text, "\n"),
		"a line more":           text + "more: 1\n",
		"an empty line":         text + "\n",
		"a line twice":          replaced(t, text, "units: 1500000\n", "units: 1500000\nunits: 1500000\n"),
		"a line less":           replaced(t, text, "max_fee: -\n", ""),
		"another order":         replaced(t, text, "tag: -\nunits: 1500000\n", "units: 1500000\ntag: -\n"),
		"a capital letter":      replaced(t, text, "units", "Units"),
		"another kind":          replaced(t, text, "bursar-order/1", "bursar-order/2"),
		"not ASCII":             replaced(t, text, "bc1qar0", "bc1q\u0430r0"),
		"a control character":   replaced(t, text, "bc1qar0", "bc1q\x1b[2K0"),
		"a capital ID":          strings.Replace(replaced(t, text, "0000000001", "00000000aB"), "order", "order", 1),
		"another zone":          replaced(t, text, "12:00:00Z", "13:00:00+01:00"),
		"a fraction of seconds": replaced(t, text, "12:00:00Z", "12:00:00.5Z"),
		"ends before":           replaced(t, text, "expires: 2026", "expires: 2025"),
		"a tag with a zero":     replaced(t, text, "tag: -", "tag: 01"),
		"a tag too long":        replaced(t, text, "tag: -", "tag: 4294967296"),
		"a name with a space":   replaced(t, text, "chain: bitcoin", "chain: bit coin"),
		"empty":                 "",
		"its kind alone":        KindOrder + "\n",
	} {
		if got, err := ParseOrder(other); !errors.Is(err, ErrText) {
			t.Errorf("%s: got %+v, %v, want %v", name, got, err, ErrText)
		}
	}
}

func TestAnApprovalIsOfItsOrderAndShort(t *testing.T) {
	t.Parallel()
	text := approval(order()).Text()
	other := approval(order())
	other.Order.Instance = "OTHER"
	long := approval(order())
	long.Expires = noon.Add(Longest + time.Second)
	ended := approval(order())
	ended.Expires = noon
	for name, wrong := range map[string]string{
		"another amount": replaced(t, text, "units: 1500000", "units: 1500001"),
		"another hash":   replaced(t, text, "order: sha256:", "order: sha256:00")[:len(text)],
		"a hash of capital": strings.Replace(text, HashOf(order().Text()).String()[7:],
			strings.ToUpper(HashOf(order().Text()).String()[7:]), 1),
		"no order":          text[:strings.Index(text, KindOrder)],
		"another instance":  other.Text(),
		"too long":          long.Text(),
		"no time":           ended.Text(),
		"payment 0":         replaced(t, text, "payment: 1", "payment: 0"),
		"maybe":             replaced(t, text, "decision: yes", "decision: maybe"),
		"a short nonce":     replaced(t, text, "nonce: 00", "nonce: "),
		"a version below 0": replaced(t, text, "policy: 7", "policy: -7"),
		"a version of two":  replaced(t, text, "policy: 7", "policy: 07"),
	} {
		if got, err := ParseApproval(wrong); !errors.Is(err, ErrText) {
			t.Errorf("%s: got %+v, %v, want %v", name, got, err, ErrText)
		}
	}
}

func TestWhatADestinationCovers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(d *Destination)
		want   bool
	}{
		"the same":         {func(*Destination) {}, true},
		"everybody's":      {func(d *Destination) { d.Account = bursar.ID{} }, true},
		"every asset":      {func(d *Destination) { d.Any, d.Contract = true, "" }, true},
		"another account":  {func(d *Destination) { d.Account = id(3) }, false},
		"another asset":    {func(d *Destination) { d.Contract = "T" }, false},
		"another chain":    {func(d *Destination) { d.Chain = "litecoin" }, false},
		"with a tag":       {func(d *Destination) { d.To.HasMemo = true }, false},
		"one that removes": {func(d *Destination) { d.Remove = true }, false},
	} {
		d := destination()
		test.change(&d)
		if got := d.Covers(order()); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

// Any order, as long as its parts can be written at all, is read as it was written.
func TestAnyOrderIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := order()
		o.Units = bursar.Units(rapid.Uint64Min(1).Draw(t, "units"))
		o.MaxFee = bursar.Units(rapid.Uint64().Draw(t, "fee"))
		o.To = bursar.Address{Base: rapid.StringMatching(`[!-~]{1,80}`).Draw(t, "base")}
		if o.To.HasMemo = rapid.Bool().Draw(t, "tagged"); o.To.HasMemo {
			o.To.Memo = rapid.Uint32().Draw(t, "tag")
		}
		o.Contract = rapid.StringMatching(`|0x[0-9a-f]{40}`).Draw(t, "contract")
		o.Requester = rapid.StringMatching(`|[a-z0-9][a-z0-9_-]{0,39}`).Draw(t, "requester")
		o.Expires = o.Created.Add(time.Duration(rapid.IntRange(1, 1e6).Draw(t, "seconds")) * time.Second)
		if got, err := ParseOrder(o.Text()); err != nil || got != o {
			t.Fatalf("got %+v, %v, want %+v", got, err, o)
		}
	})
}

// Whatever is read is written again with the same bytes.
func FuzzTexts(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := parse(text); err == nil && got != text {
			t.Errorf("%q was read, and is written as %q", text, got)
		}
	})
}

func TestAKeyIsAddedWhole(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{
		"added without a key":  replaced(t, orderKey().Text(), "key: MCowBQYDK2Vw+/=", "key: -"),
		"added without a name": replaced(t, orderKey().Text(), "name: shop", "name: -"),
		"revoked with a key":   replaced(t, orderKey().Text(), "do: add", "do: revoke"),
		"of nobody":            replaced(t, orderKey().Text(), id(1).String(), "-"),
		"of everybody":         replaced(t, orderKey().Text(), id(1).String(), "*"),
		"for two days":         replaced(t, orderKey().Text(), "expires: 2026-11-24", "expires: 2026-11-26"),
	} {
		if got, err := ParseOrderKey(other); !errors.Is(err, ErrText) {
			t.Errorf("%s: got %+v, %v, want %v", name, got, err, ErrText)
		}
	}
}
