package sim

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// The holders without an address.
const (
	faucet = "faucet"   // the source of outsiders' money; it starts with the whole supply
	miner  = "miner"    // collects the fees
	flight = "(flight)" // the sum of a transaction's inputs until its outputs take it; empty between transactions
)

// ledger is the state of the chain at its newest block. Every change can be undone.
type ledger struct {
	balances map[holding]bursar.Amount
	utxos    map[string]utxo   // unspent, by outpoint
	nonces   map[string]uint64 // the next one, by base
	closed   map[string]bool   // bases to which every payment fails
	tokens   map[string]*token // by contract
	supply   bursar.Amount     // of each asset
}

type holding struct{ contract, base string }

type utxo struct {
	base   string
	amount bursar.Amount
	from   uint64 // the height from which it may be spent
}

// move is value that moves from one holder to another.
type move struct {
	contract, from, to string
	amount             bursar.Amount
}

// entry is a transaction in a block with its effects.
type entry struct {
	tx     *transaction
	failed bool
	fee    bursar.Amount
	moves  []move
	spent  []utxo
	// delivered is how much each payment's receiver got; nil for an entry that is forged or failed.
	delivered []bursar.Amount
}

// errWaits says that a transaction cannot be included in the next block; it may be possible later.
var errWaits = errors.New("the transaction cannot be included now")

func newLedger() ledger {
	return ledger{
		balances: map[holding]bursar.Amount{}, utxos: map[string]utxo{}, nonces: map[string]uint64{},
		closed: map[string]bool{}, tokens: map[string]*token{}, supply: must(bursar.Units(1e18).Mul(1e12)),
	}
}

func (l *ledger) balance(h holding) bursar.Amount {
	if amount, known := l.balances[h]; known || h.base != faucet {
		return amount
	}
	return l.supply
}

func (l *ledger) move(m move) {
	from, to := holding{m.contract, m.from}, holding{m.contract, m.to}
	l.balances[from] = must(l.balance(from).Sub(m.amount))
	l.balances[to] = must(l.balance(to).Add(m.amount))
}

// include applies a transaction to the block at a height, whose fee rate is rate.
func (l *ledger) include(tx *transaction, height, rate uint64) (*entry, error) {
	if tx.expires != 0 && height > tx.expires {
		return nil, fmt.Errorf("%w: the transaction expired at %d", errWaits, tx.expires)
	}
	var e *entry
	var err error
	switch {
	case tx.outside:
		e = l.fromOutside(tx)
	case len(tx.inputs) > 0:
		e, err = l.useUTXOs(tx, height, rate)
	default:
		e, err = l.useNonce(tx, rate)
	}
	if err != nil {
		return nil, err
	}
	for _, m := range e.moves {
		l.move(m)
	}
	if tx.makesUTXOs && !e.failed {
		for i, payment := range tx.payments {
			l.utxos[tx.output(i)] = utxo{base: payment.Address.Base, amount: payment.Amount, from: height + tx.maturity}
		}
	}
	return e, nil
}

// fromOutside applies a payment of outsiders, or a token issuer's seizure.
func (l *ledger) fromOutside(tx *transaction) *entry {
	e := &entry{tx: tx, failed: tx.fails}
	if tx.seizes.base != "" {
		e.moves = []move{{tx.seizes.contract, tx.seizes.base, issuer, l.balance(tx.seizes)}}
		return e
	}
	for _, payment := range tx.payments {
		e.failed = e.failed || l.stops(payment.Contract, faucet, payment.Address.Base)
	}
	l.pay(e, faucet)
	return e
}

func (l *ledger) useUTXOs(tx *transaction, height, rate uint64) (*entry, error) {
	if tx.fee.Less(cost(tx.weight, rate)) {
		return nil, fmt.Errorf("%w: fee %s is too low", errWaits, tx.fee)
	}
	e := &entry{tx: tx, fee: tx.fee}
	for _, in := range tx.inputs {
		unspent, known := l.utxos[in.Resource]
		if !known || unspent.from > height {
			return nil, fmt.Errorf("%w: the UTXO %s cannot be spent", errWaits, in.Resource)
		}
		e.spent = append(e.spent, unspent)
		e.moves = append(e.moves, move{"", unspent.base, flight, unspent.amount})
	}
	for _, in := range tx.inputs {
		delete(l.utxos, in.Resource)
	}
	l.pay(e, flight)
	e.moves = append(e.moves, move{"", flight, miner, tx.fee})
	return e, nil
}

