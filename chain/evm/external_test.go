package evm

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

func paid(to, contract string, amount uint64) chain.Payment {
	p := chain.Payment{Address: bursar.Address{Base: base(to)}, Amount: bursar.Units(amount)}
	if contract != "" {
		p.Contract = base(contract)
	}
	return p
}

// movedLog returns an event of the listed token between any two addresses.
func movedLog(from, to string, value uint64) object {
	log := transferLog(to, value)
	log["topics"] = []string{transferTopic.String(), topicOf(from), topicOf(to)}
	return log
}

// fakeCallBy returns a frame with the given caller.
func fakeCallBy(from, to, value string) object {
	call := fakeCall("CALL", to, value)
	call["from"] = from
	return call
}

const fakeFee = 50_000 * 2 * gwei

type externalCase struct {
	name    string
	tx      fakeTx
	want    []chain.ExternalSpend
	anomaly []string
}

func externalCases() []externalCase {
	id, ours := fakeHash("tx", 1, 0), base(fakeOurs)
	spend := func(fee uint64, payments ...chain.Payment) []chain.ExternalSpend {
		return []chain.ExternalSpend{{TxID: id, Base: ours, Reservations: []string{ours + "/7"}, Payments: payments,
			Fee: bursar.Units(fee)}}
	}
	failed := spend(fakeFee)
	failed[0].Failed = true
	return []externalCase{
		{"a payment", fakeTx{from: fakeOurs, nonce: 7, to: fakeOutsider, value: "0x5"},
			spend(plainGas*2*gwei, paid(fakeOutsider, "", 5)), nil},
		{"a payment to itself", fakeTx{from: fakeOurs, nonce: 7, to: fakeOurs, value: "0x5"},
			spend(plainGas * 2 * gwei), nil},
		{"a failed call", fakeTx{from: fakeOurs, nonce: 7, to: fakeContract, value: "0x5", input: "0x01", failed: true},
			failed, nil},
		{"a creation", fakeTx{from: fakeOurs, nonce: 7, contract: fakeContract, value: "0x5", input: "0x01"},
			spend(fakeFee, paid(fakeContract, "", 5)), nil},
		{"tokens, some of them twice to one receiver, and some of ours to ourselves", fakeTx{
			from: fakeOurs, nonce: 7, to: fakeContract, input: "0x01", logs: []object{
				movedLog(fakeOurs, fakeOutsider, 3), movedLog(fakeOurs, fakeOther, 4), movedLog(fakeOurs, fakeOutsider,
					5),
				movedLog(fakeOurs, fakeOurs, 6), movedLog(fakeOutsider, fakeOther, 8),
			}}, spend(fakeFee, paid(fakeOutsider, fakeToken, 8), paid(fakeOther, fakeToken, 4)), nil},
		{"what a contract passes on is not ours", fakeTx{
			from: fakeOurs, nonce: 7, to: fakeContract, value: "0x5", input: "0x01",
			calls: []object{fakeCall("CALL", fakeOutsider, "0x4")},
		}, spend(fakeFee, paid(fakeContract, "", 5)), nil},
		{"value that code at our address sends", fakeTx{
			to: fakeOurs, input: "0x01", calls: []object{fakeCallBy(fakeOurs, fakeOutsider, "0x6")},
		}, []chain.ExternalSpend{{TxID: id, Base: ours, Payments: []chain.Payment{paid(fakeOutsider, "", 6)}}}, nil},
		{"tokens taken from us by somebody else", fakeTx{to: fakeToken, input: "0x01",
			logs: []object{movedLog(fakeOurs, fakeContract, 2_500_000)}}, nil,
			[]string{"2.5 of this token went from our address " + ours}},
		{"a transfer of nothing by somebody else", fakeTx{to: fakeToken, input: "0x01",
			logs: []object{movedLog(fakeOurs, fakeContract, 0)}}, nil, nil},
	}
}

// An external spend is reported with everything that it moved and used up, so that a database that lost its own
// transactions recognizes them.
func TestExternalSpendsShowTheirContents(t *testing.T) {
	t.Parallel()
	for _, test := range externalCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.tx)
			b := f.after(t, f.open(t, nil))[0]
			if !reflect.DeepEqual(b.ExternalSpends, test.want) {
				t.Fatalf("got  %+v\nwant %+v", b.ExternalSpends, test.want)
			}
			if len(b.Anomalies) != len(test.anomaly) {
				t.Fatalf("anomalies %+v, want %q", b.Anomalies, test.anomaly)
			}
			for i, words := range test.anomaly {
				if o := b.Anomalies[i]; !strings.Contains(o.What, words) || o.Contract != base(fakeToken) ||
					o.TxID != fakeHash("tx", 1, 0) {
					t.Fatalf("anomaly %+v, want %q", o, words)
				}
			}
		})
	}
}

