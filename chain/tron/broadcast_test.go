package tron

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

// signed builds and signs a payment of ours.
func signed(t testing.TB, f *fake, c *Chain) (chain.UnsignedTx, chain.SignedTx) {
	t.Helper()
	keys := chaintest.Keys{Curve: chain.Secp256k1}
	source, err := c.Address(keys.Public(chain.Hot(chain.FamilyTron)), 0)
	if err != nil {
		t.Fatal(err)
	}
	f.give(addressFrom(t, source.Base), 100_000_000, 0)
	request := requestOf(chain.KindWithdrawal, fakeOther, 5)
	request.From.Base = source.Base
	unsigned, err := c.Build(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	contents, err := c.Inspect(unsigned.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := c.Assemble(unsigned, [][]byte{keys.Sign(chain.Hot(chain.FamilyTron), contents.Inputs[0].Digest)})
	if err != nil {
		t.Fatal(err)
	}
	return unsigned, tx
}

// TestBroadcastVerdicts: only transactions that no node can ever accept are rejected. The others may still be included
// until they expire.
func TestBroadcastVerdicts(t *testing.T) {
	t.Parallel()
	refusal := func(code string) object { return object{"result": false, "code": code, "message": "words"} }
	cases := map[string]struct {
		answer   object
		mined    bool // the node has it in a block
		sent     bool
		rejected bool
	}{
		"accepted":                          {answer: object{"result": true, "code": "SUCCESS"}, sent: true},
		"known":                             {answer: refusal("DUP_TRANSACTION_ERROR"), sent: true},
		"bad signature":                     {answer: refusal("SIGERROR"), rejected: true},
		"too big":                           {answer: refusal("TOO_BIG_TRANSACTION_ERROR"), rejected: true},
		"expired":                           {answer: refusal("TRANSACTION_EXPIRATION_ERROR")},
		"expired after inclusion":           {answer: refusal("TRANSACTION_EXPIRATION_ERROR"), mined: true, sent: true},
		"too little TRX":                    {answer: refusal("CONTRACT_VALIDATE_ERROR")},
		"too little TRX, since it was paid": {answer: refusal("CONTRACT_VALIDATE_ERROR"), mined: true, sent: true},
		"no bandwidth":                      {answer: refusal("BANDWITH_ERROR")},
		"another branch":                    {answer: refusal("TAPOS_ERROR")},
		"busy":                              {answer: refusal("SERVER_BUSY")},
		"lonely":                            {answer: refusal("NO_CONNECTION")},
		"few peers":                         {answer: refusal("NOT_ENOUGH_EFFECTIVE_CONNECTION")},
		"unsolidified":                      {answer: refusal("BLOCK_UNSOLIDIFIED")},
		"other":                             {answer: refusal("OTHER_ERROR")},
		"an unknown code":                   {answer: refusal("SOMETHING_NEW")},
		"an error":                          {answer: object{"Error": "class java.lang.NullPointerException : null"}},
		"nothing":                           {answer: object{}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := paying(t, 0, 0)
			c := f.open(t, nil)
			_, tx := signed(t, f, c)
			f.script["broadcasthex"] = constant(test.answer)
			if test.mined {
				b := f.add(fakeTx{to: fakeOther, sun: 5})
				b.tx(0)["txID"], b.info(0)["id"] = tx.TxID, tx.TxID
			}
			err := c.Broadcast(t.Context(), tx)
			if (err == nil) != test.sent || errors.Is(err, chain.ErrRejected) != test.rejected ||
				errors.Is(err, chain.ErrUnderpriced) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestBroadcastChecksTheBytes(t *testing.T) {
	t.Parallel()
	f := paying(t, 0, 0)
	c := f.open(t, nil)
	_, tx := signed(t, f, c)
	f.script["broadcasthex"] = constant(object{"result": true, "txid": fakeHash("other")})
	if err := c.Broadcast(t.Context(), tx); !errors.Is(err, errOtherID) {
		t.Fatalf("another id: %v, want %v", err, errOtherID)
	}
	other := chain.SignedTx{TxID: fakeHash("other"), Raw: tx.Raw}
	if err := c.Broadcast(t.Context(), other); !errors.Is(err, chain.ErrRejected) || f.asked["wallet/broadcasthex"] != 1 {
		t.Fatalf("other bytes: %v, want %v and 1", err, chain.ErrRejected)
	}
}

// TestExpired: the solidified chain's clock decides, and only if none of its blocks contains the transaction.
func TestExpired(t *testing.T) {
	t.Parallel()
	at := func(height int) uint64 { return uint64(fakeTime(height)) }
	cases := map[string]struct {
		expires uint64
		prepare func(f *fake, id string)
		want    bool
		fails   bool
	}{
		"past":                        {expires: at(3), want: true},
		"to the millisecond":          {expires: at(4)},
		"just past":                   {expires: at(4) - 1, want: true},
		"past for the head":           {expires: at(5)},
		"in a block":                  {expires: at(1), prepare: func(f *fake, id string) { setID(f.blocks[2], id) }},
		"in a recent block":           {expires: at(1), prepare: func(f *fake, id string) { setID(f.blocks[6], id) }},
		"in a block without a result": {expires: at(1), prepare: func(f *fake, id string) { f.blocks[2].tx(0)["txID"] = id }},
		"in the last possible block":  {expires: at(3), prepare: func(f *fake, id string) { f.blocks[4].tx(0)["txID"] = id }},
		"another branch": {expires: at(3), fails: true, prepare: func(f *fake, _ string) {
			f.blocks[1].block["blockID"] = fakeID(1)[:16] + fakeHash("x")[:48]
		}},
		"unlinked blocks": {expires: at(3), fails: true, prepare: func(f *fake, _ string) {
			f.blocks[3].raw()["parentHash"] = fakeID(2)[:60] + "0000"
		}},
		"half a block": {expires: at(3), fails: true, prepare: func(f *fake, _ string) {
			delete(f.blocks[3].block, "transactions")
		}},
		"a block missing": {expires: at(3), fails: true, prepare: func(f *fake, _ string) {
			f.script["walletsolidity/getblockbynum"] = constant(object{})
		}},
		"an error": {expires: at(3), fails: true, prepare: func(f *fake, _ string) {
			f.script["gettransactioninfobyid"] = constant(object{"Error": "class X"})
		}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for range 6 {
				f.add(fakeTx{to: fakeOutsider, sun: 1})
			}
			f.solid = 4
			p := soundPayloads()[0]
			p.Expiration = test.expires
			p.RefBytes, p.RefHash = [2]byte{0, 1}, [8]byte(unhex(t, fakeID(1))[8:16])
			id := hash(sha256.Sum256(p.encode())).String()
			if test.prepare != nil {
				test.prepare(f, id)
			}
			unsigned := chain.UnsignedTx{Bytes: envelopeOf(t, p), Expires: p.Expiration}
			got, err := f.open(t, nil).Expired(t.Context(), unsigned, id)
			if (err != nil) != test.fails || got != test.want {
				t.Fatalf("got %v, %v, want %v and %v", got, err, test.fails, test.want)
			}
		})
	}
}

func setID(b *fakeBlock, id string) { b.tx(0)["txID"], b.info(0)["id"] = id, id }
