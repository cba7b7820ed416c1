package solana_test

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/solana"
)

// TestRefusedTransactions checks what a node refuses before it sends anything, with its codes and messages.
func TestRefusedTransactions(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{})
	hash, there := latest(t, n, "finalized"), n.NewAddress()
	if _, err := n.Pay(there, sol); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 6)
	limit := func(units uint32) []byte { return binary.LittleEndian.AppendUint32([]byte{2}, units) }
	cases := map[string]struct {
		spend   plan
		options object
		code    int
		message string
		err     string // of the preflight simulation
	}{
		"more than the balance": {plan{from: w, to: there, lamports: 3 * sol, blockhash: hash}, object{}, -32002,
			"Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
			`{"InstructionError":[0,{"Custom":1}]}`},
		"all but not the fee": {plan{from: w, to: there, lamports: 2 * sol, blockhash: hash}, object{}, -32002,
			"custom program error: 0x1",
			`{"InstructionError":[0,{"Custom":1}]}`},
		"too little stays": {plan{from: w, to: there, lamports: 2*sol - 5001, blockhash: hash}, object{}, -32002,
			"Transaction results in an account (0) with insufficient funds for rent",
			`{"InsufficientFundsForRent":{"account_index":0}}`},
		"too little for a new account": {plan{from: w, to: n.NewAddress(), lamports: 890_879, blockhash: hash}, object{},
			-32002,
			"insufficient funds for rent", `{"InsufficientFundsForRent":{"account_index":1}}`},
		"a payer that does not exist": {plan{from: newWallet(9), to: there, lamports: 1, blockhash: hash}, object{}, -32002,
			"Attempt to debit an account but found no record of a prior credit.", `"AccountNotFound"`},
		"an unknown blockhash": {plan{from: w, to: there, lamports: 1, blockhash: n.NewAddress()}, object{}, -32002,
			"Transaction simulation failed: Blockhash not found", `"BlockhashNotFound"`},
		"a blockhash that is not yet final": {plan{from: w, to: there, lamports: 1, blockhash: latest(t, n, "processed")},
			object{}, -32002,
			"Blockhash not found", `"BlockhashNotFound"`},
		"too few units": {plan{from: w, to: there, lamports: 1, blockhash: hash, budget: limit(299)}, object{}, -32002,
			"Error processing Instruction 1: Computational budget exceeded",
			`{"InstructionError":[1,"ComputationalBudgetExceeded"]}`},
		"to a program": {plan{from: w, to: "Vote111111111111111111111111111111111111111", lamports: 1, blockhash: hash},
			object{}, -32002,
			"instruction changed the balance of a read-only account", `{"InstructionError":[0,"ReadonlyLamportChange"]}`},
		"a spoilt signature": {plan{from: w, to: there, lamports: 1, blockhash: hash, spoil: func(raw []byte) {
			raw[9] ^= 1
		}}, object{}, -32003,
			"Transaction signature verification failure", ""},
		"more signers than signatures": {plan{from: w, to: there, lamports: 1, blockhash: hash, spoil: func(raw []byte) {
			raw[65] = 2
		}}, object{}, -32602,
			"failed to sanitize", ""},
		"an unknown commitment": {plan{from: w, to: there, lamports: 1, blockhash: hash},
			object{"preflightCommitment": "soon"}, -32602, "unknown variant", ""},
	}
	for name, test := range cases {
		_, code, message, data := test.spend.send(t, n, test.options)
		if code != test.code || !strings.Contains(message, test.message) {
			t.Errorf("%s: error %d: %s, want %d: %s", name, code, message, test.code, test.message)
		}
		if test.err != "" && text(t, data.(object)["err"]) != test.err {
			t.Errorf("%s: the simulation gave %s, want %s", name, text(t, data), test.err)
		}
	}
	for _, units := range []uint32{300, 1_400_000} {
		if _, code, message, _ := (plan{from: w, to: there, lamports: 1, blockhash: hash, budget: limit(units)}).send(t, n,
			object{}); code != 0 {
			t.Errorf("%d units: error %d: %s, want 0", units, code, message)
		}
	}
}

// TestFailedTransactionsPayTheFee checks that a transaction that is sent without preflight and fails is in a block
// with its error and its fee, and has no other effect.
func TestFailedTransactionsPayTheFee(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{})
	there := n.NewAddress()
	id, code, message, _ := (plan{from: w, to: there, lamports: 100, blockhash: latest(t, n, "finalized"),
		budget: binary.LittleEndian.AppendUint64([]byte{3}, 10_000_000)}).send(t, n, object{"skipPreflight": true})
	if code != 0 {
		t.Fatal(message)
	}
	mine(t, n, 1)
	tx := get(t, n, "getTransaction", id, object{"commitment": "confirmed", "maxSupportedTransactionVersion": 0})
	if tx != nil {
		t.Fatal("a block that is only processed is visible to a ledger method")
	}
	mine(t, n, 1)
	meta := get(t, n, "getTransaction", id,
		object{"commitment": "confirmed", "maxSupportedTransactionVersion": 0}).(object)["meta"].(object)
	// Ten lamports for each of twice 3,000 units that two instructions may use, and 5,000 for the signature.
	if text(t, meta["err"]) != `{"InsufficientFundsForRent":{"account_index":1}}` || text(t, meta["fee"]) != "65000" ||
		text(t, meta["preBalances"]) != "[2000000000,0,1,1]" || text(t, meta["postBalances"]) != "[1999935000,0,1,1]" {
		t.Fatalf("it did %s, want %q and %q and %q and %q", text(t, meta), `{"InsufficientFundsForRent":{"account_index":1}}`,
			"65000", "[2000000000,0,1,1]", "[1999935000,0,1,1]")
	}
}

