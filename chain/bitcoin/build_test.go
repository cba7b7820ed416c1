package bitcoin

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// fakeRate is the fee rate of the fake node, in satoshi per 1,000 vbytes.
const fakeRate rate = 5000

func utxo(t testing.TB, c *Chain, n int, amount uint64) chain.UTXO {
	t.Helper()
	return chain.UTXO{Outpoint: fmt.Sprintf("%064x:%d", n+1, n), Source: source(t, c, uint32(n%3)),
		Amount: bursar.Units(amount)}
}

// outsider returns an address that is not ours.
func outsider(t testing.TB, c *Chain, n uint32) bursar.Address {
	t.Helper()
	return bursar.Address{Base: source(t, c, 1000+n).Base}
}

func requestOf(t testing.TB, c *Chain, amounts []uint64, values ...uint64) chain.TxRequest {
	t.Helper()
	request := chain.TxRequest{Kind: chain.KindWithdrawal, Change: source(t, c, 500), MaxFee: bursar.Units(1_000_000)}
	for i, amount := range amounts {
		request.Payments = append(request.Payments,
			chain.Payment{Address: outsider(t, c, uint32(i)), Amount: bursar.Units(amount)})
	}
	for i, amount := range values {
		request.UTXOs = append(request.UTXOs, utxo(t, c, i, amount))
	}
	return request
}

