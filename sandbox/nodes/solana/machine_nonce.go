package solana

import "bytes"

// exchange is what two values of nonces are taken for in LiteSVM 1.5, each for the other: the one that a nonce takes
// now, and the one that it takes there, which has no newest blockhash but the transaction's.
type exchange struct{ ours, theirs key }

func exchangeFor(t *transaction, on ground) exchange {
	return exchange{durable(on.last), durable(t.blockhash)}
}

// of returns an account with the other value in place of one of them.
func (x exchange) of(a account) account {
	n, is := nonceIn(a.data)
	if !is || !n.ready || a.owner != systemProgram() || x.ours == x.theirs {
		return a
	}
	var other key
	switch n.value {
	case x.ours:
		other = x.theirs
	case x.theirs:
		other = x.ours
	default:
		return a
	}
	data := bytes.Clone(a.data)
	copy(data[40:], other[:])
	a.data = data
	return a
}