// An authorization that our key signed (EIP-7702) is an external spend, no matter who sends it: it uses a nonce of ours
// and lets code control the address, also where the transaction failed. Then nothing that the transaction does is ours,
// no matter which address of ours pays for it. The digest and the signature are go-ethereum's own.
func TestAnAuthorizationOfOursIsAnExternalSpend(t *testing.T) {
	t.Parallel()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("a hot key")))
	if err != nil {
		t.Fatal(err)
	}
	hot := crypto.PubkeyToAddress(key.PublicKey)
	allow := func(nonce uint64) types.SetCodeAuthorization {
		var plain types.SetCodeAuthorization
		if err := plain.ChainID.SetFromHex("0x1"); err != nil {
			t.Fatal(err)
		}
		plain.Address, plain.Nonce = common.HexToAddress(fakeContract), nonce
		signed, err := types.SignSetCode(key, plain)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	forged := allow(3)
	forged.R.SetUint64(1)
	f := newFake(t)
	f.add(
		fakeTx{kind: "0x4", to: fakeContract, input: "0x01", allows: []types.SetCodeAuthorization{forged}},
		fakeTx{kind: "0x4", to: fakeContract, input: "0x01", allows: []types.SetCodeAuthorization{allow(3)}, failed: true},
		fakeTx{kind: "0x4", to: fakeContract, input: "0x01", from: hot.Hex(), nonce: 4,
			allows: []types.SetCodeAuthorization{allow(5)}},
		fakeTx{kind: "0x2", to: fakeContract, input: "0x01",
			allows: []types.SetCodeAuthorization{allow(6)}}, // another type has no authorizations
		fakeTx{kind: "0x4", from: fakeOurs, nonce: 7, to: fakeOutsider, value: "0x5", input: "0x01",
			allows: []types.SetCodeAuthorization{allow(7)}},
		fakeTx{kind: "0x4", from: fakeOurs, nonce: 8, to: fakeOutsider, input: "0x01",
			allows: []types.SetCodeAuthorization{forged}},
	)
	blocks, err := f.open(t, nil).After(t.Context(), f.at(0), 10, chaintest.NewWatch(hot.Hex(), base(fakeOurs)))
	if err != nil {
		t.Fatal(err)
	}
	want := []chain.ExternalSpend{
		{TxID: fakeHash("tx", 1, 1), Base: hot.Hex(), Reservations: []string{hot.Hex() + "/3"}, Failed: true,
			Delegates: true},
		{TxID: fakeHash("tx", 1, 2), Base: hot.Hex(), Reservations: []string{hot.Hex() + "/4", hot.Hex() + "/5"},
			Fee: bursar.Units(fakeFee), Delegates: true},
		{TxID: fakeHash("tx", 1, 4), Base: base(fakeOurs), Reservations: []string{base(fakeOurs) + "/7"},
			Payments: []chain.Payment{paid(fakeOutsider, "", 5)}, Fee: bursar.Units(fakeFee), Delegates: true},
		{TxID: fakeHash("tx", 1, 4), Base: hot.Hex(), Reservations: []string{hot.Hex() + "/7"}, Delegates: true},
		{TxID: fakeHash("tx", 1, 5), Base: base(fakeOurs), Reservations: []string{base(fakeOurs) + "/8"},
			Fee: bursar.Units(fakeFee)},
	}
	if !reflect.DeepEqual(blocks[0].ExternalSpends, want) {
		t.Fatalf("got  %+v\nwant %+v", blocks[0].ExternalSpends, want)
	}
}

// The delivered amount of a token payment is the amount that left the payer according to the token's own events.
func TestDeliveredIsWhatTheEventsSay(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	asked := "0xa9059cbb"
	f.add(
		fakeTx{from: fakeOurs, to: fakeToken, input: asked,
			logs: []object{movedLog(fakeOurs, fakeOutsider, 97), movedLog(fakeOurs, fakeContract, 3)}},
		fakeTx{from: fakeOurs, to: fakeToken, input: asked},
		fakeTx{from: fakeOurs, to: fakeToken, input: asked, failed: true},
		fakeTx{from: fakeOurs, to: fakeOutsider, value: "0x5"},
		fakeTx{from: fakeOurs, to: fakeToken, input: asked,
			logs: []object{movedLog(fakeOutsider, fakeOutsider, 97), movedLog(fakeOutsider, fakeOurs, 97)}},
	)
	watch := fakeWatch()
	for i := range 5 {
		watch.AddSent(fakeHash("tx", 1, i))
	}
	blocks, err := f.open(t, nil).After(t.Context(), f.at(0), 10, watch)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]chain.Payment{{paid(fakeOutsider, fakeToken, 97), paid(fakeContract, fakeToken, 3)}, {}, nil, nil, {}}
	var got [][]chain.Payment
	for _, in := range blocks[0].Included {
		got = append(got, in.Delivered)
	}
	if !slices.EqualFunc(got, want, func(a, b []chain.Payment) bool { return reflect.DeepEqual(a, b) }) {
		t.Fatalf("delivered %+v, want %+v", got, want)
	}
}