func mustBuild(t testing.TB, c *Chain, request chain.TxRequest) (chain.UnsignedTx, chain.Contents) {
	t.Helper()
	built, err := c.Build(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	contents, err := c.Inspect(built.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return built, contents
}

// sizeOf returns the vbytes of n inputs and m outputs, all P2WPKH.
func sizeOf(n, m int) uint64 { return vbytes(n, m, uint64(m)*31) }

func TestBuildFromOneUTXOWithChange(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	request := requestOf(t, c, []uint64{100_000}, 500_000)
	built, contents := mustBuild(t, c, request)
	fee := fakeRate.fee(sizeOf(1, 2))
	want := []chain.Payment{request.Payments[0],
		{Address: bursar.Address{Base: request.Change.Base}, Amount: bursar.Units(400_000 - fee)}}
	if built.Fee != bursar.Units(fee) || contents.Fee != built.Fee || !slices.Equal(contents.Payments, want) ||
		contents.Weight != sizeOf(1, 2) {
		t.Fatalf("the unsigned transaction is %+v, want a fee of %d and %+v", contents, fee, want)
	}
	if !slices.Equal(built.Reservations, []string{request.UTXOs[0].Outpoint}) ||
		contents.Inputs[0].Source != request.UTXOs[0].Source || built.Expires != 0 {
		t.Fatalf("the unsigned transaction is %+v", built)
	}
}

func TestSizesAreThoseOfSignedTransactions(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	for n := 1; n <= 300; n += 23 {
		amounts := slices.Repeat([]uint64{10_000}, n)
		request := requestOf(t, c, []uint64{uint64(n)*10_000 - fakeRate.fee(sizeOf(n, 1))}, amounts...)
		built, contents := mustBuild(t, c, request)
		tx := assemble(t, c, built)
		var signed wire.MsgTx
		if err := signed.Deserialize(bytes.NewReader(tx.Raw)); err != nil {
			t.Fatal(err)
		}
		real := uint64(signed.SerializeSizeStripped()*3+signed.SerializeSize()+3) / 4
		if real > contents.Weight || contents.Weight-real > uint64(n)/2+1 || len(signed.TxIn) != n {
			t.Fatalf("%d inputs have %d vbytes, estimated %d", len(signed.TxIn), real, contents.Weight)
		}
		if len(tx.Raw) == 0 || tx.TxID != signed.TxID() {
			t.Fatalf("transaction %s is %s", tx.TxID, signed.TxID())
		}
	}
}

func assemble(t testing.TB, c *Chain, built chain.UnsignedTx) chain.SignedTx {
	t.Helper()
	contents, err := c.Inspect(built.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var signatures [][]byte
	for _, in := range contents.Inputs {
		signatures = append(signatures, keys.Sign(in.Source.Key, in.Digest))
	}
	tx, err := c.Assemble(built, signatures)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func TestNoDustChange(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	whole, alone := fakeRate.fee(sizeOf(1, 2)), fakeRate.fee(sizeOf(1, 1))
	for rest, change := range map[uint64]bool{whole + 294: true, whole + 293: false, whole: false, alone: false} {
		request := requestOf(t, c, []uint64{50_000}, 50_000+rest)
		built, contents := mustBuild(t, c, request)
		if got := len(contents.Payments) == 2; got != change {
			t.Errorf("%d satoshi over: change %v, want %v", rest, got, change)
		}
		if !change && built.Fee != bursar.Units(rest) {
			t.Errorf("%d satoshi over: the fee is %s", rest, built.Fee)
		}
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	input := fakeRate.fee(68)
	for name, test := range map[string]struct {
		pay    uint64
		values []uint64
		want   []int
	}{
		"two that fit without change": {30_000 + 60_000,
			[]uint64{500_000, 30_000 + input, 60_000 + input + fakeRate.fee(sizeOf(0, 1))}, []int{2, 1}},
		"in the order of preference":            {100_000, []uint64{300_000, 200_000, 900_000}, []int{0}},
		"without unnecessary UTXOs":             {100_000, []uint64{20_000, 300_000}, []int{1}},
		"all of them":                           {250_000, []uint64{90_000, 90_000, 90_000}, []int{0, 1, 2}},
		"none that costs more than it is worth": {100_000, []uint64{input, 1, 300_000}, []int{2}},
	} {
		request := requestOf(t, c, []uint64{test.pay}, test.values...)
		built, _ := mustBuild(t, c, request)
		var want []string
		for _, i := range test.want {
			want = append(want, request.UTXOs[i].Outpoint)
		}
		if !slices.Equal(built.Reservations, want) {
			t.Errorf("%s: reservations are %v, want %v", name, built.Reservations, want)
		}
		again, _ := mustBuild(t, c, request)
		if !reflect.DeepEqual(built, again) {
			t.Errorf("%s: the same request gives another transaction", name)
		}
	}
}

func TestManySmallUTXOsGiveWayToLargeOnes(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	values := append(slices.Repeat([]uint64{2_000}, 3000), 900_000, 950_000)
	request := requestOf(t, c, []uint64{1_700_000}, values...)
	built, _ := mustBuild(t, c, request)
	if len(built.Reservations) != 2 {
		t.Fatalf("%d UTXOs are used, want the two large ones", len(built.Reservations))
	}
	request.Payments[0].Amount = bursar.Units(3_000_000)
	var many *chain.TooManyInputsError
	if _, err := c.Build(t.Context(), request); !errors.As(err, &many) || many.Limit != 500 {
		t.Fatalf("the payment needs more than 500 UTXOs, got error %v", err)
	}
	request.Payments[0].Amount = bursar.Units(30_000_000)
	var needs *chain.NeedsFundsError
	if _, err := c.Build(t.Context(), request); !errors.As(err, &needs) {
		t.Fatalf("the payment exceeds all UTXOs, got error %v", err)
	}
}

// TestMissingIsExact reduces the payments by exactly the missing amount, to the satoshi.
func TestMissingIsExact(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	for n := 1; n < 40; n++ {
		values := slices.Repeat([]uint64{10_001}, n)
		request := requestOf(t, c, []uint64{10_001 * uint64(n)}, values...)
		_, err := c.Build(t.Context(), request)
		var needs *chain.NeedsFundsError
		if !errors.As(err, &needs) {
			t.Fatalf("%d UTXOs pay their whole value without a fee: %v", n, err)
		}
		request.Payments[0].Amount = request.Payments[0].Amount.SubOrZero(needs.Missing)
		built, contents := mustBuild(t, c, request)
		if built.Fee != needs.Missing || len(contents.Payments) != 1 || len(built.Reservations) != n {
			t.Fatalf("%d UTXOs: missing %s, then a fee of %s for %d", n, needs.Missing, built.Fee,
				len(built.Reservations))
		}
	}
}

func TestRequestsThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	for why, change := range map[string]func(o *chain.TxRequest){
		"no payment":        func(o *chain.TxRequest) { o.Payments = nil },
		"too many payments": func(o *chain.TxRequest) { o.Payments = slices.Repeat(o.Payments, 101) },
		"a contract":        func(o *chain.TxRequest) { o.Payments[0].Contract = "x" },
		"a memo":            func(o *chain.TxRequest) { o.Payments[0].Address.HasMemo = true },
		"an address of another network": func(o *chain.TxRequest) {
			o.Payments[0].Address.Base = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"
		},
		"no change address": func(o *chain.TxRequest) { o.Change = chain.Source{} },
		"change to a " +
			"script": func(o *chain.TxRequest) { o.Change.Base = "2N3oefVeg6stiTb5Kh3ozCSkaqmx91FDbsm" },
		"a UTXO twice":                 func(o *chain.TxRequest) { o.UTXOs = append(o.UTXOs, o.UTXOs[0]) },
		"a UTXO of amount zero":        func(o *chain.TxRequest) { o.UTXOs[0].Amount = bursar.Amount{} },
		"more than the maximum supply": func(o *chain.TxRequest) { o.UTXOs[0].Amount = bursar.Units(maxMoney + 1) },
		"a UTXO without index":         func(o *chain.TxRequest) { o.UTXOs[0].Outpoint = strings.Repeat("a", 64) },
		"a UTXO with a leading zero": func(o *chain.TxRequest) {
			o.UTXOs[0].Outpoint = strings.Repeat("a",
				64) + ":01"
		},
		"a UTXO in upper case": func(o *chain.TxRequest) {
			o.UTXOs[0].Outpoint = strings.Repeat("A",
				64) + ":1"
		},
		"a UTXO of another script " +
			"type": func(o *chain.TxRequest) { o.UTXOs[0].Source.Base = "2N3oefVeg6stiTb5Kh3ozCSkaqmx91FDbsm" },
		"a fee over the limit": func(o *chain.TxRequest) { o.MaxFee = bursar.Units(100) },
	} {
		request := requestOf(t, c, []uint64{100_000}, 500_000)
		change(&request)
		var needs *chain.NeedsFundsError
		if built, err := c.Build(t.Context(), request); err == nil || errors.As(err, &needs) {
			t.Errorf("%s: %+v (%v)", why, built, err)
		}
	}
	request := requestOf(t, c, []uint64{293}, 500_000)
	var refused *chain.RefusedError
	if _, err := c.Build(t.Context(), request); !errors.As(err, &refused) || !refused.Below {
		t.Errorf("a payment of dust was built: %v", err)
	}
	request.Payments[0].Amount = bursar.Units(maxMoney + 1)
	if _, err := c.Quote(t.Context(), request.Payments[0]); !errors.As(err, &refused) || refused.Below {
		t.Errorf("more than the maximum supply was quoted: %v", err)
	}
}

// Of many payments, the error names those that no node would relay, so that the others are paid without them.
func TestRefusedPaymentsAreNamed(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	request := requestOf(t, c, []uint64{100_000, 293, 100_000, 1}, 500_000)
	var some *chain.RefusedPaymentsError
	_, err := c.Build(t.Context(), request)
	if !errors.As(err, &some) || !slices.Equal(some.Payments, []int{1, 3}) || !some.Refused.Below {
		t.Fatalf("refused are %+v (%v)", some, err)
	}
	request.Payments = []chain.Payment{request.Payments[0], request.Payments[2]}
	if _, contents := mustBuild(t, c, request); len(contents.Payments) != 3 {
		t.Errorf("without them it pays %+v", contents.Payments)
	}
	request.Payments[1].Address.Base = "nonsense" // a malformed address is not a refusal
	if _, err := c.Build(t.Context(), request); err == nil || errors.As(err, &some) {
		t.Errorf("a malformed address: %v", err)
	}
}

func TestUnconfirmedChangeIsTheLastResortAndPaysForItsParent(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	request := requestOf(t, c, []uint64{100_000}, 500_000, 60_000, 70_000)
	request.UTXOs[0].Unconfirmed = true
	if built, _ := mustBuild(t, c, request); slices.Contains(built.Reservations, request.UTXOs[0].Outpoint) {
		t.Fatalf("reservations are %v", built.Reservations)
	}
	// The parent has 200 vbytes and paid 300: at 5 satoshi per vbyte it pays 700 too little.
	f.say("getmempoolentry", map[string]any{"ancestorsize": 200, "descendantcount": 1,
		"fees": map[string]any{"ancestor": raw("0.00000300")}})
	request.UTXOs = request.UTXOs[:1]
	built, contents := mustBuild(t, c, request)
	if want := bursar.Units(fakeRate.fee(contents.Weight) + 700); built.Fee != want {
		t.Fatalf("fee is %s, want %s", built.Fee, want)
	}
}
