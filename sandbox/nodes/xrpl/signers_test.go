package xrpl

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
)

// listOfOwners is the serialized array of a SignerListSet.
func listOfOwners(t *testing.T, owners []owner, weight byte) list {
	t.Helper()
	var raw []byte
	for _, o := range owners {
		id, err := parseAddress(o.address)
		if err != nil {
			t.Fatal(err)
		}
		raw = slices.Concat(raw, []byte{0xeb, 0x13, 0, weight, 0x81, 20}, id[:], []byte{objectEnd})
	}
	return list{raw: append(raw, arrayEnd)}
}

// together is a transaction signed by several, in the order of their accounts.
func together(v values, owners ...owner) []byte {
	v["SigningPubKey"] = ""
	owners = slices.SortedFunc(slices.Values(owners), func(a, b owner) int {
		one, _ := parseAddress(a.address)
		two, _ := parseAddress(b.address)
		return bytes.Compare(one[:], two[:])
	})
	body, raw := encode(v), []byte{}
	for _, o := range owners {
		id, _ := parseAddress(o.address)
		digest := half("SMT\x00", body, id[:])
		key, der := o.key.PubKey().SerializeCompressed(), ecdsa.Sign(o.key, digest[:]).Serialize()
		raw = slices.Concat(raw, []byte{0xe0, 0x10, 0x73, 33}, key, []byte{0x74, byte(len(der))}, der, []byte{0x81, 20},
			id[:], []byte{objectEnd})
	}
	whole := maps.Clone(v)
	whole["Signers"] = list{raw: append(raw, arrayEnd)}
	return encode(whole)
}

// A list of signers decides who pays: with too little weight, by an outsider, twice by one, without a list, or at the
// fee of one signature nothing is paid, and each has the real ledger's result. The account's own key signs until it is
// disabled, which needs the list.
func TestSeveralSignersPay(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	account, plain := newOwner(t, n, 100_000_000), newOwner(t, n, 100_000_000)
	signers := []owner{newOwner(t, n, 0), newOwner(t, n, 0), newOwner(t, n, 0)}
	common := func(of owner, kind string) values {
		id, _ := parseAddress(of.address)
		n.mu.Lock()
		defer n.mu.Unlock()
		return values{"TransactionType": kind, "Sequence": n.open.get(id).sequence, "Fee": "30", "Account": of.address}
	}
	pays := func(of owner) values {
		v := common(of, "Payment")
		v["Amount"], v["Destination"] = "1000000", plain.address
		if of == plain {
			v["Destination"] = account.address
		}
		return v
	}
	sets := func(quorum uint32, weight byte) values {
		v := common(account, "SignerListSet")
		v["SignerQuorum"], v["SignerEntries"] = quorum, listOfOwners(t, signers, weight)
		return v
	}
	disable := func() values {
		v := common(account, "AccountSet")
		v["SetFlag"] = uint32(4)
		return v
	}
	cheap := func() values {
		v := pays(account)
		v["Fee"] = "29"
		return v
	}
	for i, step := range []struct {
		blob []byte
		want string
	}{
		{sign(disable(), account.key), "tecNO_ALTERNATIVE_KEY"},
		{sign(sets(7, 2), account.key), "temBAD_QUORUM"},
		{sign(sets(4, 0), account.key), "temBAD_WEIGHT"},
		{together(pays(plain), signers[:2]...), "tefNOT_MULTI_SIGNING"},
	} {
		if got := submitted(t, n, step.blob); got != step.want {
			t.Errorf("before, %d: got %s, want %s", i, got, step.want)
		}
	}
	if got := submitted(t, n, sign(sets(4, 2), account.key)); got != "tesSUCCESS" {
		t.Fatalf("the list: got %s, want tesSUCCESS", got)
	}
	if got := submitted(t, n, sign(disable(), account.key)); got != "tesSUCCESS" {
		t.Fatalf("the end of the key: got %s, want tesSUCCESS", got)
	}
	outsider := newOwner(t, n, 0)
	spoiled := together(pays(account), signers[:2]...)
	spoiled[len(spoiled)-30] ^= 1
	for name, step := range map[string]struct {
		blob []byte
		want string
	}{
		"alone":          {sign(pays(account), account.key), "tefMASTER_DISABLED"},
		"too few":        {together(pays(account), signers[0]), "tefBAD_QUORUM"},
		"an outsider":    {together(pays(account), signers[0], outsider), "tefBAD_SIGNATURE"},
		"one twice":      {together(pays(account), signers[0], signers[0]), "invalidTransaction"},
		"a flipped bit":  {spoiled, "invalidTransaction"},
		"the fee of two": {together(cheap(), signers[:2]...), "telINSUF_FEE_P"},
	} {
		if got := submitted(t, n, step.blob); got != step.want {
			t.Errorf("%s: got %s, want %s", name, got, step.want)
		}
	}
	if got := submitted(t, n, together(pays(account), signers[1:]...)); got != "tesSUCCESS" {
		t.Errorf("two of three: got %s, want tesSUCCESS", got)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	answer, refused := call(t, n, "account_objects", object{"account": account.address, "type": "signer_list",
		"ledger_index": "validated"})
	found, _ := answer["account_objects"].([]any)
	if refused != nil || len(found) != 1 || answer["validated"] != true {
		t.Fatalf("account_objects: got %v, %v, want one list", answer, refused)
	}
	if l := found[0].(object); l["SignerQuorum"] != uint32(4) || len(l["SignerEntries"].([]any)) != 3 {
		t.Errorf("account_objects: got %v, want a quorum of 4 and three entries", l)
	}
}