func (l *ledger) useNonce(tx *transaction, rate uint64) (*entry, error) {
	fee := cost(tx.weight, rate)
	own := l.balance(holding{"", tx.payer})
	if !tx.unnumbered && tx.nonce != l.nonces[tx.payer] || tx.fee.Less(fee) || own.Less(must(tx.total("").Add(fee))) {
		return nil, fmt.Errorf("%w: nonce, price or funds", errWaits)
	}
	e := &entry{tx: tx, failed: tx.fails, fee: fee, moves: []move{{"", tx.payer, miner, fee}}}
	for _, payment := range tx.payments {
		short := payment.Contract != "" && l.balance(holding{payment.Contract, tx.payer}).Less(tx.total(payment.Contract))
		e.failed = e.failed || short || l.closed[payment.Address.Base] ||
			l.stops(payment.Contract, tx.payer, payment.Address.Base)
	}
	l.pay(e, tx.payer)
	if !tx.unnumbered {
		l.nonces[tx.payer]++
	}
	return e, nil
}

// undo reverts include; entries must be undone from the newest to the oldest.
func (l *ledger) undo(e *entry) {
	if e.tx.makesUTXOs && !e.failed {
		for i := range e.tx.payments {
			delete(l.utxos, e.tx.output(i))
		}
	}
	for i := len(e.moves) - 1; i >= 0; i-- {
		m := e.moves[i]
		l.move(move{m.contract, m.to, m.from, m.amount})
	}
	for i, unspent := range e.spent {
		l.utxos[e.tx.inputs[i].Resource] = unspent
	}
	if e.tx.numbered() && !e.tx.unnumbered {
		l.nonces[e.tx.payer] = e.tx.nonce
	}
}

func cost(weight, rate uint64) bursar.Amount { return must(bursar.Units(weight).Mul(rate)) }

// must returns a sum that the supply bounds, and panics on an error.
func must(amount bursar.Amount, err error) bursar.Amount {
	if err != nil {
		panic("sim: " + err.Error())
	}
	return amount
}

// transaction is a transaction in the mempool and in blocks; it never changes.
type transaction struct {
	id         string
	raw        []byte // what the id is the hash of, where the transaction makes UTXOs
	resources  []string
	inputs     []input // on the UTXO model
	payer      string  // on the account model
	nonce      uint64
	payments   []chain.Payment
	weight     uint64
	fee        bursar.Amount // the fee on the UTXO model, the highest fee on the account model
	expires    uint64
	makesUTXOs bool
	outside    bool // an outsider's: without a fee, and without inputs unless it was double-spent
	unnumbered bool // on the account model, without a nonce
	seizes     holding
	fails      bool
	delegates  bool
	inferred   bool
	maturity   uint64
}

func (tx *transaction) numbered() bool { return tx.payer != "" }

// withReservations sets the outpoints or the nonce that the transaction uses up.
func (tx *transaction) withReservations() *transaction {
	switch {
	case tx.unnumbered:
		tx.resources = []string{"tx/" + tx.id}
	case tx.numbered():
		tx.resources = []string{nonceReservation(tx.payer, tx.nonce)}
	}
	for _, in := range tx.inputs {
		tx.resources = append(tx.resources, in.Resource)
	}
	return tx
}

func (tx *transaction) output(i int) string { return fmt.Sprintf("%s:%d", tx.id, i) }

// outputs returns the outpoints that a transaction creates.
func (tx *transaction) outputs() []string {
	if !tx.makesUTXOs {
		return nil
	}
	names := make([]string, len(tx.payments))
	for i := range names {
		names[i] = tx.output(i)
	}
	return names
}

// payers returns the bases that a transaction spends from, each once.
func (tx *transaction) payers() []string {
	if tx.numbered() {
		return []string{tx.payer}
	}
	var bases []string
	seen := map[string]bool{}
	for _, in := range tx.inputs {
		if !seen[in.Source.Base] {
			seen[in.Source.Base] = true
			bases = append(bases, in.Source.Base)
		}
	}
	return bases
}

func (tx *transaction) total(contract string) bursar.Amount { return total(tx.payments, contract) }

func total(payments []chain.Payment, contract string) bursar.Amount {
	var sum bursar.Amount
	for _, payment := range payments {
		if payment.Contract == contract {
			sum = must(sum.Add(payment.Amount))
		}
	}
	return sum
}

func nonceReservation(base string, nonce uint64) string { return fmt.Sprintf("%s/%d", base, nonce) }