func TestBlockhashesExpire(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{})
	there := n.NewAddress()
	hash := latest(t, n, "processed")
	late := plan{from: w, to: there, lamports: sol, blockhash: hash}
	mine(t, n, 150)
	if valid := get(t, n, "isBlockhashValid", hash, object{"commitment": "processed"}).(object)["value"]; valid != true {
		t.Fatal("after 150 blocks it is not valid")
	}
	id, code, message, _ := late.send(t, n, object{"preflightCommitment": "processed"})
	if code != 0 {
		t.Fatal(message)
	}
	mine(t, n, 1) // the 151st block cannot include it
	if valid := get(t, n, "isBlockhashValid", hash, object{"commitment": "processed"}).(object)["value"]; valid != false {
		t.Fatal("after 151 blocks it is still valid")
	}
	mine(t, n, 5)
	if status := get(t, n, "getSignatureStatuses", []string{id},
		object{"searchTransactionHistory": true}).(object)["value"].([]any)[0]; status != nil {
		t.Fatalf("the expired transaction is in a block: %v, want nil", status)
	}
	if held, err := n.Balance(there); err != nil || held != 0 {
		t.Fatalf("%d, %v, want 0", held, err)
	}
}

// TestCommitmentAndSlots checks that commitment levels trail each other, that slots are skipped, and that parents
// show it.
func TestCommitmentAndSlots(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{FinalityDepth: 10})
	mine(t, n, 60)
	slots := map[string]json.Number{}
	for _, level := range []string{"processed", "confirmed", "finalized"} {
		slots[level] = get(t, n, "getSlot", object{"commitment": level}).(json.Number)
	}
	listed := get(t, n, "getBlocks", 0, nil, object{"commitment": "confirmed"}).([]any)
	if len(listed) != 66 || listed[65] != slots["confirmed"] || slots["processed"] == slots["confirmed"] {
		t.Fatalf("%d blocks up to %v, slots %v", len(listed), listed[len(listed)-1], slots)
	}
	if final := get(t, n, "getBlocksWithLimit", 0, 1000).([]any); len(final) != 57 || final[56] != slots["finalized"] {
		t.Fatalf("%d final blocks, slots %v, want 57 of them and %v", len(final), slots, slots["finalized"])
	}
	if none := get(t, n, "getBlocksWithLimit", slots["processed"], 5).([]any); len(none) != 0 {
		t.Fatalf("the newest block is final: %v, want none", none)
	}
	parent, parentHash, skippedSlots := json.Number("0"), strings.Repeat("1", 32), 0
	for i, slot := range listed {
		b := get(t, n, "getBlock", slot, object{"commitment": "confirmed", "transactionDetails": "signatures",
			"maxSupportedTransactionVersion": 0}).(object)
		if b["parentSlot"] != parent || b["previousBlockhash"] != parentHash || text(t, b["blockHeight"]) != text(t, i) {
			t.Fatalf("block %v is %v, the one before %s at %s", slot, b, parentHash, parent)
		}
		before, _ := parent.Int64()
		now, _ := slot.(json.Number).Int64()
		skippedSlots += int(max(0, now-before-1))
		parent, parentHash = slot.(json.Number), b["blockhash"].(string)
	}
	if skippedSlots < 5 {
		t.Fatalf("%d slots are skipped, want at least 5", skippedSlots)
	}
	for slot, want := range map[int]int{5: -32007, 1000: -32004} {
		if _, code, _, _ := call(t, n, "getBlock", slot); code != want {
			t.Fatalf("slot %d: error %d, want %d", slot, code, want)
		}
	}
	for _, method := range []string{"getBlock", "getBlocks"} {
		if _, code, message, _ := call(t, n, method, 1, object{"commitment": "processed"}); code != -32602 ||
			!strings.Contains(message, "below `confirmed`") {
			t.Fatalf("%s of processed blocks: %d %s, want %v and %q in it", method, code, message, -32602, "below `confirmed`")
		}
	}
	if _, code, _, _ := call(t, n, "getBalance", w.address(), object{"minContextSlot": 100_000}); code != -32016 {
		t.Fatalf("a slot of the future: error %d, want %v", code, -32016)
	}
	if _, code, _, _ := call(t, n, "getNothing"); code != -32601 {
		t.Fatalf("an unknown method: error %d", code)
	}
}

// TestVersionsAreAskedFor checks that a transaction of version 0 is shown only to a client that asks for its version.
func TestVersionsAreAskedFor(t *testing.T) {
	t.Parallel()
	n, _ := funded(t, solana.Config{})
	there := n.NewAddress()
	id, err := n.PayByTable([]solana.Output{{Address: there, Lamports: sol}, {Address: n.NewAddress(), Lamports: sol}})
	if err != nil {
		t.Fatal(err)
	}
	mine(t, n, 6)
	if _, code, _, _ := call(t, n, "getTransaction", id); code != -32015 {
		t.Fatalf("without a version: error %d", code)
	}
	tx := get(t, n, "getTransaction", id, object{"maxSupportedTransactionVersion": 0}).(object)
	slot := tx["slot"]
	if _, code, _, _ := call(t, n, "getBlock", slot); code != -32015 {
		t.Fatalf("its block without a version: error %d", code)
	}
	loaded := tx["meta"].(object)["loadedAddresses"].(object)["writable"].([]any)
	keys := tx["transaction"].(object)["message"].(object)["accountKeys"].([]any)
	if len(loaded) != 2 || loaded[0] != there || slices.Contains(keys, any(there)) {
		t.Fatalf("loaded are %v, its own keys %v", loaded, keys)
	}
}
